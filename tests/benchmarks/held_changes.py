"""Held changes of all kinds, with the feedback and the candidate that each came from."""

from __future__ import annotations

import asyncio
import random

from core.app.program import App
from core.domain.models import (
    Agent,
    AgentFeedback,
    Candidate,
    ChangeRequest,
    FeedbackStatus,
    Fence,
    InputColumn,
    LearningCandidate,
    MemoryRequest,
    Operation,
    Outcome,
    OutputColumn,
    Relationship,
    RowEdit,
    RuleDraft,
    RuleRequest,
    SkillArtifact,
    SkillRequest,
    SubmitContext,
    Verdict,
    VerdictStatus,
)
from tests.benchmarks.world import AGENT, TENANT, pieces

_APART = {"relationship": Relationship.UNRELATED, "reason": "다른 고객의 일이다"}


AGENTS = 20


async def hold_changes(app: App, count: int) -> None:
    """Store `count` pieces that each have one held change: 6 memories, 3 rules, 1 skill of ten.

    They belong to 20 agents, each of which knew nothing when they were prepared.
    """
    for number in range(AGENTS):
        await app.stores.agents.save(
            Agent(id=_agent(number), tenant_id=TENANT, name=f"Clerk {number}")
        )
    new = [
        piece.model_copy(update={"agent_ids": (_agent(number),)})
        for number, piece in enumerate(pieces(count))
    ]
    ids = [feedback_id for feedback_id, _ in await app.stores.inbox.add("bench", new)]
    for start in range(0, count, 8):
        batch = ids[start : start + 8]
        await asyncio.gather(*(_held(app, id_, start + n) for n, id_ in enumerate(batch)))


def _agent(number: int) -> str:
    return f"{AGENT}-{number // 10 % AGENTS}"


async def _held(app: App, feedback_id: str, number: int) -> None:
    claimed = await app.stores.inbox.claim(feedback_id)
    assert claimed is not None
    content = LearningCandidate(content=claimed.content)
    part = AgentFeedback(agent_id=_agent(number), agent_name="Bench", learning_candidate=content)
    (candidate,) = await app.stores.runs.save_candidates(claimed, [part])
    candidate = await app.stores.runs.start(candidate, claimed.generation)
    receipt = await app.gate.submit(_request(number), _behalf(candidate, claimed.content))
    assert receipt.status == "held", receipt
    verdict = Verdict(status=VerdictStatus.HELD, receipts=(receipt,))
    await app.stores.runs.finish(candidate, verdict)
    await app.stores.inbox.finish(claimed, Outcome(status=FeedbackStatus.HELD))


def _behalf(candidate: Candidate, content: str) -> SubmitContext:
    return SubmitContext(
        key=f"{candidate.thread}:1:0",
        tenant_id=TENANT,
        agent_id=candidate.agent_id,
        feedback_id=candidate.feedback_id,
        feedback_content=content,
        candidate_content=content,
        fence=Fence(candidate_id=candidate.id, epoch=candidate.epoch),
    )


def _request(number: int) -> ChangeRequest:
    place = number % 10
    if place < 6:
        text = f"고객 {number}번은 금액을 소수점 없이 원화로 받는다 (계약 {number * 7919})."
        return MemoryRequest(operation=Operation.CREATE, content=text, **_APART)
    return _rule(number) if place < 9 else _skill(number)


def _words(number: int, count: int) -> list[str]:
    """Return invented words that are unique to a number, so that no two items are similar."""
    chance = random.Random(number)
    return ["".join(chr(chance.randrange(0xAC00, 0xD7A4)) for _ in range(3)) for _ in range(count)]


def _rule(number: int) -> RuleRequest:
    name, given, made, *notes = _words(number, 11)
    rows = tuple(
        RowEdit(
            inputs={given: f"[{step * 1000 + number}..{(step + 1) * 1000 + number})"},
            outputs={made: f'"{note}"'},
            annotation=f"{name} {step}번째 구간은 {note}",
        )
        for step, note in enumerate(notes)
    )
    draft = RuleDraft(
        name=f"{name} {number}",
        inputs=(InputColumn(name=given, type="number"),),
        outputs=(OutputColumn(name=made, type="string"),),
        rows=rows,
    )
    return RuleRequest(operation=Operation.CREATE, rule=draft, **_APART)


def _skill(number: int) -> SkillRequest:
    words = _words(number, 40)
    steps = "\n".join(f"{n}. {word}의 {n}번째 항목을 확인한다." for n, word in enumerate(words, 1))
    artifact = SkillArtifact(
        name=f"skill-{number * 7919:x}",
        description=f"{' '.join(words[:8])}에 쓴다.",
        body_markdown=f"# {words[0]}\n\n{steps}\n\n자세한 것은 references/cases.md를 본다.\n",
        additional_files={
            "references/cases.md": "\n".join(f"- {word}" for word in words * 2),
            "scripts/check.py": "print('ok')\n" * 30,
        },
    )
    return SkillRequest(
        operation=Operation.CREATE, artifact=artifact, target_id=artifact.name, **_APART
    )

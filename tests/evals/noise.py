"""Stories about noise: what users say, and whether anything is learnt from it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import JsonValue, TypeAdapter

from core.app.program import App
from core.domain.models import (
    Agent,
    FeedbackStatus,
    HistoryFilter,
    MemoryRequest,
    NewFeedback,
    Operation,
    ReceiptStatus,
    SubmitContext,
)
from core.domain.models.base import Model

NOTHING = ("noise", "one_off", "unclear", "duplicate")
LEARNT = ("MEMORY", "DMN_RULE", "SKILL")


class Story(Model):
    """What one user says to one agent, and how it ends."""

    says: str
    ends: str
    known: tuple[str, ...] = ()
    events: tuple[JsonValue, ...] = ()


@dataclass(frozen=True)
class Told:
    """How a story ended, its feedback's status, the reason, and what the agent knows after it."""

    story: Story
    ended: str
    status: FeedbackStatus
    reason: str
    knows: tuple[str, ...]
    changes: int


def stories() -> list[Story]:
    """Read the stories."""
    text = Path(__file__).with_name("noise_stories.yaml").read_text(encoding="utf-8")
    return TypeAdapter(list[Story]).validate_python(yaml.safe_load(text))


async def tell(app: App, told: Sequence[Story], concurrency: int = 4) -> list[Told]:
    """Tell each story to an agent of its own, in a tenant of its own, and work all off."""
    pieces = [await _piece(app, number, story) for number, story in enumerate(told)]
    stored = await app.stores.inbox.add("noise", pieces)
    await app.run(True, concurrency, asyncio.Event(), lambda _: None)
    return [
        await _ended(app, story, piece, feedback_id)
        for story, piece, (feedback_id, _) in zip(told, pieces, stored, strict=True)
    ]


def confusion(told: Sequence[Told]) -> str:
    """Return a table: a row per expected end, a column per actual one."""
    ends = [end for end in (*NOTHING, *LEARNT, "failed") if any(end in _pair(t) for t in told)]
    counts = Counter(_pair(t) for t in told)
    head = "expected".ljust(10) + "".join(end.rjust(10) for end in ends)
    rows = [
        row.ljust(10) + "".join(str(counts[row, end] or ".").rjust(10) for end in ends)
        for row in ends
        if any(t.story.ends == row for t in told)
    ]
    right = sum(t.story.ends == t.ended for t in told)
    return "\n".join([head, *rows, f"{right} of {len(told)} ended as expected"])


def _pair(told: Told) -> tuple[str, str]:
    return told.story.ends, told.ended


async def _piece(app: App, number: int, story: Story) -> NewFeedback:
    tenant_id, agent_id = f"tenant-{number}", f"agent-{number}"
    await app.stores.agents.save(
        Agent(id=agent_id, tenant_id=tenant_id, name=f"Assistant {number}")
    )
    for place, content in enumerate(story.known):
        context = SubmitContext(
            key=f"noise:{number}:{place}", tenant_id=tenant_id, agent_id=agent_id
        )
        await app.gate.submit(MemoryRequest(operation=Operation.CREATE, content=content), context)
    return NewFeedback(
        tenant_id=tenant_id, agent_ids=(agent_id,), content=story.says, events=story.events
    )


async def _ended(app: App, story: Story, piece: NewFeedback, feedback_id: str) -> Told:
    feedback = await app.stores.inbox.get(feedback_id)
    (candidate,) = await app.stores.runs.candidates(feedback_id)
    receipts = candidate.verdict.receipts if candidate.verdict else ()
    done = [receipt for receipt in receipts if receipt.status.is_outcome]
    called_off = [r.category for r in done if r.status is ReceiptStatus.NO_ACTION]
    items = await app.stores.knowledge.list(tenant_id=piece.tenant_id, agent_id=None, kind=None)
    history, _ = await app.stores.reader.history(
        HistoryFilter(feedback_id=feedback_id), limit=9, cursor=None
    )
    ended = called_off[0] if called_off else str(done[0].kind) if done else "failed"
    return Told(
        story=story,
        ended=ended or "failed",
        status=feedback.status,
        reason=candidate.verdict.reason if candidate.verdict else feedback.error or "",
        knows=tuple(sorted(item.content for item in items)),
        changes=len(history),
    )

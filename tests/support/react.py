"""A bench for ReAct runs: fakes behind every port, one candidate, and one call to run it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from langgraph.checkpoint.memory import InMemorySaver

from core.agent.loop.deps import Denies, ReactDeps
from core.domain.models import (
    Agent,
    Candidate,
    Change,
    ChangeStatus,
    EarlierPiece,
    Feedback,
    Hit,
    Kind,
    Operation,
    Snapshot,
    Verdict,
)
from core.domain.ports import Conversations, NoConversations
from core.react_agent import process_feedback_with_react
from core.testing.changes import MemoryChangeLog
from core.testing.gate import FakeGate
from core.testing.knowledge import MemoryKnowledge
from core.testing.scripted_model import ScriptedChatModel, Turn
from core.testing.skill_store import MemorySkillStore
from core.testing.stores import MemoryJournal, MemoryReplies, MemoryRuns
from tests.support.breaker import SimpleBreaker

FEEDBACK = Feedback(
    id="f1",
    source="test",
    source_id="1",
    tenant_id="t1",
    agent_ids=("a1",),
    task="월말 보고서",
    content="김 부장님은 금액을 원 단위로 원합니다",
    author="kim",
)
AGENT = Agent(id="a1", tenant_id="t1", name="보고서", role="reporter", skills=("month-end",))
CANDIDATE = Candidate(
    id="c1",
    feedback_id="f1",
    agent_id="a1",
    agent_name="보고서",
    position=0,
    content=FEEDBACK.content,
    epoch=2,  # as if it had been started before
)
MEMORY = {"content": "김 부장님: 원 단위", "operation": "CREATE", "reason": "선호"}


class FixedSearch:
    """Answers every query with the same hits; `asked` has tenant, agent, kind and limit of each."""

    def __init__(self, hits: Sequence[Hit] = ()) -> None:
        self.hits = list(hits)
        self.asked: list[tuple[str, str | None, Kind | None, int]] = []

    async def search(
        self,
        query: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        kind: Kind | None,
        limit: int,
        user: str | None = None,
    ) -> Sequence[Hit]:
        self.asked.append((tenant_id, agent_id, kind, limit))
        return [hit for hit in self.hits if kind in {None, hit.kind}][:limit]

    async def refresh(self, tenant_id: str) -> None:
        return None


class Told:
    """A conversation as it is given; `asked` has the limit of each call."""

    def __init__(self, *pieces: EarlierPiece) -> None:
        self.pieces = pieces
        self.asked: list[int] = []

    async def before(self, feedback: Feedback, limit: int) -> Sequence[EarlierPiece]:
        self.asked.append(limit)
        return self.pieces


def item_change(kind: Kind, item_id: str, name: str, content: str) -> Change:
    """Return the applied change that brings an item into the world."""
    return Change(
        id=f"made-{item_id}",
        key=f"made:{item_id}",
        digest="",
        tenant_id=AGENT.tenant_id,
        agent_id=AGENT.id,
        kind=kind,
        target_id=item_id,
        target_name=name,
        operation=Operation.CREATE,
        before=None,
        after=Snapshot(content=content, name=name),
        base_hash="",
        status=ChangeStatus.APPLIED,
        candidate_id=CANDIDATE.id,
    )


@dataclass
class Bench:
    """One candidate on a scripted model; `run` may be called again, as after a crash."""

    script: Sequence[Turn]
    gate: FakeGate = field(default_factory=FakeGate)
    search: FixedSearch = field(default_factory=FixedSearch)
    skills: MemorySkillStore = field(default_factory=MemorySkillStore)
    replies: MemoryReplies = field(default_factory=MemoryReplies)
    journal: MemoryJournal = field(default_factory=MemoryJournal)
    saver: InMemorySaver = field(default_factory=InMemorySaver)
    knowledge: MemoryKnowledge = field(default_factory=MemoryKnowledge)
    max_iterations: int = 50
    candidate: Candidate = CANDIDATE
    feedback: Feedback = FEEDBACK
    conversations: Conversations = field(default_factory=NoConversations)
    zone: tzinfo = UTC
    denies: Denies = lambda *_: None

    def __post_init__(self) -> None:
        self.model = ScriptedChatModel(self.script)
        self.breaker = SimpleBreaker()
        self.log = MemoryChangeLog(self.knowledge)
        self.runs = MemoryRuns(log=self.log)
        self.runs.stored[self.candidate.id] = self.candidate

    @property
    def deps(self) -> ReactDeps:
        return ReactDeps(
            model=self.model,
            breaker=self.breaker,
            gate=self.gate,
            search=self.search,
            knowledge=self.knowledge,
            skills=self.skills,
            runs=self.runs,
            replies=self.replies,
            journal=self.journal,
            saver_factory=lambda: self.saver,
            max_iterations=self.max_iterations,
            conversations=self.conversations,
            zone=self.zone,
            denies=self.denies,
        )

    async def run(self) -> Verdict:
        return await process_feedback_with_react(
            AGENT.id,
            self.feedback.content,
            candidate=self.candidate,
            feedback=self.feedback,
            agent=AGENT,
            deps=self.deps,
        )

    @property
    def keys(self) -> list[str]:
        return [context.key for _, context in self.gate.submitted]

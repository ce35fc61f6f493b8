"""A gate over memory, whose outside effects fail on demand."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import cast

from core.changes.cases.config import CaseRules
from core.changes.cases.judging import CaseGate
from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
from core.changes.gate.screening import Screen
from core.changes.policy.review_policy import Policy, apply_all, deny_nothing
from core.domain.errors import ArtifactInvalid
from core.domain.models import (
    Change,
    ChangeRequest,
    Fence,
    HistoryStatus,
    Kind,
    MemoryRequest,
    Prepared,
    RunEvent,
    SubmitContext,
)
from core.domain.ports import BeforeApplied, Cases, SkillStore, UnitOfWork
from core.learning_committers.base import Neighbours
from core.learning_committers.memory_committer import MemoryCommitter
from core.testing.changes import MemoryChangeLog
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews, MemoryScreenRecords
from core.testing.skill_store import MemorySkillStore
from core.testing.steps import MemorySteps
from tests.support.case_book import CaseBook, PlainRunner
from tests.support.knowledge_search import KnowledgeSearch


class Events(list[RunEvent]):
    """A journal that only remembers."""

    async def emit(self, event: RunEvent) -> None:
        self.append(event)


def neighbours_of(knowledge: MemoryKnowledge, skills: SkillStore | None = None) -> Neighbours:
    """Return the lookup of similar knowledge, over memory."""
    return Neighbours(KnowledgeSearch(knowledge, skills), skills or MemorySkillStore())


class Troubled(MemoryCommitter):
    """A memory committer whose outside effects fail on demand, once each.

    `meanwhile` runs once, between the preparation of a change and its recording.
    """

    def __init__(self, knowledge: MemoryKnowledge) -> None:
        super().__init__(knowledge, neighbours_of(knowledge))
        self.troubles: list[Exception] = []
        self.prepared = 0
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        self.prepared += 1
        if self.troubles and isinstance(self.troubles[0], ArtifactInvalid):
            raise self.troubles.pop(0)
        return await super().prepare(request, context)

    async def apply(self, change: Change) -> None:
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            await meanwhile()
        if self.troubles:
            raise self.troubles.pop(0)

    async def record(self, change: Change, unit: UnitOfWork) -> None:
        await super().record(change, unit)


@dataclass
class World:
    """A gate over memory."""

    dry_run: bool = False
    policy: Policy = apply_all
    before_applied: BeforeApplied | None = None
    knowledge: MemoryKnowledge = field(default_factory=MemoryKnowledge)
    events: Events = field(default_factory=Events)
    pauses: list[float] = field(default_factory=list)
    screen: Callable[[MemoryScreenRecords], Screen] | None = None
    cases: CaseRules | None = None

    log: MemoryChangeLog = field(init=False)

    def __post_init__(self) -> None:
        self.log = MemoryChangeLog(self.knowledge)
        self.committer = Troubled(self.knowledge)
        self.duplicate_waiters = MemoryDuplicateWaiters(self.log)
        self._ids = (f"id-{n}" for n in itertools.count(1))
        self._build()

    def use(self, other: World) -> None:
        """Work on the contents of another world."""
        self.log, self.committer, self._ids = other.log, other.committer, other._ids
        self.duplicate_waiters = other.duplicate_waiters
        self._build()

    def _build(self) -> None:
        self.reviews = MemoryReviews(self.log)
        self.steps = MemorySteps(self.log)
        self.records = MemoryScreenRecords(self.log)
        self.book = CaseBook(self.log)
        self.gate = ChangeGate(
            GateDeps(
                committers={Kind.MEMORY: self.committer},
                changes=self.log,
                target_locks=self.log,
                reviews=self.reviews,
                steps=self.steps,
                duplicate_waiters=self.duplicate_waiters,
                journal=self.events,
                new_id=lambda: next(self._ids),
                sleep=self.sleep,
                policy=self.policy,
                denies=getattr(self.policy, "denies", deny_nothing),
                dry_run=self.dry_run,
                screen=self.screen(self.records) if self.screen else None,
                before_applied=self.before_applied,
                cases=self._case_gate(),
            )
        )

    def _case_gate(self) -> CaseGate | None:
        if self.cases is None:
            return None
        return CaseGate(cast("Cases", self.book), PlainRunner(self.log), self.cases)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def history(self) -> list[tuple[HistoryStatus, str | None, str | None]]:
        return [(h.status, h.previous_content, h.new_content) for h in self.log.history]


def ask(content: str = "원화로 적는다", **given: object) -> MemoryRequest:
    return MemoryRequest.model_validate({"operation": "CREATE", "content": content, **given})


def on_behalf(key: str = "c:1:0:0", epoch: int | None = None) -> SubmitContext:
    fence = None if epoch is None else Fence(candidate_id="cand", epoch=epoch)
    return SubmitContext(key=key, tenant_id="t", agent_id="a", fence=fence, feedback_id="f")

"""A whole worker over memory: real polling, agent and gate, a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from langgraph.checkpoint.memory import InMemorySaver

from core.agent.loop.deps import ReactDeps
from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import GateDeps
from core.domain.models import Agent, Feedback, Kind, NewFeedback, RunEvent, Usage
from core.domain.observers import all_of
from core.domain.ports import FeedbackSource, Observer
from core.domain.retry_policy import RetryPolicy
from core.feedback_matcher import MatchDeps
from core.learning_committers.memory_committer import MemoryCommitter
from core.polling_manager import PollingDeps, process_feedback
from core.testing.changes import MemoryChangeLog
from core.testing.determinism import counting_ids, ticking_clock
from core.testing.duplicate_waiters import MemoryDuplicateWaiters
from core.testing.intake import MemoryDeliveries, MemoryIntake
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from core.testing.scripted_model import ScriptedChatModel, Turn
from core.testing.skill_store import MemorySkillStore
from core.testing.steps import MemorySteps
from core.testing.stores import (
    MemoryAgents,
    MemoryInbox,
    MemoryJournal,
    MemoryReplies,
    MemoryRuns,
)
from tests.support.breaker import SimpleBreaker
from tests.support.gate import neighbours_of
from tests.support.react import FixedSearch

CLERK = Agent(id="clerk", tenant_id="t", name="주문 담당")
DESK = Agent(id="desk", tenant_id="t", name="Refund desk")


@dataclass
class MemoryWorker:
    """Call `tell` with feedback, then inspect the parts."""

    script: Sequence[Turn] = ()
    sources: dict[str, FeedbackSource] = field(default_factory=dict)
    max_attempts: int = 3

    def __post_init__(self) -> None:
        self.observers: list[Observer] = []
        self.knowledge = MemoryKnowledge()
        self.log = MemoryChangeLog(self.knowledge, self._tell)
        self.runs = MemoryRuns(log=self.log)
        self.replies = MemoryReplies(self._tell)
        self.inbox = MemoryInbox(runs=self.runs, replies=self.replies, clock=lambda: self.clock())
        self.deliveries = MemoryDeliveries(self.inbox)
        self.journal = MemoryJournal(runs=self.runs, observe=self._tell)
        self.intake = MemoryIntake(self.inbox, journal=self.journal)
        self.clock = ticking_clock()
        self.agents = MemoryAgents([CLERK, DESK], log=self.log)
        self.saver = InMemorySaver()
        self.model = ScriptedChatModel(self.script)
        self.breaker = SimpleBreaker()
        memories = MemoryCommitter(self.knowledge, neighbours_of(self.knowledge))
        self.gate = ChangeGate(
            GateDeps(
                committers={Kind.MEMORY: memories},
                changes=self.log,
                target_locks=self.log,
                reviews=MemoryReviews(self.log),
                steps=MemorySteps(self.log),
                duplicate_waiters=MemoryDuplicateWaiters(self.log),
                journal=self.journal,
                new_id=counting_ids("change"),
                sleep=asyncio.sleep,
            )
        )
        self.deps = self._deps()

    def _tell(self, event: RunEvent, spent: Usage) -> None:
        all_of(*self.observers)(event, spent)

    def _deps(self) -> PollingDeps:
        return PollingDeps(
            inbox=self.inbox,
            runs=self.runs,
            agents=self.agents,
            journal=self.journal,
            deliveries=self.deliveries,
            intake=self.intake,
            sources=self.sources,
            matching=MatchDeps(self.model, self.breaker, self.replies),
            react=ReactDeps(
                model=self.model,
                breaker=self.breaker,
                gate=self.gate,
                search=FixedSearch(),
                knowledge=self.knowledge,
                skills=MemorySkillStore(),
                runs=self.runs,
                replies=self.replies,
                journal=self.journal,
                saver_factory=lambda: self.saver,
            ),
            retry=RetryPolicy(self.max_attempts, base=2, longest=60, jitter=lambda: 0.0),
            max_chars=1000,
        )

    async def tell(self, content: str, *agent_ids: str, tenant_id: str = "t") -> Feedback:
        """Submit a piece and perform its jobs until none is left; return it as it ended."""
        piece = NewFeedback(
            tenant_id=tenant_id, agent_ids=agent_ids or (CLERK.id,), content=content
        )
        ((feedback_id, _),) = await self.inbox.add("test", [piece])
        return await self.work(feedback_id)

    async def work(self, feedback_id: str) -> Feedback:
        """Perform the deferred jobs of a piece until none is left."""
        while self.inbox.jobs:
            due, _ = self.inbox.jobs.pop(0)
            await process_feedback(due, deps=self.deps)
        return await self.inbox.get(feedback_id)

    def happened(self) -> list[str]:
        """Return the names of the events so far."""
        return [event.name for event in self.journal.events]

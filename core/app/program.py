"""The opened program: what entry points call. It knows ports, no adapters."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from core.app.agent_setup import set_up_new_agents
from core.app.fair_semaphore import ReviewSlots
from core.app.run_summary import RunSummary
from core.changes.gate.change_gate import ChangeGate
from core.changes.presence import Presence
from core.changes.restoring import Restorer
from core.changes.retraction.retract import Retractor
from core.changes.review_sweep import ReviewSweep
from core.domain.errors import ConfigurationError
from core.domain.models import Feedback, FeedbackFilter, FeedbackStatus, Hold, Receipt, Verdict
from core.domain.ports import (
    Agents,
    Answers,
    Budgets,
    ChangeLog,
    CircuitBreaker,
    DuplicateWaiters,
    Feed,
    Figures,
    Inbox,
    Intake,
    Knowledge,
    KnowledgePages,
    KnowledgePast,
    Lineage,
    NewId,
    Reader,
    Retention,
    ReviewQueue,
    Runs,
    Search,
    SkillStore,
    Spending,
    Steps,
    Threads,
    Tokens,
)
from core.domain.tasks import end_tasks, repeat
from core.knowledge.embedding_backfill import Backfill
from core.polling_manager import SourcePoller

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from core.polling_manager import PollingDeps

FETCH_LIMIT = 100
PAGE = 1000
PROGRESS_SECONDS = 0.2
# An intent this old whose feedback has ended will not be finished by the run that wrote it.
ABANDONED_SECONDS = 60.0

PRUNE_SECONDS = 60.0
REVIEW_SECONDS = 60.0  # between two looks for what waits for a person for too long
EMBED_SECONDS = 1.0  # between two looks for what lacks a vector
LOOK_SECONDS = 1.0  # between two looks whether the model is held back
# What is told of an end is told after it: so long its run is kept whatever the settings say.
SETTLED_SECONDS = 60.0

OnProgress = Callable[[Mapping[str, int]], None]
AskHold = Callable[[], Awaitable[Hold | None]]
AskChecks = Callable[[], Awaitable[Mapping[str, str]]]


async def nothing_checked() -> Mapping[str, str]:
    """The checks of a process that tells nothing of its health."""
    return {}


class Worker(Protocol):
    """Runs jobs: the job engine as far as the app knows it."""

    async def run(self, stop: asyncio.Event, *, once: bool = False, hold: AskHold) -> None:
        """Work until `stop` is set, or with `once` until no feedback is unfinished.

        While `hold` gives a reason, no job is begun.
        """


@dataclass(frozen=True, kw_only=True)
class Learning:
    """What a process that learns has besides: the worker's parts and its pauses in seconds."""

    polling: PollingDeps
    worker: Callable[[int], Worker]
    breaker: CircuitBreaker
    ask: Callable[[], Awaitable[None]]
    retention: Retention
    keep_seconds: float
    poll_every: float
    sweep_every: float
    summary: RunSummary = field(default_factory=RunSummary)
    backfill: Backfill | None = None
    reviews: ReviewSweep | None = None


@dataclass(frozen=True, kw_only=True)
class App:
    """Everything wired. `learning` is there where a model was asked for."""

    inbox: Inbox
    intake: Intake
    runs: Runs
    agents: Agents
    knowledge: Knowledge
    pages: KnowledgePages
    past: KnowledgePast
    lineage: Lineage
    search: Search
    spending: Spending
    budgets: Budgets
    reader: Reader
    feed: Feed
    figures: Figures
    changes: ChangeLog
    skills: SkillStore
    gate: ChangeGate
    dry_gate: Callable[[], ChangeGate]
    new_id: NewId
    steps: Steps
    duplicate_waiters: DuplicateWaiters
    tokens: Tokens
    answers: Answers
    review_queue: ReviewQueue
    threads: Threads
    feedback_max_chars: int
    currency: str
    presence: Presence = field(default_factory=lambda: Presence(time.monotonic))
    turns: ReviewSlots = field(default_factory=ReviewSlots)
    checks: AskChecks = nothing_checked
    learning: Learning | None = None

    @property
    def summary(self) -> RunSummary:
        """What this process has done so far. Raises ConfigurationError without a model."""
        return self._learning().summary

    @property
    def retractor(self) -> Retractor:
        """What takes back the effect of a piece of feedback."""
        return Retractor(
            gate=self.gate,
            changes=self.changes,
            steps=self.steps,
            duplicate_waiters=self.duplicate_waiters,
        )

    @property
    def restorer(self) -> Restorer:
        """What brings an item back to one of its versions."""
        return Restorer(
            knowledge=self.knowledge,
            past=self.past,
            skills=self.skills,
            changes=self.changes,
            gate=self.gate,
            new_id=self.new_id,
        )

    def as_dry_run(self) -> App:
        """Give this app with a gate that stops at what would be done, for one look ahead."""
        return replace(self, gate=self.dry_gate())

    async def revert(self, change_id: str, reason: str) -> Receipt:
        """Bring the target of an applied change back to what it was. Raises NotFound, Refused."""
        return await self.gate.revert(change_id, reason)

    async def hold(self) -> Hold | None:
        """Say why no worker begins new work: a person's pause, or else the model's state."""
        paused = await self.intake.paused()
        if self.learning is None:
            return paused
        self.summary.hold = paused or await self.learning.breaker.hold()
        return self.summary.hold

    async def run(
        self, once: bool, concurrency: int, stop: asyncio.Event, on_progress: OnProgress
    ) -> None:
        """Work until `stop` is set or, with `once`, until all feedback has come to its end."""
        learning = self._learning()
        sources = SourcePoller(learning.polling)
        if once:
            await self._drain(sources, stop)
        sides = [
            repeat(learning.poll_every, "poll", lambda: self._poll(sources)),
            repeat(learning.sweep_every, "changes", self._sweep),
            repeat(PRUNE_SECONDS, "prune", lambda: self._prune(learning)),
            repeat(REVIEW_SECONDS, "reviews", learning.reviews.work) if learning.reviews else None,
            repeat(LOOK_SECONDS, "look", lambda: _look(learning)),
            repeat(EMBED_SECONDS, "embed", learning.backfill.work)
            if learning.backfill and not once
            else None,
            repeat(PROGRESS_SECONDS, "progress", lambda: self._progress(on_progress))
            if once
            else None,
        ]
        async with _beside(side for side in sides if side is not None):
            await learning.worker(concurrency).run(stop, once=once, hold=self.hold)
        if once and not stop.is_set():
            await self._progress(on_progress)
            await sources.acknowledge(FETCH_LIMIT)
            if learning.backfill:
                await _until(stop, learning.backfill.work())
            self.summary.resting = await self.budgets.used_up()
            _see_all_told(sources)

    async def dry_run(self, limit: int) -> list[tuple[Feedback, tuple[Verdict, ...]]]:
        """Decide about at most `limit` queued pieces, oldest first, and leave no trace."""
        from core.polling_manager import decide

        learning = self._learning()
        queued = await self._oldest_queued(limit)
        return [(piece, await decide(piece, deps=learning.polling)) for piece in queued]

    async def _oldest_queued(self, limit: int) -> list[Feedback]:
        """Give queued pieces, oldest first; lists begin with the newest, so all pages are read."""
        kept: deque[Feedback] = deque(maxlen=limit)
        page, cursor = await self._queued(None)
        kept.extend(page)
        while cursor is not None:
            page, cursor = await self._queued(cursor)
            kept.extend(page)
        return [*reversed(kept)]

    async def _queued(self, cursor: str | None) -> tuple[Sequence[Feedback], str | None]:
        wanted = FeedbackFilter(statuses=(FeedbackStatus.QUEUED,))
        return await self.reader.feedback(wanted, limit=PAGE, cursor=cursor)

    def _learning(self) -> Learning:
        if self.learning is None:
            raise ConfigurationError("this process was opened without a model")
        return self.learning

    async def _poll(self, sources: SourcePoller) -> int:
        """Fetch, and tell of ends; while paused only the latter. Gives the new pieces."""
        if await self.intake.paused() is None:
            new = await sources.poll(FETCH_LIMIT)
            return new + await set_up_new_agents(self.agents, self.inbox)
        await sources.acknowledge(FETCH_LIMIT)
        return 0

    async def _drain(self, sources: SourcePoller, stop: asyncio.Event) -> None:
        """Fetch until there is nothing new, or `stop` is set."""
        while not stop.is_set() and await self._poll(sources):
            pass

    async def _sweep(self) -> None:
        await self.gate.sweep(ABANDONED_SECONDS)

    async def _prune(self, learning: Learning) -> None:
        await learning.retention.prune(max(learning.keep_seconds, SETTLED_SECONDS))

    async def _progress(self, on_progress: OnProgress) -> None:
        on_progress(await self.reader.counts())


def _see_all_told(sources: SourcePoller) -> None:
    """Raise why a source could not be fetched from or told, where one could not."""
    for error in sources.failures.values():
        raise error


async def _look(learning: Learning) -> None:
    """Ask a model that is held back, where that is due, so that no feedback has to."""
    if await learning.breaker.hold():
        await learning.breaker.probe(learning.ask)


async def _until(stop: asyncio.Event, work: Coroutine[object, object, object]) -> None:
    """Run `work` to its end, or until `stop` is set."""
    task = asyncio.ensure_future(work)
    stopped = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, stopped}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        await end_tasks([task, stopped])


@asynccontextmanager
async def _beside(works: Iterable[Awaitable[None]]) -> AsyncIterator[None]:
    """Run side tasks while the block runs, and cancel them after it."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        yield
    finally:
        await end_tasks(tasks)

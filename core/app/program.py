"""The opened program, which entry points call; the composition root builds its parts."""

from __future__ import annotations

import asyncio
import gc
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from core.agent.budgets import Meter
from core.app.agent_setup import set_up_new_agents
from core.app.bootstrap.costs import billing
from core.app.bootstrap.health import watched
from core.app.bootstrap.learning import (
    Learning,
    build_gates,
    build_learning,
    chat_model,
    close_chat_model,
)
from core.app.bootstrap.model import GuardedModel, circuit_breaker, open_meaning
from core.app.bootstrap.pods import skill_creator
from core.app.bootstrap.sources import feedback_sources
from core.app.bootstrap.stores import (
    IN_PROCESS,
    Parts,
    Stores,
    Wrap,
    as_it_is,
    new_id,
    open_database,
    skill_server,
    skill_store,
)
from core.app.dry_run import DrySkills
from core.app.fair_semaphore import ReviewSlots
from core.app.run_summary import RunSummary
from core.app.settings import Settings
from core.changes.gate.change_gate import ChangeGate
from core.changes.presence import Presence
from core.changes.restoring import Restorer
from core.changes.retraction.retract import Retractor
from core.changes.skill_lists import SkillLists
from core.domain.errors import ConfigurationError
from core.domain.messages import Message
from core.domain.models import Feedback, FeedbackFilter, FeedbackStatus, Pause, Receipt, Verdict
from core.domain.observers import all_of, log_event
from core.domain.ports import NewId, Vectors
from core.domain.tasks import end_tasks, repeat
from core.polling_manager import SourcePoller

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from langchain_core.language_models import BaseChatModel

    from core.app.health.health import Health

FETCH_LIMIT = 100
PAGE = 1000
PROGRESS_SECONDS = 0.2
# An intent this old whose feedback has ended will not be finished by its own run.
ABANDONED_SECONDS = 60.0

PRUNE_SECONDS = 60.0
REVIEW_SECONDS = 60.0  # interval of reminders about overdue reviews
EMBED_SECONDS = 1.0  # interval of checks for documents without a vector
_COLLECTED_AFTER = 2_000, 10, 25  # in place of Python's 700, 10, 10
PROBE_SECONDS = 1.0  # interval of checks whether the model needs a probe
# Sources are told of an end after it: runs are stored for at least this long, whatever the settings
# say.
SETTLED_SECONDS = 60.0

OnProgress = Callable[[Mapping[str, int]], None]
AskChecks = Callable[[], Awaitable[Mapping[str, str]]]


async def nothing_checked() -> Mapping[str, str]:
    """Return the checks of a process that does not report its health."""
    return {}


@dataclass(frozen=True, kw_only=True)
class App:
    """The wired program. `learning` is set if a model was requested."""

    stores: Stores
    gate: ChangeGate
    dry_gate: Callable[[], ChangeGate]
    new_id: NewId
    feedback_max_chars: int
    currency: str
    presence: Presence = field(default_factory=lambda: Presence(time.monotonic))
    review_slots: ReviewSlots = field(default_factory=ReviewSlots)
    checks: AskChecks = nothing_checked
    learning: Learning | None = None
    vectors: Vectors | None = None

    @property
    def summary(self) -> RunSummary:
        """What this process has done so far. Raises ConfigurationError without a model."""
        return self._learning().summary

    @property
    def retractor(self) -> Retractor:
        """The service that takes back the effect of feedback."""
        return Retractor(
            gate=self.gate,
            changes=self.stores.changes,
            steps=self.stores.steps,
            duplicate_waiters=self.stores.duplicate_waiters,
        )

    @property
    def restorer(self) -> Restorer:
        """The service that restores an item to one of its versions."""
        return Restorer(
            knowledge=self.stores.knowledge,
            past=self.stores.past,
            skills=self.stores.skills,
            changes=self.stores.changes,
            gate=self.gate,
            new_id=self.new_id,
        )

    @property
    def skill_lists(self) -> SkillLists:
        """The service that edits agents' lists of skills."""
        return SkillLists(agents=self.stores.agents, gate=self.gate, new_id=self.new_id)

    def as_dry_run(self) -> App:
        """Return this app with a gate that stops before applying, for one dry run."""
        return replace(self, gate=self.dry_gate())

    async def revert(self, change_id: str, reason: str) -> Receipt:
        """Restore the target of an applied change to its state before. Raises NotFound, Refused."""
        return await self.gate.revert(change_id, reason)

    async def current_pause(self) -> Pause | None:
        """Return why no worker starts new work: a person's pause, or else the open circuit."""
        paused = await self.stores.intake.paused()
        if self.learning is None:
            return paused
        self.summary.pause = paused or await self.learning.breaker.current_pause()
        return self.summary.pause

    async def run(
        self, once: bool, concurrency: int, stop: asyncio.Event, on_progress: OnProgress
    ) -> None:
        """Work until `stop` is set or, with `once`, until all feedback has ended."""
        learning = self._learning()
        sources = SourcePoller(learning.polling)
        if once:
            await self._drain(sources, stop)
        sides = [
            repeat(learning.poll_every, "poll", lambda: self._poll(sources)),
            repeat(learning.sweep_every, "changes", self._sweep),
            repeat(PRUNE_SECONDS, "prune", lambda: self._prune(learning)),
            repeat(REVIEW_SECONDS, "reviews", learning.reviews.work) if learning.reviews else None,
            repeat(PROBE_SECONDS, "look", lambda: _probe(learning)),
            repeat(EMBED_SECONDS, "embed", learning.backfill.work)
            if learning.backfill and not once
            else None,
            repeat(PROGRESS_SECONDS, "progress", lambda: self._progress(on_progress))
            if once
            else None,
        ]
        async with _beside(side for side in sides if side is not None):
            await learning.worker(concurrency).run(stop, once=once, ask_pause=self.current_pause)
        if once and not stop.is_set():
            await self._progress(on_progress)
            await sources.acknowledge(FETCH_LIMIT)
            if learning.backfill:
                await _until(stop, learning.backfill.work())
            self.summary.resting = await self.stores.budgets.used_up()
            _raise_failure(sources)

    async def dry_run(self, limit: int) -> list[tuple[Feedback, tuple[Verdict, ...]]]:
        """Decide about at most `limit` queued pieces, oldest first, and leave no trace."""
        from core.polling_manager import decide

        learning = self._learning()
        queued = await self._oldest_queued(limit)
        return [(piece, await decide(piece, deps=learning.polling)) for piece in queued]

    async def _oldest_queued(self, limit: int) -> list[Feedback]:
        """Return queued pieces, oldest first; lists start with the newest, hence all pages."""
        oldest: deque[Feedback] = deque(maxlen=limit)
        page, cursor = await self._queued(None)
        oldest.extend(page)
        while cursor is not None:
            page, cursor = await self._queued(cursor)
            oldest.extend(page)
        return [*reversed(oldest)]

    async def _queued(self, cursor: str | None) -> tuple[Sequence[Feedback], str | None]:
        wanted = FeedbackFilter(statuses=(FeedbackStatus.QUEUED,))
        return await self.stores.reader.feedback(wanted, limit=PAGE, cursor=cursor)

    def _learning(self) -> Learning:
        if self.learning is None:
            raise ConfigurationError(Message("worker.no_model"))
        return self.learning

    async def _poll(self, sources: SourcePoller) -> int:
        """Fetch, and report ends; while paused only the latter. Returns how many are new."""
        if await self.stores.intake.paused() is None:
            new = await sources.poll(FETCH_LIMIT)
            return new + await set_up_new_agents(self.stores.agents, self.stores.inbox)
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
        on_progress(await self.stores.reader.counts())


def _raise_failure(sources: SourcePoller) -> None:
    """Raise the first error of a source that could not be fetched from or told."""
    for error in sources.failures.values():
        raise error


async def _probe(learning: Learning) -> None:
    """Probe the model if its circuit is open and a probe is due, so that no feedback has to."""
    if await learning.breaker.current_pause():
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
    """Run background tasks while the block runs, and cancel them after it."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        yield
    finally:
        await end_tasks(tasks)


def spare_collections() -> None:
    """Collect garbage more rarely, and none of what is there by now, in a process that serves.

    A full collection stops all pieces and calls. Measured: a seventh of a second over what is
    loaded by now and stays; then 30 to 50 ms every few seconds over what is cached, which the
    higher thresholds make rarer. With both, 32 pieces at a time get 1 % more done.
    """
    gc.freeze()
    gc.set_threshold(*_COLLECTED_AFTER)


@asynccontextmanager
async def open_app(
    settings: Settings,
    *,
    model: bool = False,
    offline: bool = False,
    dry_run: bool = False,
    chat: BaseChatModel | None = None,
    wrap: Wrap = as_it_is,
    health: Health | None = None,
) -> AsyncIterator[App]:
    """Open the program: database and skill API as configured, a model if requested.

    `chat` is a model to use instead of the configured one; every port passes through `wrap`, and so
    does the saver of ReAct runs. `health` observes events and watches what is open. Embedded
    services are started here, and stopped by the last process to leave. Raises ConfigurationError,
    DatabaseDown.
    """
    async with AsyncExitStack() as stack:
        enter = stack.enter_async_context
        if model and chat is None:
            chat = _chat_model(stack, settings, offline)
        billed = billing(settings, offline=offline, asks=chat is not None)
        pool = await enter(open_database(settings))
        listens = chat or health or settings.builds_in_pods
        url = await enter(skill_server(settings)) if listens else IN_PROCESS
        skills = wrap("skills", await enter(skill_store(settings, url)))
        skills = DrySkills(skills) if dry_run else skills
        creator = await enter(skill_creator(settings, url, wrap, quiet=chat is None))
        summary = RunSummary()
        observe = all_of(log_event, summary.note, *([health.metrics.observe] if health else []))
        made = Stores(Parts(settings, pool, skills, observe, billed, dry_run, wrap))
        meaning = await enter(open_meaning(settings, offline=offline))
        if meaning:
            made = meaning.beside_words(made)
        stores = made.wrapped()
        breaker = wrap("breaker", circuit_breaker(settings, pool, offline=offline))
        guarded = GuardedModel(chat, breaker, Meter(billed.price, stores.budgets)) if chat else None
        gate, dry_gate = build_gates(stores, guarded, creator)
        sources = await enter(feedback_sources(settings, stores, wrap)) if chat else {}
        if health:
            observed = watched(stores, url=url, breaker=breaker, sources=sources, summary=summary)
            await enter(health.watching(await enter(observed)))
        learning = None
        if guarded:
            backfill = meaning.backfill(made) if meaning and not dry_run else None
            learning = build_learning(stores, gate, guarded, sources, summary, backfill)
        yield App(
            stores=stores,
            gate=gate,
            vectors=meaning.vectors(stores) if meaning else None,
            dry_gate=dry_gate,
            new_id=new_id,
            feedback_max_chars=settings.feedback_max_chars,
            currency=settings.price_currency,
            checks=health.checks if health else nothing_checked,
            learning=learning,
        )


def _chat_model(stack: AsyncExitStack, settings: Settings, offline: bool) -> BaseChatModel:
    """Build the chat model, and close its connections with the stack."""
    chat = chat_model(settings, offline=offline)
    stack.push_async_callback(close_chat_model, chat)
    return chat

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
from core.app.bootstrap.cases import case_keeping, cases_by_people
from core.app.bootstrap.costs import billing
from core.app.bootstrap.health import watched
from core.app.bootstrap.hooks import HooksInUse, open_hooks
from core.app.bootstrap.kinds import with_kinds
from core.app.bootstrap.learning import (
    Learning,
    build_gates,
    build_learning,
    chat_model,
    close_chat_model,
    open_second_look,
)
from core.app.bootstrap.model import GuardedModel, circuit_breaker, open_meaning
from core.app.bootstrap.pods import skill_creator
from core.app.bootstrap.screens import with_screens
from core.app.bootstrap.sending import SECONDS as DELIVER_SECONDS
from core.app.bootstrap.sending import open_dispatcher, with_routes
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
    utc_now,
)
from core.app.bootstrap.tracing import open_tracing
from core.app.bootstrap.usage import open_uses
from core.app.dry_run import DrySkills
from core.app.fair_semaphore import ReviewSlots
from core.app.run_summary import RunSummary
from core.app.settings import Settings
from core.changes.cases.by_people import CasesByPeople
from core.changes.cases.keeping import ROUND_SECONDS
from core.changes.gate.change_gate import ChangeGate
from core.changes.installing.fetching import Fetching
from core.changes.installing.installer import Installer
from core.changes.presence import Presence
from core.changes.proposals import Proposals
from core.changes.restoring import Restorer
from core.changes.retraction.retract import Retractor
from core.changes.skill_lists import SkillLists
from core.delivery.dispatcher import Dispatcher
from core.domain.errors import ConfigurationError, InvalidInput
from core.domain.kinds import Kinds
from core.domain.messages import Message
from core.domain.models import (
    Feedback,
    FeedbackFilter,
    FeedbackStatus,
    Kind,
    Pause,
    Receipt,
    Verdict,
)
from core.domain.models.knowledge import ITEM_KINDS
from core.domain.observers import all_of, log_event, nobody
from core.domain.ports import NewId, NoUses, Observer, Uses, Vectors
from core.domain.tasks import end_tasks, over_all_tenants, repeat
from core.knowledge.usage.config import EffectRules
from core.knowledge.usage.looking_back import LookingBack

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from langchain_core.language_models import BaseChatModel

    from core.app.health.health import Health
    from core.polling_manager import SourcePoller

FETCH_LIMIT = 100
PAGE = 1000
PROGRESS_SECONDS = 0.2
# An intent this old whose feedback has ended will not be finished by its own run.
ABANDONED_SECONDS = 60.0

PRUNE_SECONDS = 60.0
HEADS_SECONDS = 3600.0  # interval at which heads of audit chains are anchored in the log
REVIEW_SECONDS = 60.0  # interval of reminders about overdue reviews
EMBED_SECONDS = 1.0  # interval of checks for documents without a vector
_COLLECTED_AFTER = 2_000, 10, 25  # in place of Python's 700, 10, 10
LESSON_SECONDS = 60.0  # interval of looks for what the worker could learn from its own work
LOOK_BACK_SECONDS = 300.0  # interval of looks at what came back, and what nobody uses
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
    new_id: NewId = new_id
    feedback_max_chars: int
    currency: str
    presence: Presence = field(default_factory=lambda: Presence(time.monotonic))
    review_slots: ReviewSlots = field(default_factory=ReviewSlots)
    checks: AskChecks = nothing_checked
    observe: Observer = nobody
    learning: Learning | None = None
    vectors: Vectors | None = None
    hooks: HooksInUse | None = None
    dispatcher: Dispatcher | None = None
    uses: Uses = field(default_factory=NoUses)

    @property
    def summary(self) -> RunSummary:
        """What this process has done so far. Raises ConfigurationError without a model."""
        return self._learning().summary

    @property
    def kinds(self) -> Kinds:
        """The kinds of knowledge that packages add."""
        return tuple(own.kind for own in self.stores.parts.kinds)

    async def item_kinds(self) -> tuple[Kind, ...]:
        """Return the kinds of items: ours, those of packages in use, and those with items."""
        own = [Kind(kind.name) for kind in self.kinds]
        return tuple(dict.fromkeys((*ITEM_KINDS, *own, *await self.stores.knowledge.packages())))

    async def require_kind(self, kind: Kind | None) -> None:
        """Raise InvalidInput for a kind of which there can be no item here: a slip of the pen."""
        if kind is None or kind.is_built_in:
            return
        known = await self.item_kinds()
        if kind not in known:
            raise InvalidInput(
                Message("kind.none_such", kind=kind),
                hint=Message("kind.known", names=", ".join(known)),
            )

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
        stores = self.stores
        return SkillLists(
            agents=stores.agents, skills=stores.skills, gate=self.gate, new_id=self.new_id
        )

    def installer(self, tenant_id: str, indexes: Sequence[str] = ()) -> Installer:
        """Return the service that installs published skills for a tenant.

        Names are looked up in `indexes`, else in those of skill-worker.yaml.
        """
        config = self.stores.parts.config
        known = config.skills.indexes if config else ()
        return Installer(
            gate=self.gate,
            changes=self.stores.changes,
            knowledge=self.stores.knowledge,
            skills=self.stores.skills,
            agents=self.stores.agents,
            installed=self.stores.installed,
            fetching=Fetching(self.stores.publishers, indexes or known),
            new_id=self.new_id,
            tenant_id=tenant_id,
        )

    @property
    def looking_back(self) -> LookingBack:
        """The service that finds complaints that came back, and proposes what to do."""
        config = self.stores.parts.config
        return LookingBack(
            log=self.stores.look_back,
            search=self.stores.search,
            rules=config.effect if config else EffectRules(),
            now=utc_now,
        )

    @property
    def proposals(self) -> Proposals:
        """The service that does what a person accepted of a proposal."""
        return Proposals(
            effects=self.stores.effects,
            knowledge=self.stores.knowledge,
            agents=self.stores.agents,
            skill_lists=self.skill_lists,
            inbox=self.stores.inbox,
            gate=self.gate,
            now=utc_now,
        )

    @property
    def cases(self) -> CasesByPeople:
        """The service that adds, edits and runs cases for people."""
        return cases_by_people(self.stores, self.new_id)

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
        from core.polling_manager import SourcePoller

        learning = self._learning()
        if self.hooks:
            await self.hooks.check()
        if self.stores.parts.screens:
            await self.stores.parts.screens.check()
        sources = SourcePoller(learning.polling)
        if once:
            with over_all_tenants():
                await self._drain(sources, stop)
        sides = [
            repeat(learning.poll_every, "poll", lambda: self._poll(sources)),
            repeat(learning.sweep_every, "changes", self._sweep),
            repeat(PRUNE_SECONDS, "prune", lambda: self._prune(learning)),
            repeat(REVIEW_SECONDS, "reviews", learning.reviews.work) if learning.reviews else None,
            repeat(PROBE_SECONDS, "look", lambda: _probe(learning)),
            repeat(DELIVER_SECONDS, "deliveries", self.dispatcher.work)
            if self.dispatcher
            else None,
            repeat(SETTLED_SECONDS, "ends", lambda: self.stores.outbox.tell_ends(SETTLED_SECONDS))
            if self.hooks
            else None,
            repeat(EMBED_SECONDS, "embed", learning.backfill.work)
            if learning.backfill and not once
            else None,
            None if once else repeat(LOOK_BACK_SECONDS, "effect", self.looking_back.work),
            repeat(LESSON_SECONDS, "lessons", learning.lessons.work)
            if learning.lessons and not once
            else None,
            None if once else repeat(ROUND_SECONDS, "cases", case_keeping(self.stores).work),
            repeat(PROGRESS_SECONDS, "progress", lambda: self._progress(on_progress))
            if once
            else None,
        ]
        async with _beside(side for side in sides if side is not None):
            await learning.worker(concurrency).run(stop, once=once, ask_pause=self.current_pause)
        if once and not stop.is_set():
            with over_all_tenants():
                await self._wind_up(sources, stop, on_progress)
            _raise_failure(sources)

    async def _wind_up(
        self, sources: SourcePoller, stop: asyncio.Event, on_progress: OnProgress
    ) -> None:
        """Do what is repeated beside the work a last time, and sum up."""
        learning = self._learning()
        await self._progress(on_progress)
        await sources.acknowledge(FETCH_LIMIT)
        if learning.backfill:
            await _until(stop, learning.backfill.work())
        if self.dispatcher:
            await _until(stop, self.dispatcher.drain())
        self.summary.resting = await self.stores.budgets.used_up()
        self.summary.screened = await self.stores.screen_records.waiting()

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
        await self.stores.calls.prune(learning.keep_calls)
        await self.stores.audit.log_heads(HEADS_SECONDS)

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

    `chat` is a model to use instead of the configured one; all ports pass through `wrap`. Embedded
    services start here, and stop with the last process. Raises ConfigurationError, DatabaseDown.
    """
    async with open_tracing(settings), AsyncExitStack() as stack:
        enter = stack.enter_async_context
        is_own = model and chat is None
        chat = _chat_model(stack, settings, offline) if is_own else chat
        billed = billing(settings, offline=offline, asks=chat is not None)
        pool = await enter(open_database(settings))
        listens = chat or health or settings.builds_in_pods
        url = await enter(skill_server(settings)) if listens else IN_PROCESS
        skills = wrap("skills", await enter(skill_store(settings, url)))
        skills = DrySkills(skills) if dry_run else skills
        creator = await enter(skill_creator(settings, url, wrap, quiet=chat is None))
        summary = RunSummary()
        observe = all_of(log_event, summary.note, *([health.metrics.observe] if health else []))
        parts = Parts(settings, pool, skills, observe, billed, dry_run, wrap)
        made = Stores(with_kinds(with_routes(await enter(with_screens(parts)))))
        meaning = await enter(open_meaning(settings, offline=offline))
        made = meaning.beside_words(made) if meaning else made
        stores = made.wrapped()
        breaker = wrap("breaker", circuit_breaker(settings, pool, offline=offline))
        guarded = GuardedModel(chat, breaker, _meter(stores), is_own) if chat else None
        hooks = await enter(open_hooks(stores, guarded, url))
        looks = await enter(open_second_look(stores, guarded))
        gate, dry_gate = build_gates(stores, guarded, looks, creator, hooks)
        sources = await enter(feedback_sources(settings, stores, wrap)) if chat else {}
        if health:
            observed = watched(stores, url=url, breaker=breaker, sources=sources, summary=summary)
            await enter(health.watching(await enter(observed)))
        fills = meaning.backfill(made) if meaning and not dry_run else None
        uses = await enter(open_uses(stores, observe))
        beside = sources, summary, fills, uses
        learns = build_learning(stores, gate, guarded, *beside) if guarded else None
        yield App(
            stores=stores,
            gate=gate,
            vectors=meaning.vectors(stores) if meaning else None,
            dry_gate=dry_gate,
            feedback_max_chars=settings.feedback_max_chars,
            currency=settings.price_currency,
            checks=health.checks if health else nothing_checked,
            observe=health.metrics.observe if health else nobody,
            learning=learns,
            hooks=hooks,
            dispatcher=await enter(open_dispatcher(stores, gate, hooks, works=bool(chat))),
            uses=uses,
        )


@asynccontextmanager
async def open_over_tenants(
    settings: Settings, *, model: bool = False, offline: bool = False, dry_run: bool = False
) -> AsyncIterator[App]:
    """Open the program as `open_app` does, for a person on the server: over all tenants."""
    with over_all_tenants():
        async with open_app(settings, model=model, offline=offline, dry_run=dry_run) as app:
            yield app


def _meter(stores: Stores) -> Meter:
    return Meter(stores.parts.billed.price, stores.budgets)


def _chat_model(stack: AsyncExitStack, settings: Settings, offline: bool) -> BaseChatModel:
    """Build the chat model, and close its connections with the stack."""
    chat = chat_model(settings, offline=offline)
    stack.push_async_callback(close_chat_model, chat)
    return chat

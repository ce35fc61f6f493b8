"""What a process that changes or learns needs beyond stores: gate, model, worker."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol
from zoneinfo import ZoneInfo

from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.queries import gathering
from core.agent.budgets import Meter
from core.agent.lessons import ShownLessons
from core.app.bootstrap.costs import billing
from core.app.bootstrap.hooks import HooksInUse
from core.app.bootstrap.kinds import Committers
from core.app.bootstrap.model import GuardedModel, circuit_breaker
from core.app.bootstrap.pods import log_skipped
from core.app.bootstrap.stores import Stores, new_id, outside_changes, utc_now
from core.app.config_file import ConfigFile, load_config
from core.app.dry_run import DryKnowledge
from core.app.run_summary import RunSummary
from core.app.settings import OFFLINE_MODEL, Settings
from core.changes.cases.behaviour import WithBehaviour
from core.changes.cases.judging import CaseGate
from core.changes.cases.proposed import derive
from core.changes.gate.change_gate import ChangeGate
from core.changes.gate.deps import Foresee, GateDeps
from core.changes.gate.screening import Look, Screen
from core.changes.interference import Interference, JudgeReliance
from core.changes.lessons.proposing import Lessons
from core.changes.review_sweep import ReviewSweep
from core.changes.said_order.pieces import AskedAgain
from core.domain.models import Kind, Pause
from core.domain.ports import (
    BeforeApplied,
    CaseRunner,
    CircuitBreaker,
    Committer,
    FeedbackSource,
    Retention,
    SkillAuthor,
    Uses,
)
from core.knowledge.embedding_backfill import Backfill
from core.learning_committers.agent_skills_committer import AgentSkillsCommitter
from core.learning_committers.base import Neighbours
from core.learning_committers.dmn_rule_committer import DmnRuleCommitter
from core.learning_committers.memory_committer import MemoryCommitter
from core.learning_committers.skill_committer import SkillCommitter
from core.learning_committers.skill_folders import SkillLimits
from core.learning_committers.skill_writing import NoAuthor
from core.safety.config import AUTO, OFF, ON, ScreenConfig
from core.skill_creator_committer import SkillCreatorDeps

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from core.agent.asked_once import AskedOnce
    from core.agent.loop.deps import ReactDeps, ReadThread
    from core.polling_manager import PollingDeps

    SaverFactory = Callable[[], BaseCheckpointSaver[str]]

DAY_SECONDS = 86_400
HOUR_SECONDS = 3_600

AskPause = Callable[[], Awaitable[Pause | None]]


class Worker(Protocol):
    """Runs jobs: the job engine as far as the program knows it."""

    async def run(self, stop: asyncio.Event, *, once: bool = False, ask_pause: AskPause) -> None:
        """Work until `stop` is set, or with `once` until no feedback is unfinished.

        While `ask_pause` reports a pause, no job is begun.
        """


@dataclass(frozen=True, kw_only=True)
class Learning:
    """The parts of a process that learns, and its intervals in seconds."""

    polling: PollingDeps
    worker: Callable[[int], Worker]
    breaker: CircuitBreaker
    ask: Callable[[], Awaitable[None]]
    retention: Retention
    keep_seconds: float
    keep_calls: float
    poll_every: float
    sweep_every: float
    summary: RunSummary = field(default_factory=RunSummary)
    backfill: Backfill | None = None
    reviews: ReviewSweep | None = None
    lessons: Lessons | None = None


def chat_model(settings: Settings, *, offline: bool = False) -> BaseChatModel:
    """Build the chat model. Raises ConfigurationError."""
    from core.agent.model.chat_model import build_chat_model

    key = settings.llm_proxy_api_key
    return build_chat_model(
        "offline" if offline else settings.require_model(),
        proxy_url=settings.llm_proxy_url,
        proxy_api_key=key.get_secret_value() if key else None,
        timeout=settings.llm_timeout_seconds,
        max_retries=settings.llm_max_retries,
    )


async def close_chat_model(chat: BaseChatModel) -> None:
    """Close the model's connections."""
    from core.agent.model import chat_model as llm

    await llm.close_chat_model(chat)


def build_gates(
    stores: Stores,
    model: GuardedModel | None,
    looks: GuardedModel | None,
    creator: SkillCreatorDeps | None,
    hooks: HooksInUse | None = None,
) -> tuple[ChangeGate, Callable[[], ChangeGate]]:
    """Build the gate, and a factory of gates for single dry runs, which leave no trace.

    Without a model, skills can be applied and reverted but not written. `looks` is the model of
    `open_second_look`.
    """
    asked = hooks.before_applied if hooks else None
    models = model, looks
    gate = _gate(stores, models, creator, asked, dry_run=stores.parts.dry_run)
    return gate, lambda: _gate(stores.without_trace(), models, creator, dry_run=True)


def _config(stores: Stores) -> ConfigFile:
    return stores.parts.config or load_config(stores.parts.settings)


def _gate(
    stores: Stores,
    models: tuple[GuardedModel | None, GuardedModel | None],
    creator: SkillCreatorDeps | None,
    before_applied: BeforeApplied | None = None,
    *,
    dry_run: bool,
) -> ChangeGate:
    (model, looks), config = models, _config(stores)
    limits = _skill_limits(stores.parts.settings)
    neighbours = Neighbours(stores.search, stores.skills)
    ours: dict[Kind, Committer] = {
        Kind.MEMORY: MemoryCommitter(stores.knowledge, neighbours),
        Kind.DMN_RULE: DmnRuleCommitter(stores.knowledge, stores.search),
        Kind.SKILL: SkillCommitter(
            stores.skills,
            _author(stores, model),
            stores.changes,
            stores.agents,
            check=stores.runs.check,
            limits=limits,
            neighbours=neighbours,
            creator=creator,
            without_pod=log_skipped if model is None and _lacks_pods(stores) else None,
        ),
        Kind.AGENT_SKILLS: AgentSkillsCommitter(stores.agents, stores.skills, limits=limits),
    }
    return ChangeGate(
        GateDeps(
            committers=Committers(ours, stores.parts.kinds, stores.knowledge),
            changes=stores.changes,
            target_locks=stores.target_locks,
            reviews=stores.reviews,
            steps=stores.steps,
            duplicate_waiters=stores.duplicate_waiters,
            journal=stores.journal,
            new_id=new_id,
            sleep=asyncio.sleep,
            policy=config,
            denies=config.denies,
            dry_run=dry_run,
            ask_again=_ask_again(stores, model),
            outside=outside_changes(stores.skills, stores.changes, stores.target_locks),
            screen=_screen(stores, config, _asked_once(stores, model, looks, config.screen)),
            before_applied=before_applied,
            foresee=_remembered(stores) if dry_run else None,
            cases=CaseGate(stores.cases, _case_runner(stores, model, config), config.cases, derive),
        )
    )


def _remembered(stores: Stores) -> Foresee | None:
    """Return what makes readable what a dry run would write; None in a program that writes."""
    return stores.knowledge.remember if isinstance(stores.knowledge, DryKnowledge) else None


def _screen(stores: Stores, config: ConfigFile, asked: AskedOnce | None) -> Screen:
    settings, plugins = stores.parts.settings, stores.parts.screens
    own = [plugins] if plugins else []
    second_look, judge = _looks(asked)
    return Screen(
        stores.screen_records,
        config.screen,
        holds=settings.screen == "hold",
        keeps_raw=settings.safety_keep_raw,
        looks=[Interference(stores.search, stores.skills, config.screen, judge), *own],
        mask_more=plugins.masked_request if plugins else None,
        second_look=second_look,
        asks_author=config.asks_author,
    )


def _looks(asked: AskedOnce | None) -> tuple[Look | None, JudgeReliance | None]:
    """Return who looks a second time at what is new, and at what others rely on."""
    if asked is None:
        return None, None
    from core.agent.reliance_look import RelianceLook
    from core.agent.second_look import SecondLookModel

    return SecondLookModel(asked), RelianceLook(asked)


@asynccontextmanager
async def open_second_look(
    stores: Stores, model: GuardedModel | None
) -> AsyncIterator[GuardedModel | None]:
    """Yield the model for second looks: the worker's, or the one that the configuration names.

    One of its own is opened once for all gates, and closed with the context.
    """
    wanted = _config(stores).screen.second_look
    if model is None or wanted in {AUTO, ON, OFF}:
        yield model
        return
    settings = stores.parts.settings.model_copy(update={"llm_model": wanted})
    meter = Meter(billing(settings, offline=False, asks=True).price, stores.budgets)
    chat = chat_model(settings)
    try:
        yield GuardedModel(chat, circuit_breaker(settings, stores.pool), meter)
    finally:
        await close_chat_model(chat)


def _case_runner(stores: Stores, model: GuardedModel | None, config: ConfigFile) -> CaseRunner:
    """Return what runs cases before a change: with a model and a budget also those of behaviour."""
    runs = config.cases.behaviour.runs
    if model is None or not runs:
        return stores.case_runner
    from core.agent.case_answers import ModelAnswers

    answers = ModelAnswers(model.chat, model.breaker, stores.replies, model.meter)
    return WithBehaviour(stores.case_runner, answers, runs, stores.knowledge, stores.skills)


def _asked_once(
    stores: Stores,
    model: GuardedModel | None,
    looks: GuardedModel | None,
    config: ScreenConfig,
) -> AskedOnce | None:
    """Return who asks the model for second looks.

    None where nobody asks for it: with `auto`, a process without a model or with the stand-in.
    """
    wanted = config.second_look
    is_real = model and model.is_own and stores.parts.billed.model != OFFLINE_MODEL
    if wanted == OFF or (wanted == AUTO and not is_real):
        return None
    from core.agent.asked_once import AskedOnce

    if looks is None:
        return AskedOnce(None, None, stores.replies, Meter())
    return AskedOnce(looks.chat, looks.breaker, stores.replies, looks.meter)


def _lacks_pods(stores: Stores) -> bool:
    settings = stores.parts.settings
    return settings.use_skill_creator_workflow and not settings.has_pods


def _ask_again(stores: Stores, model: GuardedModel | None) -> AskedAgain | None:
    """Return what has feedback decided again: a worker does, which may be another process."""
    if model is None and stores.parts.settings.llm_model is None:
        return None
    return AskedAgain(stores.inbox, stores.intake, stores.journal)


def _skill_limits(settings: Settings) -> SkillLimits:
    return SkillLimits(
        author_rounds=settings.author_max_rounds,
        shrink_percent=settings.skill_shrink_percent,
        related_chars=settings.related_skills_max_chars,
        descriptions_chars=settings.agent_descriptions_max_chars,
    )


def _author(stores: Stores, model: GuardedModel | None) -> SkillAuthor:
    if model is None:
        return NoAuthor()
    from core.agent.skill_author import SkillAuthorModel

    return SkillAuthorModel(
        model.chat,
        model.breaker,
        stores.replies,
        stores.runs,
        model.meter,
        keeps_raw=stores.parts.settings.safety_keep_raw,
    )


def build_learning(
    stores: Stores,
    gate: ChangeGate,
    model: GuardedModel,
    sources: Mapping[str, FeedbackSource],
    summary: RunSummary,
    backfill: Backfill | None,
    uses: Uses,
) -> Learning:
    """Build the parts of a worker, including its model; `summary` observes the events."""
    from core.polling_manager import process_feedback

    settings = stores.parts.settings
    react = _react(stores, gate, model, uses)
    polling = _polling(stores, react, sources)

    async def perform(feedback_id: str) -> None:
        async with summary.at_work(), gathering(stores.pool):
            await process_feedback(feedback_id, deps=polling)

    def worker(concurrency: int) -> JobWorker:
        options = WorkerOptions(
            name=settings.worker_name,
            concurrency=concurrency,
            heartbeat=settings.heartbeat_seconds,
            stalled_after=settings.stalled_after_seconds,
            sweep_every=settings.sweep_seconds,
            reconcile_every=settings.reconcile_seconds,
            grace=settings.shutdown_grace_seconds,
        )
        return JobWorker(stores.jobs, perform, options, resting=resting)

    async def resting() -> Collection[str]:
        return {tenant.tenant_id for tenant in await stores.budgets.used_up()}

    return Learning(
        polling=polling,
        worker=worker,
        breaker=model.breaker,
        ask=model.probe,
        retention=stores.retention,
        keep_seconds=settings.retention_days * DAY_SECONDS,
        keep_calls=_config(stores).audit.keep_calls_days * DAY_SECONDS,
        poll_every=settings.poll_interval_seconds,
        sweep_every=settings.reconcile_seconds,
        summary=summary,
        backfill=backfill,
        reviews=_reviews(stores, gate),
        lessons=build_lessons(stores, gate) if _config(stores).lessons.propose else None,
    )


def build_lessons(stores: Stores, gate: ChangeGate) -> Lessons:
    """Build what proposes what the worker could learn from its own work."""
    return Lessons(
        log=stores.lesson_log,
        feed=stores.feed,
        gate=gate,
        changes=stores.changes,
        journal=stores.journal,
        outcomes=stores.use_log,
        now=utc_now,
    )


def _reviews(stores: Stores, gate: ChangeGate) -> ReviewSweep | None:
    settings = stores.parts.settings
    remind, expire = settings.review_remind_hours, settings.review_expire_days
    if remind is None and expire is None:
        return None
    return ReviewSweep(
        reviews=stores.reviews,
        decisions=gate.decisions,
        journal=stores.journal,
        remind_after=None if remind is None else remind * HOUR_SECONDS,
        expire_after=None if expire is None else expire * DAY_SECONDS,
    )


def _saver(stores: Stores) -> SaverFactory:
    if stores.parts.dry_run:
        return _dry_saver
    from core.adapters.postgres.saver import postgres_saver

    return lambda: stores.parts.wrap("saver", postgres_saver(stores.pool))


def _dry_saver() -> BaseCheckpointSaver[str]:
    from langgraph.checkpoint.memory import InMemorySaver

    return InMemorySaver()


def _recorded(stores: Stores) -> ReadThread:
    """Return what reads the messages of runs on record, in a dry run too."""
    from core.adapters.postgres.saver import recorded_messages

    return lambda thread: recorded_messages(stores.pool, thread)


def _react(stores: Stores, gate: ChangeGate, model: GuardedModel, uses: Uses) -> ReactDeps:
    from core.agent.loop.deps import ReactDeps

    settings = stores.parts.settings
    return ReactDeps(
        model=model.chat,
        breaker=model.breaker,
        gate=gate,
        search=stores.search,
        knowledge=stores.knowledge,
        skills=stores.skills,
        runs=stores.runs,
        replies=stores.replies,
        journal=stores.journal,
        saver_factory=_saver(stores),
        meter=model.meter,
        max_iterations=settings.react_max_iterations,
        search_limit=settings.search_limit,
        conversations=stores.conversations,
        zone=ZoneInfo(settings.time_zone),
        denies=gate.denies,
        kinds=tuple(own.kind for own in stores.parts.kinds),
        keeps_raw=settings.safety_keep_raw,
        recorded=_recorded(stores),
        lessons=ShownLessons(
            log=stores.lesson_log,
            matches=stores.task_matches,
            uses=uses,
            journal=stores.journal,
            budget=_config(stores).lessons.budget,
            now=utc_now,
        ),
    )


def _polling(
    stores: Stores, react: ReactDeps, sources: Mapping[str, FeedbackSource]
) -> PollingDeps:
    from core.domain.retry_policy import RetryPolicy
    from core.feedback_matcher import MatchDeps
    from core.polling_manager import PollingDeps

    settings = stores.parts.settings
    return PollingDeps(
        inbox=stores.inbox,
        runs=stores.runs,
        agents=stores.agents,
        journal=stores.journal,
        deliveries=stores.deliveries,
        intake=stores.intake,
        sources=sources,
        matching=MatchDeps(
            react.model,
            react.breaker,
            stores.replies,
            meter=react.meter,
            conversations=stores.conversations,
            zone=ZoneInfo(settings.time_zone),
            keeps_raw=settings.safety_keep_raw,
        ),
        react=react,
        retry=RetryPolicy(
            max_attempts=settings.max_attempts,
            base=settings.retry_base_seconds,
            longest=settings.retry_max_seconds,
            jitter=random.random,
        ),
        max_chars=settings.feedback_max_chars,
    )

"""The composition root: settings → adapters → app. Nothing outside this room knows an adapter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from core.adapters.postgres import migrations
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool
from core.agent.budgets import Meter
from core.app.bootstrap.costs import billing
from core.app.bootstrap.health import serve_health, watched
from core.app.bootstrap.learning import build_gates, build_learning, chat_model, close_chat_model
from core.app.bootstrap.model import (
    GuardedModel,
    circuit_breaker,
    intake_pause,
    model_hold,
    open_meaning,
    vector_backlog,
)
from core.app.bootstrap.pods import (
    computer_use,
    mcp_tools,
    sandbox_status,
    serve_computer_use,
    skill_creator,
)
from core.app.bootstrap.sources import ask_supabase, feedback_sources
from core.app.bootstrap.stores import (
    Stores,
    Wrap,
    as_it_is,
    build_stores,
    by_meaning,
    database,
    migrate,
    migration_status,
    new_id,
    serve_skills,
    skill_server,
    skill_store,
    wrapped,
)
from core.app.program import App, Learning, nothing_checked
from core.app.run_summary import RunSummary
from core.app.settings import Settings
from core.changes.gate.change_gate import ChangeGate
from core.domain.observers import all_of, log_event
from core.domain.ports import FeedbackSource

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from core.app.health.health import Health

__all__ = [
    "Wrap",
    "ask_supabase",
    "chat_model",
    "close_chat_model",
    "computer_use",
    "intake_pause",
    "mcp_tools",
    "migrate",
    "migration_status",
    "model_hold",
    "open_app",
    "open_meaning",
    "sandbox_status",
    "serve_computer_use",
    "serve_health",
    "serve_skills",
    "skill_server",
    "skill_store",
    "vector_backlog",
]


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
    """Open the program: database and skill API as settings say, a model where it is asked for.

    `chat` is a model to use instead of the one that settings name; every port goes through
    `wrap`, and so does the saver of ReAct runs. `health` is told of events, and looks at what
    is open. What is embedded is started here, and stopped by the last process to leave.
    Raises ConfigurationError, DatabaseDown.
    """
    async with AsyncExitStack() as stack:
        if model and chat is None:
            chat = chat_model(settings, offline=offline)
            stack.push_async_callback(close_chat_model, chat)
        billed = billing(settings, offline=offline, asks=chat is not None)
        pool = await stack.enter_async_context(_pool(settings))
        url = await stack.enter_async_context(skill_server(settings))
        skills = wrap("skills", await stack.enter_async_context(skill_store(settings, url)))
        creator = (
            await stack.enter_async_context(skill_creator(settings, url, wrap)) if chat else None
        )
        summary = RunSummary()
        observe = all_of(log_event, summary.note, *([health.metrics.observe] if health else []))
        made = build_stores(settings, pool, skills, observe=observe, billed=billed, dry_run=dry_run)
        meaning = await stack.enter_async_context(open_meaning(settings, offline=offline))
        if meaning:
            made = meaning.beside_words(made)
        stores = wrapped(made, wrap)
        breaker = wrap("breaker", circuit_breaker(settings, pool, offline=offline))
        guarded = GuardedModel(chat, breaker, Meter(billed.price, stores.budgets)) if chat else None
        gate, dry_gate = build_gates(settings, stores, guarded, creator, dry_run=dry_run)
        sources: Mapping[str, FeedbackSource] = {}
        if chat:
            sources = await stack.enter_async_context(feedback_sources(settings, stores, wrap))
        if health:
            look = watched(
                settings, stores, url=url, breaker=breaker, sources=sources, summary=summary
            )
            await stack.enter_async_context(health.watching(await stack.enter_async_context(look)))
        learning = (
            build_learning(
                settings,
                stores,
                gate,
                guarded,
                sources=sources,
                summary=summary,
                dry_run=dry_run,
                wrap=wrap,
                backfill=meaning.backfill(made) if meaning and not dry_run else None,
            )
            if guarded
            else None
        )
        yield _app(settings, stores, gate, dry_gate, learning, health)


@asynccontextmanager
async def _pool(settings: Settings) -> AsyncIterator[Pool]:
    """Give a pool on a database whose schemas are up to date."""
    with database(settings) as conninfo:
        if settings.database_url is None:
            await migrations.migrate(conninfo, vectors=by_meaning(settings))
        async with open_pool(conninfo, silence=settings.stalled_after_seconds) as pool:
            await migrations.require_current(pool, vectors=by_meaning(settings))
            yield pool


def _app(
    settings: Settings,
    stores: Stores,
    gate: ChangeGate,
    dry_gate: Callable[[], ChangeGate],
    learning: Learning | None,
    health: Health | None,
) -> App:
    return App(
        inbox=stores.inbox,
        intake=stores.intake,
        runs=stores.runs,
        agents=stores.agents,
        knowledge=stores.knowledge,
        pages=stores.pages,
        past=stores.past,
        lineage=stores.lineage,
        search=stores.search,
        spending=stores.spending,
        budgets=stores.budgets,
        reader=stores.reader,
        feed=stores.feed,
        figures=stores.figures,
        checks=health.checks if health else nothing_checked,
        changes=stores.changes,
        steps=stores.steps,
        duplicate_waiters=stores.duplicate_waiters,
        review_queue=stores.review_queue,
        threads=stores.threads,
        tokens=stores.tokens,
        answers=stores.answers,
        skills=stores.skills,
        gate=gate,
        dry_gate=dry_gate,
        new_id=new_id,
        feedback_max_chars=settings.feedback_max_chars,
        currency=settings.price_currency,
        learning=learning,
    )

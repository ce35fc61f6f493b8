"""What every process has: the database, the skill API, and the stores over them."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

import structlog

from core.adapters.postgres import copying, migrations
from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.answers import PostgresAnswers
from core.adapters.postgres.budgets import PostgresSpending
from core.adapters.postgres.change_log import PostgresChangeLog, PostgresSteps, PostgresTargetLocks
from core.adapters.postgres.conversations import PostgresConversations
from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.feed import PostgresFeed
from core.adapters.postgres.figures import PostgresFigures
from core.adapters.postgres.inbox import PostgresDeliveries, PostgresInbox, PostgresIntake
from core.adapters.postgres.job_sweep import forget_workers
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.knowledge import (
    PostgresKnowledge,
    PostgresKnowledgePages,
    PostgresKnowledgePast,
)
from core.adapters.postgres.lineage import PostgresLineage
from core.adapters.postgres.migrations import refuse_newer as refuse_newer
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.reads import PostgresReader
from core.adapters.postgres.reviews import PostgresReviewQueue, PostgresReviews
from core.adapters.postgres.runs import (
    PostgresJournal,
    PostgresReplies,
    PostgresRetention,
    PostgresRuns,
)
from core.adapters.postgres.scoped_search import ScopedSearch
from core.adapters.postgres.search import PostgresSearch, SkillFollower
from core.adapters.postgres.threads import PostgresThreads
from core.adapters.postgres.tokens import PostgresTokens
from core.agent.prices import UNBILLED, Billing
from core.app.bootstrap.costs import budgets
from core.app.dry_run import DryJournal, DryReplies, DryRuns
from core.app.settings import Settings
from core.domain.models.views import CopiedTable, MigrationStatus
from core.domain.ports import (
    Agents,
    Answers,
    Budgets,
    ChangeLog,
    Conversations,
    Deliveries,
    DuplicateWaiters,
    Feed,
    Figures,
    Inbox,
    Intake,
    Journal,
    Knowledge,
    KnowledgePages,
    KnowledgePast,
    Lineage,
    Observer,
    Ranking,
    Reader,
    Replies,
    Retention,
    ReviewQueue,
    Reviews,
    Runs,
    Search,
    SkillStore,
    Spending,
    Steps,
    TargetLocks,
    Threads,
    Tokens,
)
from core.skill_api_client import open_skill_api

LOOPBACK = "127.0.0.1"
if TYPE_CHECKING:
    from core.adapters.embedded.http_guard import HttpGuard

T = TypeVar("T")


class Wrap(Protocol):
    """Replaces a port by another of the same kind: tests use it to cut off, delay and count."""

    def __call__(self, name: str, port: T, /) -> T:
        """Return what is used in place of `port`, which is called `name`."""


def as_it_is(_name: str, port: T, /) -> T:
    """Return a port unchanged."""
    return port


@dataclass(frozen=True)
class Parts:
    """What the stores are built from."""

    settings: Settings
    pool: Pool
    skills: SkillStore
    observe: Observer
    billed: Billing = UNBILLED
    dry_run: bool = False
    wrap: Wrap = as_it_is


class Stores:
    """Every store of the program, one line each: its port, and the adapter behind it."""

    def __init__(self, parts: Parts) -> None:
        """Build the adapters. Raises ConfigurationError for unreadable budgets."""
        settings, pool, observe, billed = parts.settings, parts.pool, parts.observe, parts.billed
        self.parts = parts
        self.pool = pool
        self.jobs = jobs = Jobs(pool)
        self.skills = parts.skills
        self.inbox: Inbox = PostgresInbox(pool, jobs, new_id, observe)
        self.intake: Intake = PostgresIntake(pool, jobs, observe)
        self.deliveries: Deliveries = PostgresDeliveries(pool)
        self.agents: Agents = PostgresAgents(pool, sets_up_new=settings.setup_new_agents)
        self.runs: Runs = PostgresRuns(pool, new_id)
        self.replies: Replies = PostgresReplies(pool, observe, billed)
        self.spending: Spending = PostgresSpending(pool, billed)
        self.budgets: Budgets = budgets(settings, pool, billed)
        self.retention: Retention = PostgresRetention(pool)
        self.changes: ChangeLog = PostgresChangeLog(pool, observe)
        self.target_locks: TargetLocks = PostgresTargetLocks(pool)
        self.reviews: Reviews = PostgresReviews(pool, observe)
        self.review_queue: ReviewQueue = PostgresReviewQueue(pool)
        self.threads: Threads = PostgresThreads(pool)
        self.steps: Steps = PostgresSteps(pool)
        self.duplicate_waiters: DuplicateWaiters = PostgresDuplicateWaiters(pool)
        self.knowledge: Knowledge = PostgresKnowledge(pool, parts.skills)
        self.pages: KnowledgePages = PostgresKnowledgePages(pool)
        self.past: KnowledgePast = PostgresKnowledgePast(pool)
        self._reads_what_was_said(pool)
        self._searches(pool, parts)
        self.journal: Journal = PostgresJournal(pool, observe, billed)
        self.feed: Feed = PostgresFeed(pool)
        self.figures: Figures = PostgresFigures(pool, stalled_after=settings.stalled_after_seconds)
        self.tokens: Tokens = PostgresTokens(pool)
        self.answers: Answers = PostgresAnswers(pool)
        if parts.dry_run:
            self._keep_nothing()

    def _reads_what_was_said(self, pool: Pool) -> None:
        self.lineage: Lineage = PostgresLineage(pool)
        self.reader: Reader = PostgresReader(pool)
        self.conversations: Conversations = PostgresConversations(pool)

    def _searches(self, pool: Pool, parts: Parts) -> None:
        self.ranking: Ranking = PostgresSearch(pool, _follower(parts))
        self.search: Search = ScopedSearch(self.ranking, pool, utc_now)

    def without_trace(self) -> Stores:
        """Return stores for one dry run: what a gate writes besides its changes is dropped."""
        dry = copy(self)
        dry._keep_nothing()
        return dry

    def _keep_nothing(self) -> None:
        self.runs = DryRuns(new_id)
        self.replies = DryReplies(self.spending)
        self.journal = DryJournal(self.spending)

    def wrapped(self) -> Stores:
        """Return the stores with each port passed through the hook of the parts."""
        made = copy(self)
        for name, port in vars(self).items():
            if name not in {"parts", "pool", "jobs", "skills"}:
                setattr(made, name, self.parts.wrap(name, port))
        return made


def utc_now() -> datetime:
    """Return the time now."""
    return datetime.now(UTC)


def new_id() -> str:
    """Return a new id: unique, and ordered by time."""
    return f"{time.time_ns() // 1_000_000:012x}-{uuid.uuid4().hex[:16]}"


def _follower(parts: Parts) -> SkillFollower | None:
    """Return the follower of skills written by others; a dry run uses the index as it is."""
    if parts.dry_run:
        return None
    every = parts.settings.skill_refresh_seconds
    return SkillFollower(parts.pool, parts.skills, every=every, clock=time.monotonic)


@contextmanager
def database(settings: Settings) -> Iterator[str]:
    """Yield the connection string: `DATABASE_URL`, or that of the embedded server."""
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
        return
    from core.adapters.embedded.postgres import embedded_postgres

    with embedded_postgres(settings.skill_worker_home, on_alone=forget_workers) as uri:
        yield uri


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Pool]:
    """Return a pool on a database whose schemas are up to date."""
    with database(settings) as conninfo:
        if settings.database_url is None:
            await migrations.migrate(conninfo, vectors=by_meaning(settings))
        async with open_pool(conninfo, silence=settings.stalled_after_seconds) as pool:
            await migrations.require_current(pool, vectors=by_meaning(settings))
            yield pool


IN_PROCESS = ""
"""The address of an embedded skill API that listens nowhere: for its own process only."""


@asynccontextmanager
async def skill_server(settings: Settings) -> AsyncIterator[str]:
    """Yield the address of the skill API: the configured one, or an embedded one's."""
    if settings.skill_api_base_url is not None:
        yield settings.skill_api_base_url
        return
    async with _embedded_skills(settings) as url:
        yield url


@asynccontextmanager
async def skill_store(settings: Settings, url: str) -> AsyncIterator[SkillStore]:
    """Yield a client of the skill API."""
    async with open_skill_api(
        url or settings.skill_api_base_url or f"http://{LOOPBACK}",
        _token(settings),
        settings.skill_api_timeout_seconds,
        settings.skill_api_max_retries,
        within=None if url or settings.skill_api_base_url else _skill_app(settings),
    ) as client:
        yield client


@asynccontextmanager
async def _embedded_skills(
    settings: Settings, host: str = LOOPBACK, port: int = 0
) -> AsyncIterator[str]:
    from core.adapters.embedded.http_server import run_server

    async with run_server(_skill_app(settings, host), host, port) as url:
        yield url


def _skill_app(settings: Settings, host: str = LOOPBACK) -> HttpGuard:
    from core.adapters.embedded.http_guard import HttpGuard
    from core.adapters.embedded.skill_server import create_app

    app = create_app(settings.skill_worker_home / "skills")
    return HttpGuard(app, host=host, token=_token(settings), setting="SKILL_API_TOKEN")


def _token(settings: Settings) -> str | None:
    token = settings.skill_api_token
    return token.get_secret_value() if token else None


async def serve_skills(settings: Settings, host: str, port: int, stop: asyncio.Event) -> None:
    """Serve the skill API over the home's folders until `stop` is set.

    Raises ConfigurationError if the address is taken, or open to others without a token.
    """
    async with _embedded_skills(settings, host, port) as url:
        structlog.get_logger(__name__).info("server.started", url=url)
        await stop.wait()


def by_meaning(settings: Settings) -> bool:
    """Whether semantic search is configured, which needs pgvector."""
    return settings.embedding_model is not None


async def migrate(settings: Settings) -> MigrationStatus:
    """Migrate the database's schemas. Raises ConfigurationError, DatabaseDown."""
    with database(settings) as conninfo:
        return await migrations.migrate(conninfo, vectors=by_meaning(settings))


async def migration_status(settings: Settings) -> MigrationStatus:
    """Compare the database's schemas with the code's. Raises DatabaseDown."""
    with database(settings) as conninfo:
        return await migrations.status(conninfo, vectors=by_meaning(settings))


async def copy_database(settings: Settings, to: str) -> list[CopiedTable]:
    """Copy the whole database into the empty one at the URL `to`, and check it.

    Raises Refused, ConfigurationError, DatabaseDown.
    """
    with database(settings) as conninfo:
        if settings.database_url is None:
            await migrations.migrate(conninfo, vectors=by_meaning(settings))
        return await copying.copy_database(
            conninfo,
            to,
            vectors=by_meaning(settings),
            silent_after=settings.stalled_after_seconds,
        )

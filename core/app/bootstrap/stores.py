"""What every process has: the database, the skill API, and the stores over them."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

import structlog

from core.adapters.postgres import copying, migrations
from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.answers import PostgresAnswers
from core.adapters.postgres.audit import PostgresAudit, PostgresCalls
from core.adapters.postgres.budgets import PostgresSpending
from core.adapters.postgres.change_log import PostgresChangeLog, PostgresSteps, PostgresTargetLocks
from core.adapters.postgres.conversations import PostgresConversations
from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.erasing import PostgresErasing
from core.adapters.postgres.feed import PostgresFeed
from core.adapters.postgres.figures import PostgresFigures
from core.adapters.postgres.inbox import PostgresDeliveries, PostgresInbox, PostgresIntake
from core.adapters.postgres.installed import PostgresInstalledSkills
from core.adapters.postgres.job_sweep import forget_workers
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.knowledge import (
    PostgresKnowledge,
    PostgresKnowledgePages,
    PostgresKnowledgePast,
)
from core.adapters.postgres.lessons import PostgresLessonLog
from core.adapters.postgres.lineage import PostgresLineage
from core.adapters.postgres.migrations import refuse_newer as refuse_newer
from core.adapters.postgres.outbox import PostgresDeliveryLog, PostgresOutbox
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.reads import PostgresReader
from core.adapters.postgres.reviews import (
    PostgresReviewQueue,
    PostgresReviews,
    PostgresScreenRecords,
)
from core.adapters.postgres.run_records import PostgresRunRecords
from core.adapters.postgres.runs import (
    PostgresJournal,
    PostgresReplies,
    PostgresRetention,
    PostgresRuns,
)
from core.adapters.postgres.scoped_search import PostgresTaskMatches, ScopedSearch
from core.adapters.postgres.search import PostgresSearch, SkillFollower
from core.adapters.postgres.threads import PostgresThreads
from core.adapters.postgres.tokens import PostgresTokens
from core.adapters.postgres.uses import PostgresEffects, PostgresLookBack, PostgresUseLog
from core.adapters.postgres.write_back import PostgresUnsent, PostgresWriteBackRecords
from core.adapters.publishers.web import WebPublishers
from core.agent.prices import UNBILLED, Billing
from core.app.bootstrap.case_stores import case_stores
from core.app.bootstrap.costs import budgets
from core.app.bootstrap.plugins import STORES, opened
from core.app.config_file import ConfigFile, load_config
from core.app.dry_run import DryJournal, DryKnowledge, DryReplies, DryRuns
from core.app.settings import Settings
from core.changes.outside import OutsideChanges
from core.domain.errors import ConfigurationError
from core.domain.hashing import tenant_token
from core.domain.http_origin import is_loopback
from core.domain.kinds import OwnKind
from core.domain.messages import Message
from core.domain.models.views import CopiedTable, MigrationStatus
from core.domain.observers import nowhere
from core.domain.ports import (
    Agents,
    Answers,
    Audit,
    Budgets,
    Calls,
    ChangeLog,
    Conversations,
    Deliveries,
    DeliveryLog,
    DuplicateWaiters,
    Effects,
    Erasing,
    Feed,
    Figures,
    Inbox,
    InstalledSkills,
    Intake,
    Journal,
    Knowledge,
    KnowledgePages,
    KnowledgePast,
    LessonLog,
    Lineage,
    LookBack,
    Observer,
    Outbox,
    Publishers,
    Ranking,
    Reader,
    Replies,
    Retention,
    ReviewQueue,
    Reviews,
    Routes,
    RunRecords,
    Runs,
    ScreenRecords,
    Search,
    SkillStore,
    Spending,
    Steps,
    TargetLocks,
    TaskMatches,
    Threads,
    Tokens,
    Unsent,
    UseLog,
    WriteBackRecords,
)
from core.safety.plugins import PluginScreens
from core.skill_api_client import open_skill_api

LOOPBACK = "127.0.0.1"
if TYPE_CHECKING:
    from pydantic import SecretStr

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
    routes: Routes = nowhere
    config: ConfigFile | None = None
    kinds: tuple[OwnKind, ...] = ()
    screens: PluginScreens | None = None


class Stores:
    """Every store of the program, one line each: its port, and the adapter behind it."""

    def __init__(self, parts: Parts) -> None:
        """Build the adapters. Raises ConfigurationError for unreadable budgets."""
        settings, pool, observe, billed = parts.settings, parts.pool, parts.observe, parts.billed
        self.parts = parts
        self.pool = pool
        self.jobs = jobs = Jobs(pool)
        self.skills = parts.skills
        self.inbox: Inbox = PostgresInbox(
            pool,
            jobs,
            new_id,
            observe,
            parts.routes,
            keeps_raw=settings.safety_keep_raw,
            mask_more=parts.screens.masked if parts.screens else None,
        )
        self.intake: Intake = PostgresIntake(
            pool, jobs, observe, parts.routes, keeps_raw=settings.safety_keep_raw
        )
        self.agents: Agents = PostgresAgents(
            pool, sets_up_new=settings.setup_new_agents, keeps_raw=settings.safety_keep_raw
        )
        self.runs: Runs = PostgresRuns(pool, new_id)
        self.replies: Replies = PostgresReplies(pool, observe, billed)
        self.spending: Spending = PostgresSpending(pool, billed)
        self.budgets: Budgets = budgets(settings, pool, billed)
        self.retention: Retention = PostgresRetention(pool)
        self._keeps_changes(parts)
        self.target_locks: TargetLocks = PostgresTargetLocks(pool)
        self.reviews: Reviews = PostgresReviews(pool, observe, parts.routes)
        self.review_queue: ReviewQueue = PostgresReviewQueue(pool)
        self.screen_records: ScreenRecords = PostgresScreenRecords(pool, observe)
        self.threads: Threads = PostgresThreads(pool)
        self.steps: Steps = PostgresSteps(pool)
        self.duplicate_waiters: DuplicateWaiters = PostgresDuplicateWaiters(pool)
        self.pages: KnowledgePages = PostgresKnowledgePages(pool)
        self.past: KnowledgePast = PostgresKnowledgePast(pool)
        self._reads_what_was_said(pool, parts)
        self._searches(pool, parts)
        self._sends(parts)
        self.journal: Journal = PostgresJournal(pool, observe, billed, parts.routes)
        self.feed: Feed = PostgresFeed(pool)
        self.figures: Figures = PostgresFigures(pool, stalled_after=settings.stalled_after_seconds)
        self.tokens: Tokens = PostgresTokens(pool)
        self.answers: Answers = PostgresAnswers(pool)
        if parts.dry_run:
            self._keep_nothing()

    def _keeps_changes(self, parts: Parts) -> None:
        pool, observe, routes = parts.pool, parts.observe, parts.routes
        made = case_stores(pool, parts.skills, observe, routes, utc_now)
        self.case_runner, self.cases = made.runner, made.cases
        self.case_upkeep, self.case_figures = made.upkeep, made.figures
        self.changes: ChangeLog = PostgresChangeLog(pool, observe, routes, made.run_on)

    def _sends(self, parts: Parts) -> None:
        self.deliveries: Deliveries = PostgresDeliveries(parts.pool)
        self.outbox: Outbox = PostgresOutbox(parts.pool, parts.observe, parts.routes)
        self.delivery_log: DeliveryLog = PostgresDeliveryLog(parts.pool)
        self.write_back: WriteBackRecords = PostgresWriteBackRecords(parts.pool)
        self.unsent: Unsent = PostgresUnsent(parts.pool)
        self._installs(parts.pool)

    def _installs(self, pool: Pool) -> None:
        self.installed: InstalledSkills = PostgresInstalledSkills(pool)
        self.publishers: Publishers = WebPublishers()

    def _reads_what_was_said(self, pool: Pool, parts: Parts) -> None:
        stored = PostgresKnowledge(pool, parts.skills)
        self.knowledge: Knowledge = DryKnowledge(stored) if parts.dry_run else stored
        self.run_records: RunRecords = PostgresRunRecords(pool)
        self.lineage: Lineage = PostgresLineage(pool)
        self.reader: Reader = PostgresReader(pool)
        self.audit: Audit = PostgresAudit(pool)
        self.calls: Calls = PostgresCalls(pool)
        self.erasing: Erasing = PostgresErasing(pool, new_id, parts.observe, parts.routes)
        self.conversations: Conversations = PostgresConversations(pool)
        self.use_log: UseLog = PostgresUseLog(pool)
        self.effects: Effects = PostgresEffects(pool)
        self.look_back: LookBack = PostgresLookBack(pool)
        self.lesson_log: LessonLog = PostgresLessonLog(pool)

    def _searches(self, pool: Pool, parts: Parts) -> None:
        self.ranking: Ranking = PostgresSearch(pool, self._follower(parts))
        self.search: Search = ScopedSearch(self.ranking, utc_now)
        self.task_matches: TaskMatches = PostgresTaskMatches(pool, utc_now)

    def _follower(self, parts: Parts) -> SkillFollower | None:
        """Return the follower of skills written by others; a dry run uses the index as it is."""
        if parts.dry_run:
            return None
        return SkillFollower(
            parts.pool,
            parts.skills,
            every=parts.settings.skill_refresh_seconds,
            clock=time.monotonic,
            outside=outside_changes(parts.skills, self.changes, self.target_locks),
            keeps_raw=parts.settings.safety_keep_raw,
        )

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


def outside_changes(
    skills: SkillStore, changes: ChangeLog, target_locks: TargetLocks
) -> OutsideChanges:
    """Return what puts on record what others made of skills."""
    return OutsideChanges(skills, changes, target_locks, new_id)


class Database(NamedTuple):
    """The connection strings of a database: a worker's, and its owner's, who migrates it.

    `role` is the worker's, if the owner is to create it.
    """

    worker: str
    owner: str
    role: str | None = None


@contextmanager
def database(settings: Settings) -> Iterator[Database]:
    """Yield where the database is: at `DATABASE_URL`, or the embedded server.

    Raises ConfigurationError, DatabaseDown.
    """
    owner = settings.database_migration_url
    if settings.database_url is not None:
        url = settings.database_url.get_secret_value()
        yield Database(url, owner.get_secret_value() if owner else url)
        return
    if owner is not None:
        raise ConfigurationError(Message("database.no_worker"), hint=Message("database.hint_two"))
    from core.adapters.embedded.postgres import WORKER, embedded_postgres, worker_uri

    with embedded_postgres(settings.skill_worker_home, on_alone=forget_workers) as uri:
        yield Database(worker_uri(uri), uri, WORKER)


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Pool]:
    """Return a pool on a database whose schemas are up to date."""
    with database(settings) as urls:
        if settings.database_url is None:
            await _migrate(settings, urls)
        async with open_pool(urls.worker, silence=settings.stalled_after_seconds) as pool:
            await migrations.require_current(pool, vectors=by_meaning(settings))
            yield pool


async def _migrate(settings: Settings, urls: Database) -> MigrationStatus:
    worker = urls.role
    if worker is None and urls.owner != urls.worker:
        worker = await migrations.role_of(urls.worker)
    return await migrations.migrate(urls.owner, vectors=by_meaning(settings), worker=worker)


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
    """Yield the store of skills: the plug-in that skill-worker.yaml names, or the skill API."""
    chosen = load_config(settings).stores.skills
    if chosen:
        ((name, options),) = chosen.items()
        async with opened(settings, STORES, name, options) as store:
            yield store
        return
    is_own = not url and settings.skill_api_base_url is None
    async with open_skill_api(
        url or settings.skill_api_base_url or f"http://{LOOPBACK}",
        None if is_own else skill_token(settings),
        settings.skill_api_timeout_seconds,
        settings.skill_api_max_retries,
        within=partial(_skill_app, settings) if is_own else None,
    ) as client:
        yield client


@asynccontextmanager
async def _embedded_skills(
    settings: Settings, host: str = LOOPBACK, port: int = 0
) -> AsyncIterator[str]:
    from core.adapters.embedded.http_guard import HttpGuard
    from core.adapters.embedded.http_server import run_server

    app, token = _skill_app(settings), _embedded_token(settings)
    guard = HttpGuard(app, host=host, token=token, setting="SKILL_API_TOKEN")
    async with run_server(guard, host, port) as url:
        yield url


def _skill_app(settings: Settings) -> Callable[..., Awaitable[None]]:
    from core.adapters.embedded.skill_server import create_app

    return create_app(settings.skill_worker_home / "skills")


SKILL_TOKEN_FILE = "skills.token"  # noqa: S105 - the name of a file


def _embedded_token(settings: Settings) -> str:
    """Return the token of the embedded skill server. Raises ConfigurationError."""
    from core.adapters.embedded.home import stored_token

    given = settings.skill_api_token
    if given is not None:
        return given.get_secret_value()
    return stored_token(settings.skill_worker_home, SKILL_TOKEN_FILE, "SKILL_API_TOKEN")


def skill_token(settings: Settings) -> Callable[[str], str] | str | None:
    """Return what the skill API is asked with: for a server of our home, a token per tenant.

    Such a server on loopback is known by the token in the home. Raises ConfigurationError.
    """
    url, given = settings.skill_api_base_url, settings.skill_api_token
    if url is None:
        return tenant_tokens(settings)
    if given is not None:
        return given.get_secret_value()
    found = handed_token(settings, url, SKILL_TOKEN_FILE)
    return cache(partial(tenant_token, found)) if found else None


def tenant_tokens(settings: Settings) -> Callable[[str], str]:
    """Return the function that makes a tenant's token for the embedded skill server.

    Raises ConfigurationError.
    """
    return cache(partial(tenant_token, _embedded_token(settings)))


def handed_token(settings: Settings, url: str, name: str) -> str | None:
    """Return the token that a server on this machine has left in the home, None if it has not."""
    from core.adapters.embedded.home import known_token

    is_near = is_loopback(urlsplit(url).hostname or "")
    return known_token(settings.skill_worker_home, name) if is_near else None


async def serve_skills(settings: Settings, host: str, port: int, stop: asyncio.Event) -> None:
    """Serve the skill API over the home's folders until `stop` is set.

    Raises ConfigurationError if the address is taken, or the token cannot be kept.
    """
    async with _embedded_skills(settings, host, port) as url:
        log_served(settings, url, settings.skill_api_token, SKILL_TOKEN_FILE)
        await stop.wait()


def log_served(settings: Settings, url: str, given: SecretStr | None, name: str) -> None:
    """Log where a server listens, and the file that its token is in unless it was given."""
    where = {} if given else {"token_file": str(settings.skill_worker_home / name)}
    structlog.get_logger(__name__).info("server.started", url=url, **where)


def by_meaning(settings: Settings) -> bool:
    """Whether semantic search is configured, which needs pgvector."""
    return settings.embedding_model is not None


async def migrate(settings: Settings) -> MigrationStatus:
    """Migrate the database's schemas. Raises ConfigurationError, DatabaseDown."""
    with database(settings) as urls:
        return await _migrate(settings, urls)


async def migration_status(settings: Settings) -> MigrationStatus:
    """Compare the database's schemas with the code's. Raises DatabaseDown."""
    with database(settings) as urls:
        return await migrations.status(urls.owner, vectors=by_meaning(settings))


async def copy_database(settings: Settings, to: str) -> list[CopiedTable]:
    """Copy the whole database into the empty one at the URL `to`, and check it.

    Raises Refused, ConfigurationError, DatabaseDown.
    """
    with database(settings) as urls:
        if settings.database_url is None:
            await _migrate(settings, urls)
        return await copying.copy_database(
            urls.owner,
            to,
            vectors=by_meaning(settings),
            silent_after=settings.stalled_after_seconds,
        )

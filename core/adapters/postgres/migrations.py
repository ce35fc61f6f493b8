"""Bring all schemas up to date (ours and those of our libraries), one process at a time."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TypeAlias, cast

import psycopg
from psycopg import errors as pg
from psycopg.rows import DictRow, dict_row

from core.adapters.postgres.queries import (
    SCHEMA_HINT,
    Pool,
    connecting,
    connection,
    sql,
    translated,
)
from core.adapters.postgres.tenants import keep_apart, lacks_rights
from core.domain.errors import ConfigurationError, DatabaseDown
from core.domain.messages import Message
from core.domain.models.views import MigrationStatus, SchemaVersion

CONNECT_SECONDS = 10
LOCK_SECONDS = 120
LOCK_POLL_SECONDS = 0.1
_PGVECTOR_HINT = Message("pgvector.hint_install")
SyncConnection: TypeAlias = psycopg.Connection[DictRow]


async def migrate(
    conninfo: str, *, vectors: bool = False, worker: str | None = None
) -> MigrationStatus:
    """Migrate all schemas and return their status; idempotent and safe to run concurrently.

    With `vectors` also that of semantic search, which needs pgvector. `worker` is the role that
    workers log in with, if that is another one. Raises ConfigurationError if the database is newer
    than the code, lacks pgvector or does not let the role be given its rights, DatabaseDown.
    """
    return await asyncio.to_thread(_migrate, conninfo, vectors, worker)


async def status(conninfo: str, *, vectors: bool = False) -> MigrationStatus:
    """Compare the database with the code, changing nothing. Raises DatabaseDown."""
    return await asyncio.to_thread(_status, conninfo, vectors)


async def role_of(conninfo: str) -> str:
    """Return the role that a connection string logs in as. Raises DatabaseDown."""
    return await asyncio.to_thread(_role_of, conninfo)


def _role_of(conninfo: str) -> str:
    with _connected(conninfo) as conn:
        return str(conn.execute(sql("tenants.me")).fetchall()[0]["login"])


def _status(conninfo: str, vectors: bool) -> MigrationStatus:
    with _connected(conninfo) as conn:
        return _read(conn, vectors)


def _migrate(conninfo: str, vectors: bool, worker: str | None) -> MigrationStatus:
    with _connected(conninfo) as conn:
        if not _read(conn, vectors).up_to_date or lacks_rights(conn, worker):
            with _alone(conn):
                _bring_to_date(conn, conninfo, vectors, worker)
        found = _read(conn, vectors)
        refuse_newer(found)
        return found


def _bring_to_date(conn: SyncConnection, conninfo: str, vectors: bool, worker: str | None) -> None:
    found = _read(conn, vectors)
    refuse_newer(found)
    _migrate_ours(conninfo)
    if not found.procrastinate.up_to_date:
        _migrate_jobs(conn, found.procrastinate.current)
    _migrate_saver(conn)
    if _read(conn, vectors).ours.up_to_date:
        keep_apart(conn, worker)
        _record(conn, TENANTS, tenants_head())
    if found.vectors is not None and not found.vectors.up_to_date:
        _migrate_vectors(conn, found.vectors.current)
        keep_apart(conn, worker)


@contextmanager
def _connected(conninfo: str) -> Iterator[SyncConnection]:
    with connecting():
        opened = psycopg.connect(
            conninfo, autocommit=True, row_factory=dict_row, connect_timeout=CONNECT_SECONDS
        )
    with translated(), opened as conn:
        yield conn


@contextmanager
def _alone(conn: SyncConnection) -> Iterator[None]:
    """Take the migrations' advisory lock for the block.

    It is polled instead of waited for: a waiting statement holds a snapshot, and the saver's
    `CREATE INDEX CONCURRENTLY` waits for all snapshots to end, which would be a deadlock.
    """
    deadline = time.monotonic() + LOCK_SECONDS
    while not conn.execute(sql("migrations.try_lock")).fetchall()[0]["held"]:
        if time.monotonic() > deadline:
            raise DatabaseDown(Message("database.migrating"))
        time.sleep(LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        if not conn.closed:
            conn.execute(sql("migrations.unlock"))


def _read(conn: SyncConnection, vectors: bool) -> MigrationStatus:
    try:
        rows = conn.execute(sql("migrations.versions")).fetchall()
    except pg.UndefinedTable:
        rows = []
    return status_of(rows, vectors=vectors)


def _migrate_ours(conninfo: str) -> None:
    from alembic import command
    from alembic.config import Config
    from sqlalchemy import NullPool, create_engine

    # A creator function takes any libpq connection string, which SQLAlchemy's URLs do not.
    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(conninfo), poolclass=NullPool
    )
    config = Config()
    # "%" begins an interpolation in a ConfigParser.
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
        connection.commit()


def _migrate_jobs(conn: SyncConnection, current: str | None) -> None:
    from procrastinate.schema import SchemaManager

    if current is None:
        if conn.execute(sql("migrations.foreign_jobs")).fetchall()[0]["found"]:
            raise ConfigurationError(Message("database.foreign"), hint=Message("database.hint_own"))
        steps = {jobs_head(): SchemaManager.get_schema()}
    else:
        newer = [path for path in jobs_scripts() if path.name > current]
        steps = {path.name: path.read_text("utf-8") for path in newer}
    for version, script in steps.items():
        # One transaction each: a later script may use an enum value that an earlier one adds.
        with conn.transaction():
            conn.execute(script)
            _record(conn, JOBS, version)


def _migrate_saver(conn: SyncConnection) -> None:
    from langgraph.checkpoint.postgres import PostgresSaver

    # Its setup is idempotent and builds indexes concurrently, which no transaction allows.
    PostgresSaver(cast("psycopg.Connection[dict[str, object]]", conn)).setup()
    _record(conn, SAVER, metadata.version(SAVER))


def _migrate_vectors(conn: SyncConnection, current: str | None) -> None:
    try:
        conn.execute(sql("vectors.extension"))
    except (pg.InsufficientPrivilege, pg.FeatureNotSupported, pg.UndefinedFile) as error:
        said = str(error).splitlines()[0]
        raise ConfigurationError(Message("pgvector.says", why=said), hint=_PGVECTOR_HINT) from error
    seen = conn.execute(sql("vectors.is_visible")).fetchall()[0]
    if not seen["found"]:
        raise ConfigurationError(Message("pgvector.schema"), hint=Message("pgvector.hint_schema"))
    if not seen["compares_signs"]:
        raise ConfigurationError(Message("pgvector.old"), hint=Message("pgvector.hint_update"))
    for path in vector_scripts():
        if current is None or path.stem > current:
            with conn.transaction():
                conn.execute(path.read_text("utf-8"))
                _record(conn, VECTORS, path.stem)


def _record(conn: SyncConnection, component: str, version: str) -> None:
    conn.execute(sql("migrations.record"), {"component": component, "version": version})


SCRIPTS = Path(__file__).parent / "migrations"
OURS, JOBS, SAVER = "skill-worker", "procrastinate", "langgraph-checkpoint-postgres"
VECTORS, TENANTS = "skill-worker-vectors", "skill-worker-tenants"
_POLICIES = 1  # raised when tables get other policies
UPGRADE_HINT = Message("database.hint_upgrade")


async def require_current(pool: Pool, *, vectors: bool = False) -> None:
    """Raise ConfigurationError, saying what to do, if the schema is not the code's.

    `vectors`: semantic search is wanted.
    """
    async with connection(pool) as conn:
        try:
            rows = await (await conn.execute(sql("migrations.versions"))).fetchall()
        except pg.UndefinedTable:
            rows = []
    status = status_of(rows, vectors=vectors)
    refuse_newer(status)
    if not status.up_to_date:
        raise ConfigurationError(Message("database.schema_behind"), hint=SCHEMA_HINT)


def refuse_newer(status: MigrationStatus) -> None:
    """Raise ConfigurationError if the database is newer than the code."""
    if status.newer_than_code:
        raise ConfigurationError(Message("database.schema_ahead"), hint=UPGRADE_HINT)


def status_of(rows: Iterable[Mapping[str, str]], *, vectors: bool = False) -> MigrationStatus:
    """Compare the versions found (`component`, `version`) with those the code needs."""
    found: dict[str, set[str]] = {part: set() for part in (OURS, JOBS, SAVER, VECTORS, TENANTS)}
    for row in rows:
        found.setdefault(row["component"], set()).add(row["version"])
    return MigrationStatus(
        ours=_compare(found[OURS], our_head()),
        procrastinate=_compare(found[JOBS], jobs_head()),
        # Two hosts may run different patch versions: the setup of each version is on record.
        saver=_compare(found[SAVER], metadata.version(SAVER), ordered=False),
        tenants=_compare(found[TENANTS], tenants_head()),
        vectors=_compare(found[VECTORS], vector_scripts()[-1].stem) if vectors else None,
    )


def _compare(found: set[str], head: str, *, ordered: bool = True) -> SchemaVersion:
    current = head if head in found and not ordered else max(found, default=None)
    return SchemaVersion(
        current=current,
        head=head,
        up_to_date=head in found,
        newer_than_code=ordered and current is not None and current > head,
    )


@cache
def our_head() -> str:
    """Return our newest revision: the number its file name begins with."""
    return max(path.name.split("_")[0] for path in (SCRIPTS / "versions").glob("*.sql"))


def tenants_head() -> str:
    """Return the version of the policies, which every table of a schema has."""
    return f"{our_head()}-{_POLICIES}"


@cache
def vector_scripts() -> tuple[Path, ...]:
    """Return the migrations of semantic search, oldest first."""
    return tuple(sorted((SCRIPTS / "vectors").glob("*.sql")))


def jobs_head() -> str:
    """Return the name of Procrastinate's newest migration."""
    return jobs_scripts()[-1].name


@cache
def jobs_scripts() -> tuple[Path, ...]:
    """Return Procrastinate's migrations, oldest first."""
    from procrastinate.schema import SchemaManager

    return tuple(sorted(Path(SchemaManager.get_migrations_path()).glob("*.sql")))

"""Compares the schemas in the database with those the code needs; cheap enough for each start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from psycopg import errors as pg

from core.adapters.postgres.queries import SCHEMA_HINT, Pool, connection, sql
from core.domain.errors import ConfigurationError
from core.domain.messages import Message
from core.domain.models.views import MigrationStatus, SchemaVersion

SCRIPTS = Path(__file__).parent / "migrations"
OURS, JOBS, SAVER = "skill-worker", "procrastinate", "langgraph-checkpoint-postgres"
VECTORS = "skill-worker-vectors"
UPGRADE_HINT = Message(
    "database.hint_upgrade",
    "Upgrade skill-worker on this machine to the version that migrated the database.",
)


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
        raise ConfigurationError(
            Message("database.schema_behind", "The database lacks our current schema."),
            hint=SCHEMA_HINT,
        )


def refuse_newer(status: MigrationStatus) -> None:
    """Raise ConfigurationError if the database is newer than the code."""
    if status.newer_than_code:
        raise ConfigurationError(
            Message(
                "database.schema_ahead", "The database has a newer schema than this program knows."
            ),
            hint=UPGRADE_HINT,
        )


def status_of(rows: Iterable[Mapping[str, str]], *, vectors: bool = False) -> MigrationStatus:
    """Compare the versions found (`component`, `version`) with those the code needs."""
    found: dict[str, set[str]] = {OURS: set(), JOBS: set(), SAVER: set(), VECTORS: set()}
    for row in rows:
        found.setdefault(row["component"], set()).add(row["version"])
    return MigrationStatus(
        ours=_compare(found[OURS], our_head()),
        procrastinate=_compare(found[JOBS], jobs_head()),
        # Two hosts may run different patch versions: the setup of each version is on record.
        saver=_compare(found[SAVER], metadata.version(SAVER), ordered=False),
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

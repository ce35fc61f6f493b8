"""Copy a whole database to another server: every row in one snapshot, checked before it counts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from graphlib import TopologicalSorter
from typing import LiteralString, NamedTuple

import psycopg
from psycopg.sql import SQL, Composed, Identifier

from core.adapters.postgres.migrations import CONNECT_SECONDS, migrate, refuse_newer, status
from core.adapters.postgres.queries import SCHEMA_HINT, connecting, sql, translated
from core.domain.errors import ConfigurationError, DatabaseDown, Refused
from core.domain.messages import Message
from core.domain.models.views import CopiedTable

# What a migration fills: it is the same on both sides.
_BY_MIGRATION = frozenset({"alembic_version", "component_versions", "checkpoint_migrations"})
# As text, rows are the same wherever they are read with these.
_SAME_TEXT = (
    "SET TimeZone TO 'UTC'; SET DateStyle TO 'ISO, YMD'; SET IntervalStyle TO 'postgres';"
    " SET extra_float_digits TO 1; SET bytea_output TO 'hex'; SET xmlbinary TO 'base64'"
)


class _Table(NamedTuple):
    name: str
    columns: tuple[str, ...]
    is_forced: bool


async def copy_database(
    source: str, target: str, *, vectors: bool, silent_after: float
) -> list[CopiedTable]:
    """Copy all rows of `source` into an empty database `target`; return the rows of each table.

    The target is migrated first, and written in one transaction, which commits only once every
    table has the same rows on both sides. The source must be at rest: raises Refused while a worker
    has given a sign of life within `silent_after` seconds, or if the target has rows already.
    Raises ConfigurationError, DatabaseDown.
    """
    found = await status(source, vectors=vectors)
    refuse_newer(found)
    if not found.up_to_date:
        raise ConfigurationError(Message("database.schema_behind"), hint=SCHEMA_HINT)
    try:
        await migrate(target, vectors=vectors)
    except (ConfigurationError, DatabaseDown) as error:
        is_unset = error.hint == Message("database.hint_down")  # which speaks of DATABASE_URL
        hint = Message("copy.hint_target") if is_unset else error.hint
        raise type(error)(Message("copy.target", why=error.message), hint=hint) from error
    return await asyncio.to_thread(_copy, source, target, silent_after)


def _copy(source: str, target: str, silent_after: float) -> list[CopiedTable]:
    with _opened(source) as here, _opened(target) as there:
        here.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        _refuse_same(here, there)
        _refuse_blind(here)
        _refuse_workers(here, silent_after)
        tables = _tables(here)
        _refuse_rows(there, tables)
        for table in tables:
            _copy_table(here, there, table)
        _copy_sequences(here, there)
        return [_checked(here, there, table) for table in tables]


@contextmanager
def _opened(conninfo: str) -> Iterator[psycopg.Connection]:
    with connecting():
        opened = psycopg.connect(conninfo, connect_timeout=CONNECT_SECONDS, autocommit=True)
    with translated(), opened as conn:
        conn.execute(_SAME_TEXT)
        with conn.transaction():
            yield conn


def _refuse_same(here: psycopg.Connection, there: psycopg.Connection) -> None:
    """Raise Refused if both are one database: a lock of one is held against the other."""
    here.execute(sql("copying.mark"))
    if not _one(there, "copying.is_free"):
        raise Refused(Message("copy.same"), hint=Message("copy.hint_other"))


def _refuse_workers(here: psycopg.Connection, silent_after: float) -> None:
    alive = _one(here, "copying.workers", silent_after=silent_after)
    if alive:
        raise Refused(Message("copy.workers", n=alive), hint=Message("copy.hint_stop"))


def _refuse_blind(here: psycopg.Connection) -> None:
    """Raise Refused if the role sees one tenant's rows at most: only the owner sees all."""
    if not _one(here, "copying.sees_all"):
        raise Refused(Message("copy.not_owner"), hint=Message("copy.hint_owner"))


def _tables(conn: psycopg.Connection) -> list[_Table]:
    """Return the tables with their columns, those that others refer to first."""
    rows = conn.execute(sql("copying.tables")).fetchall()
    tables = {name: _Table(name, tuple(columns), forced) for name, columns, forced in rows}
    order: TopologicalSorter[str] = TopologicalSorter(dict.fromkeys(tables, ()))
    for name, of_name in conn.execute(sql("copying.references")).fetchall():
        order.add(name, of_name)
    return [tables[name] for name in order.static_order() if name not in _BY_MIGRATION]


def _refuse_rows(there: psycopg.Connection, tables: list[_Table]) -> None:
    for table in tables:
        query = SQL("SELECT EXISTS (SELECT FROM {})").format(Identifier(table.name))
        row = there.execute(query).fetchone()
        if row and row[0]:
            raise Refused(
                Message("copy.not_empty", table=table.name), hint=Message("copy.hint_new")
            )


def _copy_table(here: psycopg.Connection, there: psycopg.Connection, table: _Table) -> None:
    # Triggers would write again what they wrote in the source; foreign keys are checked. Rows do
    # not come in by COPY past policies, which are in force for the owner as well.
    _alter(there, table, "DISABLE TRIGGER USER")
    if table.is_forced:
        _alter(there, table, "NO FORCE ROW LEVEL SECURITY")
    name, columns = Identifier(table.name), SQL(", ").join(map(Identifier, table.columns))
    with (
        here.cursor().copy(SQL("COPY {} ({}) TO STDOUT").format(name, columns)) as rows,
        there.cursor().copy(SQL("COPY {} ({}) FROM STDIN").format(name, columns)) as into,
    ):
        for row in rows:
            into.write(row)
    _alter(there, table, "ENABLE TRIGGER USER")
    if table.is_forced:
        _alter(there, table, "FORCE ROW LEVEL SECURITY")


def _alter(conn: psycopg.Connection, table: _Table, what: LiteralString) -> None:
    conn.execute(SQL("ALTER TABLE {} ").format(Identifier(table.name)) + SQL(what))


def _copy_sequences(here: psycopg.Connection, there: psycopg.Connection) -> None:
    for (name,) in here.execute(sql("copying.sequences")).fetchall():
        query = SQL("SELECT last_value, is_called FROM {}").format(Identifier(name))
        row = here.execute(query).fetchone()
        assert row is not None
        there.execute(sql("copying.set_sequence"), {"name": name, "at": row[0], "called": row[1]})


def _checked(here: psycopg.Connection, there: psycopg.Connection, table: _Table) -> CopiedTable:
    """Return the number of rows. Raises DatabaseDown if the two sides differ."""
    query = _digest(table)
    mine, theirs = here.execute(query).fetchone(), there.execute(query).fetchone()
    if mine != theirs or mine is None:
        raise DatabaseDown(
            Message("copy.differs", table=table.name), hint=Message("copy.hint_again")
        )
    return CopiedTable(table=table.name, rows=mine[0])


def _digest(table: _Table) -> Composed:
    """Return the query for the number of rows and the sum of their hashes."""
    columns = SQL(", ").join(map(Identifier, table.columns))
    return SQL(
        "SELECT count(*), coalesce(sum(hashtextextended(ROW({})::text, 0)::numeric), 0) FROM {}"
    ).format(columns, Identifier(table.name))


def _one(conn: psycopg.Connection, block: str, **params: object) -> int:
    row = conn.execute(sql(block), params).fetchone()
    assert row is not None
    return int(row[0])

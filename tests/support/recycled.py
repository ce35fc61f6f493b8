"""Copies of the template that tests use one after another: emptied, never one that was altered.

A copy takes forty times as long as emptying one over a connection that has done it before
(measured: 260 ms and 6 ms; 48 ms over a new one). A test sees no difference: no rows, sequences
at their start, nobody else at work. What a test has altered beyond its rows is dropped after it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import psycopg

from tests.support.databases import create_database, drop_database, of_worker

_END_OTHERS = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""

# Every row of the catalogue that belongs to the schema; statistics change what the planner does.
_CATALOGUE = """
WITH rooms AS (
  SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
), relations AS (
  SELECT xmin, * FROM pg_class WHERE relnamespace IN (SELECT oid FROM rooms)
)
SELECT
  (SELECT array[count(*), sum(oid::bigint), sum(xmin::text::bigint), sum(relfilenode::bigint),
                sum(reltuples)::bigint] FROM relations),
  (SELECT array[count(*), sum(xmin::text::bigint)] FROM pg_attribute
   WHERE attrelid IN (SELECT oid FROM relations)),
  (SELECT array[count(*), sum(xmin::text::bigint)] FROM pg_proc
   WHERE pronamespace IN (SELECT oid FROM rooms)),
  (SELECT array[count(*), sum(xmin::text::bigint)] FROM pg_trigger
   WHERE tgrelid IN (SELECT oid FROM relations)),
  (SELECT array[count(*), sum(xmin::text::bigint)] FROM pg_constraint
   WHERE connamespace IN (SELECT oid FROM rooms)),
  (SELECT array[count(*), sum(xmin::text::bigint)] FROM pg_index
   WHERE indrelid IN (SELECT oid FROM relations)),
  (SELECT array_agg(extname ORDER BY extname) FROM pg_extension),
  (SELECT array_agg(nspname || coalesce(nspacl::text, '') ORDER BY nspname) FROM pg_namespace),
  (SELECT count(*) FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
   WHERE d.datname = current_database()),
  (SELECT coalesce(datacl::text, '') FROM pg_database WHERE datname = current_database())
"""
_TABLES = """
SELECT oid::regclass::text FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1
"""
_RESTART = """
SELECT setval(seqrelid, seqstart, false) FROM pg_sequence
WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
"""
_LARGE = 4 << 20  # bytes of a table: emptying it would take longer than another copy

_ENDING_SECONDS = 5.0

# No trigger and no foreign key. Whoever changes it in a session loses all plans of that session: to
# plan anew what looks at each table took a third of the server's time for a test.
_NO_TRIGGERS = "-c session_replication_role=replica"

_Keeper = psycopg.Connection[tuple[Any, ...]]


class _Copy(NamedTuple):
    """A copy of the template, and the connection that empties it."""

    conninfo: str
    keeper: _Keeper


class _Made(NamedTuple):
    """How a copy of the template looks: its schema, the tables without rows, all other rows."""

    catalogue: object
    empty: Sequence[str]
    filled: Mapping[str, object]


class RecycledDatabases:
    """The copies that one process uses; `close` drops them."""

    def __init__(self, server: str, template: str) -> None:
        self._server = server
        self._template = template
        self._idle: list[_Copy] = []
        self._made: _Made | None = None

    @contextmanager
    def one(self) -> Iterator[str]:
        """Yield the connection string of a migrated, empty database."""
        copy = self._idle.pop() if self._idle else self._copy()
        if self._made is None:
            self._made = _look(copy.keeper)
        try:
            yield of_worker(copy.conninfo)
        finally:
            if _empty(copy.keeper, self._made):
                self._idle.append(copy)
            else:
                self._drop(copy)

    def close(self) -> None:
        """Drop the copies that no test uses."""
        while self._idle:
            self._drop(self._idle.pop())

    def _copy(self) -> _Copy:
        conninfo = create_database(self._server, self._template)
        return _Copy(conninfo, psycopg.connect(conninfo, autocommit=True, options=_NO_TRIGGERS))

    def _drop(self, copy: _Copy) -> None:
        copy.keeper.close()
        drop_database(self._server, copy.conninfo)


def _empty(keeper: _Keeper, made: _Made) -> bool:
    """Empty a database; False if it cannot be restored to the template."""
    try:
        if not _end_others(keeper) or _catalogue(keeper) != made.catalogue:
            return False
        with_rows = _with_rows(keeper, made.empty)
        sizes = [_one(keeper, "SELECT pg_relation_size(%s)", name) for name in with_rows]
        if any(size > _LARGE for size in sizes):
            return False
        _delete_rows(keeper, with_rows)
        return _rows(keeper, made.filled) == made.filled
    except psycopg.Error:
        return False


def _end_others(keeper: _Keeper) -> bool:
    """End all other sessions; False if some remain or return."""
    # They are nearly always about to end, within a millisecond or two. To let the server wait for
    # them (`pg_terminate_backend(pid, 5000)`) takes it 100, at half of the tests.
    until = time.monotonic() + _ENDING_SECONDS
    while keeper.execute(_END_OTHERS).fetchone():
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


def _delete_rows(keeper: _Keeper, tables: Sequence[str]) -> None:
    with keeper.transaction():
        for name in tables:
            keeper.execute(f"DELETE FROM {name}")
        keeper.execute(_RESTART)


def _look(keeper: _Keeper) -> _Made:
    names = [str(name) for (name,) in keeper.execute(_TABLES)]
    filled = _rows(keeper, _with_rows(keeper, names))
    return _Made(_catalogue(keeper), [name for name in names if name not in filled], filled)


def _catalogue(keeper: _Keeper) -> object:
    return keeper.execute(_CATALOGUE).fetchone()


def _with_rows(keeper: _Keeper, tables: Sequence[str]) -> Sequence[str]:
    """Return which of the tables have rows: one look at each, not a scan of all."""
    looks = ", ".join(f"EXISTS (SELECT FROM {name})" for name in tables)
    found = keeper.execute(f"SELECT {looks}").fetchone() or ()
    return [name for name, has_rows in zip(tables, found, strict=True) if has_rows]


def _rows(keeper: _Keeper, tables: Iterable[str]) -> Mapping[str, object]:
    return {
        name: _one(keeper, f"SELECT array_agg(t::text ORDER BY t::text) FROM {name} t")
        for name in tables
    }


def _one(keeper: _Keeper, statement: str, *values: str) -> Any:
    (found,) = keeper.execute(statement, values or None).fetchone() or (None,)
    return found

"""Runs named SQL blocks, which live in `sql/*.sql`."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from typing import LiteralString, TypeAlias
from weakref import WeakKeyDictionary

from psycopg import AsyncConnection
from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from core.adapters.postgres.errors import translated

Connection: TypeAlias = AsyncConnection[DictRow]
Pool: TypeAlias = AsyncConnectionPool[Connection]

# The limit of concurrent `writing` blocks, by pool.
_WRITERS: WeakKeyDictionary[Pool, asyncio.Semaphore] = WeakKeyDictionary()
_HEADER = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def sql(name: str) -> LiteralString:
    """Return the block `file.block`, which `-- name: block` begins in `file.sql`."""
    file, block = name.split(".")
    return _blocks(file)[block]


async def fetch_one(pool: Pool, name: str, /, **params: object) -> DictRow | None:
    """Run a block and return its first row, or None."""
    async with connection(pool) as conn:
        return await (await conn.execute(sql(name), params)).fetchone()


async def fetch_all(pool: Pool, name: str, /, **params: object) -> list[DictRow]:
    """Run a block and return its rows."""
    async with connection(pool) as conn:
        return await (await conn.execute(sql(name), params)).fetchall()


async def execute(pool: Pool, name: str, /, **params: object) -> int:
    """Run a block and return the number of affected rows."""
    async with connection(pool) as conn:
        return (await conn.execute(sql(name), params)).rowcount


def joined(texts: Iterable[str]) -> str:
    """Join texts without line breaks, for `string_to_array(…, E'\\n')`.

    Passing a list costs the driver a call per element, which matters for hundreds of them.
    """
    return "\n".join(texts)


@asynccontextmanager
async def connection(pool: Pool) -> AsyncIterator[Connection]:
    """Borrow a connection in autocommit mode, with its errors translated."""
    with translated():
        async with pool.connection() as conn:
            try:
                yield conn
            except (pg.FeatureNotSupported, pg.InvalidSqlStatementName):
                await conn.close()  # its prepared statements stay invalid; the pool opens another
                raise


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncIterator[Connection]:
    """Borrow a connection inside a transaction that rolls back on any error."""
    async with connection(pool) as conn, conn.transaction():
        yield conn


@asynccontextmanager
async def writing(pool: Pool) -> AsyncIterator[Connection]:
    """Borrow a connection inside a transaction, like `transaction`, from half of the pool.

    Writers wait for each other, for locks and for the disk; readers must not have to wait for them.
    They are not pipelined: a worker suspended in the middle of a pipeline counts as active, so that
    no timeout of PostgreSQL ever releases its locks.
    """
    few = _WRITERS.setdefault(pool, asyncio.Semaphore(max(1, pool.max_size // 2)))
    async with few, transaction(pool) as conn:
        yield conn


@cache
def _blocks(file: str) -> Mapping[str, LiteralString]:
    text = (resources.files("core.adapters.postgres") / "sql" / f"{file}.sql").read_text("utf-8")
    _, *parts = _HEADER.split(text)
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}

"""SQL lives in `sql/*.sql` as named blocks; this finds a block and runs it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from importlib import resources
from typing import LiteralString, TypeAlias
from weakref import WeakKeyDictionary

from psycopg import AsyncConnection
from psycopg import errors as pg
from psycopg.rows import DictRow
from psycopg_pool import AsyncConnectionPool

from core.postgres.errors import translated

Connection: TypeAlias = AsyncConnection[DictRow]
Pool: TypeAlias = AsyncConnectionPool[Connection]

# How many may be inside of `pipelined` at once, by pool.
_WRITERS: WeakKeyDictionary[Pool, asyncio.Semaphore] = WeakKeyDictionary()
_HEADER = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


def sql(name: str) -> LiteralString:
    """Give the block `name`, written `file.block`: `-- name: block` begins it in `file.sql`."""
    file, block = name.split(".")
    return _blocks(file)[block]


async def fetch_one(pool: Pool, name: str, /, **params: object) -> DictRow | None:
    """Run a block and give its first row, or None."""
    async with connection(pool) as conn:
        return await (await conn.execute(sql(name), params)).fetchone()


async def fetch_all(pool: Pool, name: str, /, **params: object) -> list[DictRow]:
    """Run a block and give its rows."""
    async with connection(pool) as conn:
        return await (await conn.execute(sql(name), params)).fetchall()


async def execute(pool: Pool, name: str, /, **params: object) -> int:
    """Run a block and give the number of rows it touched."""
    async with connection(pool) as conn:
        return (await conn.execute(sql(name), params)).rowcount


@asynccontextmanager
async def connection(pool: Pool) -> AsyncIterator[Connection]:
    """Lend a connection in autocommit, with its errors translated."""
    with translated():
        async with pool.connection() as conn:
            try:
                yield conn
            except (pg.FeatureNotSupported, pg.InvalidSqlStatementName):
                await conn.close()  # what is prepared on it stays wrong; the pool opens another
                raise


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncIterator[Connection]:
    """Lend a connection inside a transaction that rolls back on any error."""
    async with connection(pool) as conn, conn.transaction():
        yield conn


@asynccontextmanager
async def pipelined(pool: Pool) -> AsyncIterator[Connection]:
    """Lend a connection inside a transaction that waits for no answer that nobody reads.

    What fails is told at the next answer that is read, or at the end: then it rolls back. Of a
    statement without rows there is no count: let it return some. Such transactions wait for each
    other, for locks and for the disk: they take half of the pool, so that whoever reads need not
    wait for them.
    """
    few = _WRITERS.setdefault(pool, asyncio.Semaphore(max(1, pool.max_size // 2)))
    async with few, connection(pool) as conn, conn.pipeline(), conn.transaction():
        yield conn


@cache
def _blocks(file: str) -> Mapping[str, LiteralString]:
    text = (resources.files("core.postgres") / "sql" / f"{file}.sql").read_text("utf-8")
    _, *parts = _HEADER.split(text)
    return {name: body.strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}

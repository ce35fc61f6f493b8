"""How long a search and an insert take, at 1,000, 10,000 and 100,000 items."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, quantiles

from core.adapters.embedded.postgres import embedded_postgres
from core.adapters.postgres.migrations import migrate
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool, connection, transaction
from core.adapters.postgres.search import PostgresSearch, drop_document, index_document
from core.knowledge.search.documents import SearchDocument
from tests.benchmarks.search_load import load
from tests.benchmarks.search_sets import AGENT, TENANT
from tests.benchmarks.search_texts import Texts
from tests.benchmarks.server_load import process_cpu, server_cpu
from tests.benchmarks.table import Figure

SIZES = (1_000, 10_000, 100_000)
QUERIES = 400
INSERTS = 200
TARGET_MS = 25.0
SEEN_MS = 100.0
GROWTH = 2.0
MIB = 1024 * 1024


@dataclass(frozen=True)
class Measured:
    """At one number of items: milliseconds per search, insert and visibility, CPU, and bytes."""

    items: int
    searches: list[float]
    search_cpu: float
    inserts: list[float]
    insert_cpu: float
    seen: list[float]
    taken: int
    loading: float


async def measure() -> list[Figure]:
    """Grow one tenant to 100,000 items; one agent searches, one query after another."""
    measured: list[Measured] = []
    texts = Texts()
    async with _database() as (home, pool, other):
        there = 0
        for size in SIZES:
            begun = time.perf_counter()
            await load(pool, [*texts.items(size - there, there)])
            there = size
            loading = time.perf_counter() - begun
            measured.append(await _at(size, loading, home, pool, other))
            _show(measured[-1])
    return _figures(measured)


async def _at(size: int, loading: float, home: Path, pool: Pool, other: Pool) -> Measured:
    search = PostgresSearch(pool, None)
    asking = Texts(seed=7)
    for _ in range(30):  # warms connections, plans, caches
        await _search(search, asking.query())
    before = _cpu(home)
    searches = [await _search(search, asking.query()) for _ in range(QUERIES)]
    search_cpu = (_cpu(home) - before) / QUERIES
    new = [*Texts(seed=11).items(INSERTS, 10_000_000)]
    before = _cpu(home)
    inserts = [await _insert(pool, document) for document in new]
    insert_cpu = (_cpu(home) - before) / INSERTS
    seen = [await _seen(pool, PostgresSearch(other, None), number) for number in range(30)]
    for document in new:
        async with connection(pool) as conn:
            await drop_document(conn, TENANT, document.kind, document.item_id)
    return Measured(
        size, searches, search_cpu, inserts, insert_cpu, seen, await _taken(pool), loading
    )


async def _search(search: PostgresSearch, query: str) -> float:
    begun = time.perf_counter()
    await search.search(query, tenant_id=TENANT, agent_id=f"{AGENT}-1", kind=None, limit=5)
    return (time.perf_counter() - begun) * 1000


async def _insert(pool: Pool, document: SearchDocument) -> float:
    begun = time.perf_counter()
    async with transaction(pool) as conn:
        await index_document(conn, document)
    return (time.perf_counter() - begun) * 1000


async def _seen(pool: Pool, search: PostgresSearch, number: int) -> float:
    """Insert an item; return the time from its commit until other connections find it."""
    word = f"zqx{number}zz"
    document = next(Texts(seed=number).items(1, 20_000_000 + number))
    document = document.model_copy(update={"content": f"{word} {document.content}"})
    await _insert(pool, document)
    begun = time.perf_counter()
    while not await search.search(word, tenant_id=TENANT, agent_id=None, kind=None, limit=1):
        pass
    waited = (time.perf_counter() - begun) * 1000
    async with connection(pool) as conn:
        await drop_document(conn, TENANT, document.kind, document.item_id)
    return waited


async def _taken(pool: Pool) -> int:
    async with connection(pool) as conn:
        rows = await conn.execute(
            "SELECT pg_total_relation_size('search_documents')"
            " + pg_total_relation_size('search_postings')"
            " + pg_total_relation_size('search_sizes') AS taken"
        )
        found = await rows.fetchone()
    assert found is not None
    return int(found["taken"])


@asynccontextmanager
async def _database() -> AsyncIterator[tuple[Path, Pool, Pool]]:
    with (
        tempfile.TemporaryDirectory(prefix="skill-worker-bench-") as home,
        embedded_postgres(Path(home)) as uri,
    ):
        await migrate(uri)
        async with open_pool(uri) as pool, open_pool(uri) as other:
            yield Path(home), pool, other


def _cpu(home: Path) -> float:
    """Return the CPU milliseconds so far, of PostgreSQL and of this process."""
    return (server_cpu(home) + process_cpu([os.getpid()])) * 1000


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def _show(m: Measured) -> None:
    print(
        f"  {m.items:,} items: loaded in {m.loading:.0f} s, search p50 {median(m.searches):.1f}"
        f" p95 {_p95(m.searches):.1f} ms, insert {mean(m.inserts):.1f} ms",
        file=sys.stderr,
        flush=True,
    )


def _figures(measured: list[Measured]) -> list[Figure]:
    last, first = measured[-1], measured[0]
    figures = [
        Figure(
            f"search: {m.items:,} items",
            f"p50 {median(m.searches):.1f} ms, p95 {_p95(m.searches):.1f} ms,"
            f" CPU {m.search_cpu:.1f} ms",
            f"{TARGET_MS:.0f} ms; {m.taken / MIB:,.0f} MB on disk,"
            f" {m.taken / m.items / 1024:.1f} KB an item",
            _p95(m.searches) / TARGET_MS,
            at_most=1 if m is last else None,
        )
        for m in measured
    ]
    figures += [
        Figure(
            f"search: put one item in, {m.items:,} there",
            f"mean {mean(m.inserts):.2f} ms, CPU {m.insert_cpu:.2f} ms",
            f"{mean(first.inserts):.2f} ms, CPU {first.insert_cpu:.2f} ms at {first.items:,}",
            m.insert_cpu / first.insert_cpu,
            at_most=GROWTH if m is last else None,
        )
        for m in measured
    ]
    seen = _p95(last.seen)
    return [
        *figures,
        Figure(
            f"search: from commit to found by another connection, {last.items:,} items",
            f"p95 {seen:.1f} ms",
            f"{SEEN_MS:.0f} ms",
            seen / SEEN_MS,
            at_most=1,
        ),
    ]

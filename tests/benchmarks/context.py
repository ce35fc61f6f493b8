"""How long a context takes at 100,000 items, against the bare search of the same tasks.

A task is one sentence, as the queries of the other searches (up to 20 tokens), or three (some 90).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from statistics import median, quantiles

from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.scoped_search import PostgresTaskMatches
from core.adapters.postgres.search import PostgresSearch
from core.adapters.postgres.vectors import PostgresVectors
from core.agent.local_embeddings import local_vectors
from core.domain.models import Agent, Kind
from core.knowledge.context.rendering import render
from core.knowledge.context.selection import select
from core.knowledge.search.documents import SearchDocument
from tests.benchmarks import meaning
from tests.benchmarks.search_database import database
from tests.benchmarks.search_latency import DIMENSION
from tests.benchmarks.search_load import load
from tests.benchmarks.search_meaning import WITH_MEANING, fused, local_model
from tests.benchmarks.search_sets import AGENT, TENANT
from tests.benchmarks.search_texts import Texts
from tests.benchmarks.table import Figure

SIZE = 100_000
SHORT = 2_000
TASKS = 200
WARMING = 20
BUDGET = 1_500
SENTENCES = (1, 3)
WORDS_MS, MEANING_MS = 35.0, 80.0
_VERSIONS = """
INSERT INTO knowledge_versions (
    item_id, version, kind, tenant_id, agent_id, name, name_key, content, hash, same_key, change_id)
SELECT item_id, 1, kind, tenant_id, agent_id, name, item_id, content, '', item_id, ''
FROM search_documents WHERE kind <> 'SKILL'
"""
Asking = Callable[[str], Awaitable[object]]


async def measure() -> list[Figure]:
    """Measure at 100,000 items."""
    return await at(SIZE, TASKS)


async def at(size: int, count: int) -> list[Figure]:
    """Measure contexts of `count` tasks, by words, and by meaning where the model can run.

    The vectors of documents are random, as embedding them would take an hour.
    """
    async with database(vectors=True) as pool:
        agent = await _fill(pool, [*Texts().items(size)])
        asked = {number: _tasks(number, count + WARMING) for number in SENTENCES}
        words = PostgresSearch(pool, None)

        async def search(task: str) -> object:
            return await words.search(task, tenant_id=TENANT, agent_id=agent.id, kind=None, limit=5)

        by_words = _asking(PostgresTaskMatches(pool, _now), agent)
        figures = await _figures("by words", size, by_words, search, asked, WORDS_MS)
        async with local_model() as model:
            if model is None:
                return figures
            vectors = PostgresVectors(pool, local_vectors())
            await vectors.enlist()
            await vectors.begin(DIMENSION, 0.0)
            await meaning.fill(pool, size, DIMENSION)
            both = fused(pool, vectors, model)
            by_both = _asking(PostgresTaskMatches(pool, _now, both.meant), agent)
            both_ways = await _figures(WITH_MEANING, size, by_both, search, asked, MEANING_MS)
            return [*figures, *both_ways]


def _tasks(sentences: int, count: int) -> list[str]:
    asking = Texts(seed=17)
    return [" ".join(asking.query() for _ in range(sentences)) for _ in range(count)]


async def _fill(pool: Pool, documents: Sequence[SearchDocument]) -> Agent:
    await load(pool, documents)
    async with connection(pool) as conn:
        await conn.execute(_VERSIONS.encode())
        await conn.execute(b"ANALYZE knowledge_versions")
    skills = [one.item_id for one in documents if one.kind is Kind.SKILL]
    return Agent(id=f"{AGENT}-1", tenant_id=TENANT, name="a", skills=tuple(skills[:20]))


def _asking(matches: PostgresTaskMatches, agent: Agent) -> Asking:
    async def ask(task: str) -> object:
        return render(select(task, await matches.find(task, agent, user=None)), BUDGET)

    return ask


async def _both(
    context: Asking, search: Asking, asked: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of each, task by task by turns, so that one load bears on both."""
    taken: tuple[list[float], list[float]] = ([], [])
    for number, task in enumerate(asked):
        for ask, times in zip((context, search), taken, strict=True):
            begun = time.perf_counter()
            await ask(task)
            if number >= WARMING:
                times.append((time.perf_counter() - begun) * 1_000)
    return taken


async def _figures(
    name: str,
    size: int,
    context: Asking,
    search: Asking,
    asked: Mapping[int, Sequence[str]],
    target: float,
) -> list[Figure]:
    figures = []
    for number, tasks in asked.items():
        title = f"{name}, {number} sentence{'s' * (number > 1)} a task"
        figures.append(_figure(title, size, await _both(context, search, tasks), target))
    return figures


def _figure(name: str, size: int, taken: tuple[list[float], list[float]], target: float) -> Figure:
    ours, bare = taken
    print(f"  {name}: p50 {median(ours):.1f} ms", file=sys.stderr, flush=True)
    return Figure(
        f"context {name}: {size:,} items",
        f"p50 {median(ours):.1f} ms, p95 {_p95(ours):.1f} ms",
        f"{target:.0f} ms; the bare search by words p50 {median(bare):.1f}"
        f" p95 {_p95(bare):.1f} ms: {median(ours) / median(bare):.1f} times",
        _p95(ours) / target,
        at_most=1,
    )


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def _now() -> datetime:
    return datetime.now(UTC)

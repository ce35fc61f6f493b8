"""How long a nearest-neighbour search takes, and whether the sign index loses relevant vectors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from core.adapters.embedded.postgres import embedded_postgres
from core.adapters.postgres.migrations import migrate
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Connection, Pool, connection
from core.adapters.postgres.vectors import PostgresVectors
from core.domain.models.vectors import Vector
from core.knowledge.search.vectors import unit
from tests.benchmarks.table import Figure

SIZES = (1_000, 10_000, 100_000)
DIMENSIONS = (384, 1_536)
QUERIES = 40
WANTED = 10
MOST_MS = 50.0
MODEL = "benchmark"
# As models do, all vectors share a component; those of one subject, twenty each, share another.
_RANDOM = (
    "(SELECT array_agg(random() - 0.5 + 0 * (i + {seed})) FROM generate_series(1, {dimension}) i)"
)
_DOCUMENTS = """
INSERT INTO search_models (name, dimension) VALUES ('benchmark', {dimension});
INSERT INTO search_documents (tenant_id, kind, item_id, name, content)
    SELECT 't', 'MEMORY', n, 'name', 'content' FROM generate_series(1, {size}) n;
"""
_VECTORS = """
CREATE TEMP TABLE shared AS SELECT 1 AS id, {random_1}::vector AS v;
CREATE TEMP TABLE subjects AS
    SELECT n AS id, {random_n}::vector + (SELECT v FROM shared) AS v
    FROM generate_series(1, {subjects}) n;
CREATE UNIQUE INDEX ON subjects (id);
CREATE TEMP TABLE made AS
    SELECT s.document_id, s.model_id,
           l2_normalize({random_d}::vector + (SELECT v FROM subjects
               WHERE id = 1 + s.document_id % {subjects})) AS v
    FROM search_signs s;
UPDATE search_signs s SET signs = binary_quantize(m.v)::bit varying
    FROM made m WHERE m.document_id = s.document_id;
INSERT INTO search_vectors SELECT document_id, model_id, v FROM made;
VACUUM ANALYZE search_signs;
ANALYZE search_vectors;
"""
_QUERY = """
SELECT (l2_normalize({random_n}::vector + (SELECT v FROM subjects WHERE id = n)))::text AS v
FROM generate_series(1, {queries}) n
"""


async def measure() -> list[Figure]:
    """Measure at each size and dimension, each in a database of its own."""
    figures = []
    for dimension in DIMENSIONS:
        for size in SIZES:
            with (
                TemporaryDirectory(prefix="skill-worker-bench-") as home,
                embedded_postgres(Path(home)) as uri,
            ):
                await migrate(uri, vectors=True)
                async with open_pool(uri) as pool:
                    figures.append(await _figure(pool, size, dimension))
    return figures


async def _figure(pool: Pool, size: int, dimension: int) -> Figure:
    queries = await make(pool, size, dimension)
    exact = PostgresVectors(pool, MODEL, shortlist=size)
    vectors = PostgresVectors(pool, MODEL)
    await _looked(vectors, queries[:5])
    found, times = await _looked(vectors, queries)
    wanted, exactly = await _looked(exact, queries)
    kept = sum(len({*f} & {*w}) for f, w in zip(found, wanted, strict=True))
    p95 = _percentile(times, 0.95)
    return Figure(
        f"nearest of {size} vectors of {dimension} numbers",
        f"p50 {_percentile(times, 0.5):.1f} ms, p95 {p95:.1f} ms",
        f"{MOST_MS:.0f} ms; all compared: p95 {_percentile(exactly, 0.95):.0f} ms;"
        f" of its first {WANTED} found {100 * kept / (WANTED * len(queries)):.1f} %",
        ratio=p95 / MOST_MS,
        at_most=1,
    )


async def make(pool: Pool, size: int, dimension: int) -> list[Vector]:
    """Write documents with vectors, past the pipeline, and return queries near some of them."""
    values = _values(size, dimension)
    async with connection(pool) as conn:
        await _run(conn, _DOCUMENTS, values)
        await _run(conn, _VECTORS, values)
        rows = await conn.execute(_QUERY.format(**values, queries=QUERIES).encode())
        return [unit([*map(float, row["v"][1:-1].split(","))]) for row in await rows.fetchall()]


async def fill(pool: Pool, size: int, dimension: int) -> None:
    """Write a random vector for each of the documents that wait for one, past the pipeline."""
    async with connection(pool) as conn:
        await _run(conn, _VECTORS, _values(size, dimension))


def _values(size: int, dimension: int) -> dict[str, object]:
    values: dict[str, object] = {"dimension": dimension, "subjects": size // 20, "size": size}
    for name, seed in (("random_1", "1"), ("random_n", "n"), ("random_d", "s.document_id")):
        values[name] = _RANDOM.format(seed=seed, dimension=dimension)
    return values


async def _run(conn: Connection, script: str, values: dict[str, object]) -> None:
    for statement in script.format(**values).split(";\n"):
        if statement.strip():
            await conn.execute(statement.encode())


async def _looked(
    vectors: PostgresVectors, queries: Sequence[Vector]
) -> tuple[list[list[str]], list[float]]:
    """Return what each query found, and how long it took in milliseconds."""
    found, times = [], []
    for query in queries:
        started = time.perf_counter()
        near = await vectors.nearest(query, tenant_id="t", agent_id="a", kind=None, limit=WANTED)
        times.append((time.perf_counter() - started) * 1e3)
        found.append([known.id for known in near])
    return found, times


def _percentile(times: Sequence[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]

"""The SQL that benchmarks have of their own fits the schema: a few rows each."""

from __future__ import annotations

import psycopg

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.search import PostgresSearch
from core.adapters.postgres.vectors import PostgresVectors
from tests.benchmarks import meaning, notify, search_latency, search_load, server_load, soak
from tests.benchmarks.fleet import Fleet
from tests.benchmarks.search_texts import Texts
from tests.support.databases import migrate_vectors, of_owner


async def test_the_vectors_of_the_benchmark_are_found(database: str, pool: Pool) -> None:
    await migrate_vectors(database)
    queries = await meaning.make(pool, size=20 * meaning.QUERIES, dimension=16)
    vectors = PostgresVectors(pool, meaning.MODEL)
    assert len(queries) == meaning.QUERIES
    near = await vectors.nearest(queries[0], tenant_id="t", agent_id="a", kind=None, limit=5)
    assert len(near) == 5


async def test_items_loaded_past_the_pipeline_are_found(database: str, pool: Pool) -> None:
    items = [*Texts().items(3)]
    async with open_pool(of_owner(database)) as owners:
        await search_load.load(owners, items)
    search = PostgresSearch(pool, None)
    word = max(items[0].content.split(), key=len)
    found = await search.search(
        word, tenant_id=items[0].tenant_id, agent_id=None, kind=None, limit=3
    )
    assert items[0].item_id in {hit.id for hit in found}
    assert await search_latency._taken(pool) > 0


async def test_the_event_of_the_benchmark_is_written(pool: Pool) -> None:
    async with connection(pool) as conn:
        await conn.execute(notify._event("true").encode())


async def test_the_figures_of_a_fleet_can_be_read(database: str) -> None:
    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as conn:
        fleet = Fleet(home=None, database_url=database, app=None, pids=(), conn=conn)
        tables = (*server_load.RUN_TABLES, *soak.JOBS)
        assert {*await server_load.sizes(fleet, tables)} == {*tables}
        assert await server_load.wal_bytes(fleet) > 0
        assert await server_load.connections(fleet) > 0

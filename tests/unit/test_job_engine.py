"""The job engine: it stops when cancelled, introduces its workers, and fetches unless it rests."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest
from procrastinate.exceptions import ConnectorException
from procrastinate.testing import InMemoryConnector
from psycopg import errors as pg

from core.adapters.postgres.job_engine import Engine
from core.adapters.postgres.queries import sql


class _Losing(InMemoryConnector):
    """Loses a cancellation during registration, as the pool does up to Python 3.11."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()
        self.lost = False

    async def execute_query_one_async(self, query: str, **arguments: object) -> dict[str, object]:
        self.asked.set()
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            self.lost = True
        return dict(await super().execute_query_one_async(query, **arguments))


async def test_a_stop_that_gets_lost_while_registering_ends_the_engine() -> None:
    connector = _Losing()
    engine = Engine()
    engine.connector = connector
    registering = asyncio.create_task(engine.register_worker())
    await connector.asked.wait()
    registering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await registering
    assert connector.lost
    assert engine.worker_id is None
    assert not connector.workers


async def test_an_engine_nobody_stops_is_registered() -> None:
    connector = InMemoryConnector()
    engine = Engine()
    engine.connector = connector
    assert await engine.register_worker() == engine.worker_id
    assert list(connector.workers) == [engine.worker_id]


class _Waiting(InMemoryConnector):
    """Has jobs that wait, fails as told first, and knows which workers showed a sign of life."""

    def __init__(self, engine: Engine, *causes: Exception) -> None:
        super().__init__()
        self.engine, self.causes = engine, [*causes]
        self.beats: list[int] = []
        self.fetching: list[int] = []

    async def execute_query_async(self, query: str, **arguments: object) -> None:
        assert query == sql("workers.beat")
        worker_id = arguments["worker_id"]
        assert isinstance(worker_id, int)
        self.beats.append(worker_id)
        self.workers[worker_id] = datetime.now(UTC)

    async def execute_query_one_async(self, query: str, **arguments: object) -> dict[str, object]:
        self.fetching.append(self.engine.fetching)
        if self.causes:
            raise ConnectorException from self.causes.pop(0)
        return dict(await super().execute_query_one_async(query, **arguments))


async def waiting(*causes: Exception) -> tuple[Engine, _Waiting]:
    """Return an engine for which two jobs wait."""
    engine = Engine()
    connector = _Waiting(engine)
    engine.connector = connector
    work = engine.app().configure_task("work", allow_unknown=True)
    for _ in range(2):
        await work.defer_async()
    connector.fetching.clear()
    connector.causes += causes
    return engine, connector


async def test_a_worker_introduces_itself_with_the_first_job_it_asks_for() -> None:
    engine, connector = await waiting()
    for worker_id in (1, 1, 2, 2):
        await engine.fetch_job(None, worker_id)
    assert connector.beats == [1, 2]


async def test_no_job_is_fetched_while_work_is_paused_or_once_it_ends() -> None:
    engine, connector = await waiting()
    engine.paused = True
    assert await engine.fetch_job(None, 1) is None
    engine.paused = False
    assert await engine.fetch_job(None, 1) is not None
    engine.closed = True
    assert await engine.fetch_job(None, 1) is None
    assert (connector.beats, connector.fetching) == ([1], [1])


async def test_a_worker_that_was_removed_as_dead_registers_again_and_fetches() -> None:
    engine, connector = await waiting(pg.ForeignKeyViolation())
    assert await engine.fetch_job(None, 1) is not None
    assert connector.beats == [1, 1]


async def test_fetches_are_counted_while_they_last_also_those_that_fail() -> None:
    engine, connector = await waiting(pg.UniqueViolation())
    with pytest.raises(ConnectorException):
        await engine.fetch_job(None, 1)
    assert await engine.fetch_job(None, 1) is not None
    assert (connector.beats, connector.fetching, engine.fetching) == ([1], [1, 1], 0)

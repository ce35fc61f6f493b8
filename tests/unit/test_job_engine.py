"""The job engine stops when cancelled, also while it is still registering."""

from __future__ import annotations

import asyncio

import pytest
from procrastinate.testing import InMemoryConnector

from core.adapters.postgres.job_engine import Engine


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

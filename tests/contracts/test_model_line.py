"""The line to a model, in memory and in PostgreSQL; time passes as the tests say."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.circuit_breaker import PostgresModelLine
from core.adapters.postgres.queries import Pool, connection
from core.agent.circuit_breaker import LineOptions
from core.domain.ports import ModelLine
from core.testing.contracts.model_line import THREE, ModelLineContract, OpenLine, PassTime
from core.testing.contracts.model_line_settings import ModelSettingsContract
from core.testing.contracts.model_places import ModelPlacesContract
from core.testing.determinism import counting_ids
from core.testing.model_line import MemoryModelLine, SharedLine

_AGE = """
UPDATE model_lines SET open_since = open_since - make_interval(secs => %(seconds)s),
    probe_at = probe_at - make_interval(secs => %(seconds)s),
    next_call_at = next_call_at - make_interval(secs => %(seconds)s)
"""
_AGE_PLACES = (
    "UPDATE model_permits SET expires_at = expires_at - make_interval(secs => %(seconds)s)"
)


class InMemory:
    @pytest.fixture
    def shared(self) -> SharedLine:
        return SharedLine()

    @pytest.fixture
    def open_line(self, shared: SharedLine) -> OpenLine:
        def line(options: LineOptions = THREE, /) -> ModelLine:
            return MemoryModelLine(options, shared)

        return line

    @pytest.fixture
    def pass_time(self, shared: SharedLine) -> PassTime:
        return shared.pass_time


class InPostgres:
    @pytest.fixture
    def pass_time(self, pool: Pool, passed: list[timedelta]) -> PassTime:
        async def older(seconds: float) -> None:
            async with connection(pool) as conn:
                await conn.execute(_AGE, {"seconds": seconds})
                await conn.execute(_AGE_PLACES, {"seconds": seconds})
            passed.append(timedelta(seconds=seconds))
            await asyncio.sleep(0)

        return older

    @pytest.fixture
    def passed(self) -> list[timedelta]:
        return []

    @pytest.fixture
    def open_line(self, pool: Pool, pass_time: PassTime, passed: list[timedelta]) -> OpenLine:
        ids = counting_ids("place")

        def clock() -> datetime:
            return datetime(2026, 1, 1, tzinfo=UTC) + sum(passed, timedelta())

        def line(options: LineOptions = THREE, /) -> ModelLine:
            return PostgresModelLine(pool, "m", options, new_id=ids, sleep=pass_time, clock=clock)

        return line


class TestLineInMemory(InMemory, ModelLineContract):
    pass


class TestLineInPostgres(InPostgres, ModelLineContract):
    pass


class TestSettingsInMemory(InMemory, ModelSettingsContract):
    pass


class TestSettingsInPostgres(InPostgres, ModelSettingsContract):
    pass


class TestPlacesInMemory(InMemory, ModelPlacesContract):
    pass


class TestPlacesInPostgres(InPostgres, ModelPlacesContract):
    pass

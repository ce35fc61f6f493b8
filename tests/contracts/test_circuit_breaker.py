"""The circuit breaker in PostgreSQL; time passes as the tests say."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.circuit_breaker import PostgresCircuitBreaker
from core.adapters.postgres.queries import Pool, connection
from core.agent.circuit_breaker import BreakerOptions
from core.domain.errors import CircuitOpen
from core.domain.ports import CircuitBreaker
from core.testing.determinism import counting_ids
from tests.contracts.suites.circuit_breaker import (
    THREE,
    CircuitBreakerContract,
    OpenBreaker,
    PassTime,
)
from tests.contracts.suites.model_line_settings import ModelSettingsContract
from tests.contracts.suites.model_places import ModelPlacesContract

_AGE = """
UPDATE model_lines SET open_since = open_since - make_interval(secs => %(seconds)s),
    probe_at = probe_at - make_interval(secs => %(seconds)s),
    next_call_at = next_call_at - make_interval(secs => %(seconds)s)
"""
_AGE_PLACES = (
    "UPDATE model_permits SET expires_at = expires_at - make_interval(secs => %(seconds)s)"
)


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
    def open_breaker(self, pool: Pool, pass_time: PassTime, passed: list[timedelta]) -> OpenBreaker:
        ids = counting_ids("place")

        def clock() -> datetime:
            return datetime(2026, 1, 1, tzinfo=UTC) + sum(passed, timedelta())

        def line(options: BreakerOptions = THREE, /) -> CircuitBreaker:
            return PostgresCircuitBreaker(
                pool, "m", options, new_id=ids, sleep=pass_time, clock=clock
            )

        return line


class TestBreaker(InPostgres, CircuitBreakerContract):
    pass


class TestSettings(InPostgres, ModelSettingsContract):
    pass


class TestPlaces(InPostgres, ModelPlacesContract):
    async def test_who_waits_for_a_place_asks_often_at_first_and_then_less(
        self, open_breaker: OpenBreaker, passed: list[timedelta]
    ) -> None:
        one = BreakerOptions(max_concurrency=1, longest_wait=1, slot_ttl=1_000)
        async with open_breaker(one).call():
            with pytest.raises(CircuitOpen):
                async with open_breaker(one).call():
                    pytest.fail("there is one place")
        first, second, third, *_, longest = passed
        assert first < second < third < longest == max(passed)

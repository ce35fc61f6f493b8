"""Limits of the model hold across real processes, and cost nothing if none are set."""

from __future__ import annotations

import asyncio
import json
import subprocess
from datetime import datetime, timedelta

import pytest

from core.adapters.postgres.circuit_breaker import PostgresCircuitBreaker
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool
from core.agent.circuit_breaker import BreakerOptions
from core.domain.errors import CircuitOpen
from core.testing.determinism import counting_ids
from tests.support.forked import script

PROCESSES, CALLS = 3, 10
SECONDS = 60.0
_WORKER = """
import asyncio, json, sys, time, uuid
from core.agent.circuit_breaker import BreakerOptions
from core.adapters.postgres.circuit_breaker import PostgresCircuitBreaker
from core.adapters.postgres.pool import open_pool

async def main(conninfo, options, calls, seconds):
    async with open_pool(conninfo) as pool:
        breaker = PostgresCircuitBreaker(
            pool,
            "m",
            BreakerOptions(**options),
            new_id=lambda: uuid.uuid4().hex,
            sleep=asyncio.sleep,
        )
        async def call():
            async with breaker.call():
                began = time.monotonic()
                await asyncio.sleep(seconds)
                print(json.dumps([began, time.monotonic()]), flush=True)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        await asyncio.gather(*(call() for _ in range(calls)))

asyncio.run(main(sys.argv[1], *json.loads(sys.argv[2])))
"""


async def spans(conninfo: str, seconds: float, **options: float) -> list[tuple[float, float]]:
    """Let processes call at once; return when each call began and ended, by one clock."""
    given = json.dumps([options, CALLS, seconds])
    processes = [
        script(_WORKER, conninfo, given, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(PROCESSES)
    ]
    for process in processes:
        assert process.stdout is not None
        assert await asyncio.to_thread(process.stdout.readline) == "ready\n"
    ends = [asyncio.to_thread(process.communicate, "go\n", SECONDS) for process in processes]
    lines = [line for out, _ in await asyncio.gather(*ends) for line in out.splitlines()]
    assert [process.returncode for process in processes] == [0] * PROCESSES
    return sorted((began, ended) for began, ended in map(json.loads, lines))


def most_at_once(found: list[tuple[float, float]]) -> int:
    steps = sorted([(began, 1) for began, _ in found] + [(ended, -1) for _, ended in found])
    running, most = 0, 0
    for _, step in steps:
        running += step
        most = max(most, running)
    return most


async def test_no_more_calls_run_at_once_than_allowed_over_processes(database: str) -> None:
    found = await spans(database, 0.05, max_concurrency=3)
    assert len(found) == PROCESSES * CALLS
    assert 2 <= most_at_once(found) <= 3


async def test_begins_are_spread_over_processes_as_the_rate_says(database: str) -> None:
    every = 0.1
    found = await spans(database, 0.3, requests_per_minute=60 / every)
    begins = [began for began, _ in found]
    assert len(begins) == PROCESSES * CALLS
    for window in range(3, len(begins)):
        shortest = min(late - early for early, late in zip(begins, begins[window:], strict=False))
        assert shortest >= (window - 2) * every  # two of them may have been woken late


async def test_without_limits_a_call_that_succeeds_asks_the_database_nothing(
    database: str,
) -> None:
    async with open_pool(database) as pool:
        breaker = breaker_of(pool)
        await breaker.current_pause()
        asked = pool.get_stats().get("requests_num", 0)
        for _ in range(20):
            async with breaker.call():
                pass
        assert pool.get_stats().get("requests_num", 0) == asked


async def test_a_paid_answer_is_kept_where_the_database_has_gone_meanwhile(database: str) -> None:
    async with open_pool(database) as pool:
        breaker = breaker_of(pool, BreakerOptions(max_concurrency=1))
        answered = False
        async with breaker.call():
            await pool.close()
            answered = True
        assert answered


async def test_a_place_is_kept_as_long_as_its_call_lasts(pool: Pool) -> None:
    async def expires() -> datetime:
        async with pool.connection() as conn:
            row = await (await conn.execute("SELECT expires_at FROM model_permits")).fetchone()
        assert row is not None
        return row["expires_at"]  # type: ignore[no-any-return]

    options = BreakerOptions(max_concurrency=1, slot_ttl=0.3, longest_wait=0)
    async with asyncio.timeout(SECONDS), breaker_of(pool, options).call():
        first = await expires()
        while await expires() < first + timedelta(seconds=0.6):
            await asyncio.sleep(0.01)
        with pytest.raises(CircuitOpen):
            async with breaker_of(pool, options).call():
                pytest.fail("there is one place")
    async with breaker_of(pool, options).call():
        pass


async def test_a_database_clock_that_was_set_back_stops_no_call(pool: Pool) -> None:
    rated = BreakerOptions(requests_per_minute=600, longest_wait=5)
    async with breaker_of(pool, rated).call():
        pass
    async with pool.connection() as conn:
        await conn.execute("UPDATE model_lines SET next_call_at = now() + interval '1 hour'")
    async with breaker_of(pool, rated).call():
        pass


def breaker_of(pool: Pool, options: BreakerOptions | None = None) -> PostgresCircuitBreaker:
    return PostgresCircuitBreaker(
        pool, "m", options or BreakerOptions(), new_id=counting_ids("p"), sleep=asyncio.sleep
    )

"""How close the worker comes to the arithmetic limit with a slow model."""

from __future__ import annotations

import time

from tests.benchmarks.table import Figure
from tests.benchmarks.world import TwoTurnModel, drain, opened, pieces

CONCURRENCY = 32
COUNT = 320
CALLS = 2
SECONDS_A_CALL = 1.0


async def measure() -> list[Figure]:
    """Process a full inbox; the limit is count × calls × seconds ÷ concurrency."""
    chat = TwoTurnModel()
    async with opened(chat) as app:
        await app.stores.inbox.add("warm", pieces(4, 100_000))
        await drain(app, CONCURRENCY)
        chat.delay = SECONDS_A_CALL
        await app.stores.inbox.add("bench", pieces(COUNT))
        begun = time.perf_counter()
        await drain(app, CONCURRENCY)
        took = time.perf_counter() - begun
    limit = COUNT * CALLS * SECONDS_A_CALL / CONCURRENCY
    return [
        Figure(
            f"throughput, model 1 s a call, concurrency {CONCURRENCY}",
            f"{COUNT / took:.1f} feedback/s",
            f"arithmetic limit {COUNT / limit:.1f}/s",
            limit / took,
            at_least=0.94,
        )
    ]

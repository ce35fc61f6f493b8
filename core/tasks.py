"""End tasks for certain: up to Python 3.11 a cancellation can get lost on its way."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

AGAIN_SECONDS = 0.5


async def end_tasks(tasks: Iterable[asyncio.Task[object]], again: float = AGAIN_SECONDS) -> None:
    """Cancel tasks every `again` seconds until all have ended; what they end with is dropped.

    Once is not enough: `asyncio.wait_for`, with which psycopg's pool waits for a connection,
    forgets a cancellation that comes together with what it waits for. A task that repeats
    something for ever would then never end.
    """
    ending = set(tasks)
    pending = ending
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=again)
    await asyncio.gather(*ending, return_exceptions=True)

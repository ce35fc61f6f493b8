"""Waiting for events, on machines of any speed.

What a test waits for, or expects to be quick, may take `SOON`: less than the 30 s that a grace
period, a stalled worker or a call gets by default. A command, or a run of many pieces, may take
`AT_LAST`. Whatever else could end the wait is set to `NEVER`, so that only the behaviour under test
ends it in time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

SOON, AT_LAST, NEVER = 25.0, 60.0, 600.0


def wait_until(condition: Callable[[], bool], seconds: float = SOON) -> None:
    """Wait for a condition, and fail if it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"it did not come true in {seconds:g} s"
        time.sleep(0.02)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for an asynchronous condition, and fail if it does not come true."""
    async with asyncio.timeout(SOON):
        while not await condition():
            await asyncio.sleep(0.02)


@contextmanager
def within(seconds: float = SOON) -> Iterator[None]:
    """Fail if the block takes longer."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"it took {took:.1f} s"

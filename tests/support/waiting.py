"""Waiting for what happens by and by, on machines of any speed.

What a test waits for, or sees to be quick, may take `SOON`: less than the 30 s that a grace, a
stalled worker or a call gets by default. A command, or a run of many pieces, may take `AT_LAST`.
What else would end it is set to `NEVER`, so that only what the test is about ends it in time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

SOON, AT_LAST, NEVER = 25.0, 60.0, 600.0


def wait_until(condition: Callable[[], bool], seconds: float = SOON) -> None:
    """Wait for a condition, and fail where it does not come true."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"it did not come true in {seconds:g} s"
        time.sleep(0.02)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    """Wait for a condition that has to be asked for, and fail where it does not come true."""
    async with asyncio.timeout(SOON):
        while not await condition():
            await asyncio.sleep(0.02)


@contextmanager
def within(seconds: float = SOON) -> Iterator[None]:
    """Fail where what is done inside takes longer."""
    began = time.monotonic()
    yield
    took = time.monotonic() - began
    assert took < seconds, f"it took {took:.1f} s"

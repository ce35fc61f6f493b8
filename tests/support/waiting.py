"""Waiting for what happens by and by, on machines of any speed.

What a test waits for, or sees to be quick, may take `SOON`. What would end it, too, a grace or a
limit, is set to `NEVER` there, so that only what the test is about ends it in time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

SOON = 60.0
NEVER = 10 * SOON


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

"""Admits a few tasks at a time, in order of arrival.

On one core, a hundred reviews opened at once would each be ready only when the last one is.
Admitted in turn, the first is ready at once, and their readers come back one by one instead of as
the same crowd again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

# Whoever waits for another system (a skill store, an embedding model) blocks no one for longer.
LONGEST_SECONDS = 0.1


class FairSemaphore:
    """Admits `at_once` tasks; one that takes longer than `longest` seconds no longer counts."""

    def __init__(self, at_once: int, longest: float = LONGEST_SECONDS) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._longest = longest

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a slot, and occupy it while the block runs."""
        await self._free.acquire()
        acquired = True

        def pass_on() -> None:
            nonlocal acquired
            if acquired:
                acquired = False
                self._free.release()

        timer = asyncio.get_running_loop().call_later(self._longest, pass_on)
        try:
            yield
        finally:
            timer.cancel()
            pass_on()


@dataclass(frozen=True)
class ReviewSlots:
    """The slots of reviewers in one process.

    A decision costs as much as opening two changes, and people wait for what they open: decisions
    run one at a time, so that a crowd of deciders leaves room for readers.
    """

    reads: FairSemaphore = field(default_factory=lambda: FairSemaphore(3))
    decisions: FairSemaphore = field(default_factory=lambda: FairSemaphore(1))

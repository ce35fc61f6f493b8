"""A few at a time, in the order they came: on one core, all that begin together end together.

A hundred looks that begin at once would each be done when the last one is. In turns the first is
done at once, and those who asked come back one after the other, not as the same crowd again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

# Who waits for somebody else (a skill store, a model of embeddings) holds nobody up for longer.
LONGEST_SECONDS = 0.1


class FairSemaphore:
    """Lets `at_once` in; one that lasts longer than `longest` seconds does not count any more."""

    def __init__(self, at_once: int, longest: float = LONGEST_SECONDS) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._longest = longest

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a turn, and hold it while the block runs."""
        await self._free.acquire()
        held = True

        def pass_on() -> None:
            nonlocal held
            if held:
                held = False
                self._free.release()

        timer = asyncio.get_running_loop().call_later(self._longest, pass_on)
        try:
            yield
        finally:
            timer.cancel()
            pass_on()


@dataclass(frozen=True)
class ReviewSlots:
    """The turns of reviewers in one process.

    A decision costs as much as two looks, and who looks waits for what they see: decisions
    are taken one by one, so that a crowd that decides leaves room for those who look.
    """

    looks: FairSemaphore = field(default_factory=lambda: FairSemaphore(3))
    decisions: FairSemaphore = field(default_factory=lambda: FairSemaphore(1))

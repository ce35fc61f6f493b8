"""Whether the event loop turns: it ticks, and an old tick means that something holds it up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.health.reading import Clock
from core.tasks import end_tasks

TICK_SECONDS = 1.0
SILENCE_SECONDS = 10.0


class Pulse:
    """Ticks while it beats."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = clock()

    @asynccontextmanager
    async def beating(self) -> AsyncIterator[None]:
        """Tick as long as the context lasts."""
        beat = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            await end_tasks([beat])

    def age(self) -> float:
        """Give the seconds since the last tick."""
        return self._clock() - self._last

    def is_alive(self) -> bool:
        """True where the last tick is not too old."""
        return self.age() <= SILENCE_SECONDS

    async def _beat(self) -> None:
        while True:
            self._last = self._clock()
            await asyncio.sleep(TICK_SECONDS)

"""A reading that many ask for: made once at a time, kept for a while, waited for in bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")
Clock = Callable[[], float]


class Reading(Generic[T]):
    """The newest answer of `read`, however many ask; it must not raise.

    An answer is kept for `keep` seconds, or `rest` times as long as it took, if that is longer:
    what is slow to read is read seldom. Whoever asks waits `patience` seconds at most. `clock`
    gives seconds that never go back.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[T]],
        *,
        keep: float,
        patience: float,
        clock: Clock,
        rest: float = 0,
    ) -> None:
        self._read = read
        self._keep = keep
        self._patience = patience
        self._rest = rest
        self._clock = clock
        self._due = float("-inf")
        self._task: asyncio.Task[T] | None = None

    async def get(self) -> T | None:
        """Give the newest answer; None where it is not there in time."""
        if self._task is None or (self._task.done() and self._clock() >= self._due):
            self._task = asyncio.create_task(self._made())
        # It is left running: a call that hangs is never made twice at a time.
        await asyncio.wait({self._task}, timeout=self._patience)
        return self._task.result() if self._task.done() else None

    async def close(self) -> None:
        """End what is being read."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _made(self) -> T:
        began = self._clock()
        try:
            return await self._read()
        finally:
            now = self._clock()
            self._due = now + max(self._keep, self._rest * (now - began))

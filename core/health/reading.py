"""A reading that many ask for: made once at a time, kept for a while, waited for in bounds."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from core.tasks import end_tasks

T_co = TypeVar("T_co", covariant=True)
Clock = Callable[[], float]


class Reading(Generic[T_co]):
    """The newest answer of `read`, however many ask; it gives None for a failure, and never raises.

    An answer is kept for `keep` seconds, or `rest` times as long as it took, if that is longer:
    what is slow to read is read seldom. Whoever asks waits `patience` seconds at most. `clock`
    gives seconds that never go back.
    """

    def __init__(
        self,
        read: Callable[[], Awaitable[T_co]],
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
        self._task: asyncio.Task[T_co] | None = None

    async def get(self) -> T_co | None:
        """Give the newest answer; None where it is not there in time."""
        if self._task is None or (self._task.done() and self._clock() >= self._due):
            self._task = asyncio.create_task(self._made())
        # It is left running: a call that hangs is never made twice at a time.
        await asyncio.wait({self._task}, timeout=self._patience)
        if not self._task.done() or self._task.cancelled():
            return None
        return self._task.result()

    async def close(self) -> None:
        """End what is being read."""
        if self._task is not None:
            await end_tasks([self._task])

    async def _made(self) -> T_co:
        began = self._clock()
        answer = await self._read()
        now = self._clock()
        rest = 0.0 if answer is None else self._rest * (now - began)
        self._due = now + max(self._keep, rest)
        return answer

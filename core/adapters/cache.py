"""A cache of slow answers that many ask for: refreshed after a while, read once at a time."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")
Clock = Callable[[], float]


class Cached(Generic[T]):
    """Caches the newest answer to each question for `seconds`, or `rest` times its reading time.

    Concurrent askers share one read. At most `most` answers are cached, the most recently used.
    """

    def __init__(
        self, seconds: float, clock: Clock, *, rest: float = 100.0, most: int = 200
    ) -> None:
        self._seconds, self._rest, self._most = seconds, rest, most
        self._clock = clock
        self._answers: OrderedDict[Hashable, tuple[float, T]] = OrderedDict()
        self._asking: dict[Hashable, asyncio.Lock] = {}

    async def get(self, question: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """Return the cached answer, or read it. What `read` raises is raised and not cached."""
        lock = self._asking.setdefault(question, asyncio.Lock())
        async with lock:
            due, answer = self._answers.get(question, (None, None))
            if due is None or self._clock() >= due:
                began = self._clock()
                answer = await read()
                took = self._clock() - began
                self._answers[question] = (began + max(self._seconds, self._rest * took), answer)
            self._answers.move_to_end(question)
            self._forget()
            return self._answers[question][1]

    def _forget(self) -> None:
        while len(self._answers) > self._most:
            question, _ = self._answers.popitem(last=False)
            self._asking.pop(question, None)

"""Allowances by the minute, and answers to wrong secrets that come later and later.

The API's guard and that of the embedded servers share it. Each process counts for itself.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from core.domain.errors import TooManyCalls
from core.domain.messages import Message

MOST_KNOWN = 10_000  # callers of whom something is remembered
MINUTE = 60.0
LONGEST_DELAY = 8.0
MOST_DELAYED = 20  # answers to one caller that are delayed at a time


@dataclass
class Bucket:
    """Calls that are left, as of a time."""

    left: float
    at: float


class Allowances:
    """How much each caller has left of what a minute allows."""

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self.most = most
        self._clock = clock
        self._known: OrderedDict[str, Bucket] = OrderedDict()

    def of(self, caller: str) -> Bucket:
        """Return the bucket of a caller, refilled; it holds what a minute allows."""
        now = self._clock()
        bucket = self._known.setdefault(caller, Bucket(self.most, now))
        bucket.left = min(self.most, bucket.left + (now - bucket.at) * self.most / MINUTE)
        bucket.at = now
        self._known.move_to_end(caller)
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return bucket


class SlowDown:
    """Delays answers to wrong secrets.

    What is right is never delayed: many may call from one address, and no number of guesses finds a
    secret.
    """

    def __init__(
        self, most: int, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._left = Allowances(most, clock)
        self._sleep = sleep
        self._delayed: Counter[str] = Counter()

    async def delay(self, caller: str) -> None:
        """Delay the answer to a wrong secret: longer with each of a minute. Raises TooManyCalls."""
        most, bucket = self._left.most, self._left.of(caller)
        bucket.left -= 1
        seconds = min(LONGEST_DELAY, 0.25 * 2 ** min(-bucket.left, 10)) if bucket.left < 0 else 0.0
        bucket.left = max(bucket.left, -most)
        if not seconds:
            return
        if self._delayed[caller] >= MOST_DELAYED:
            raise TooManyCalls(
                Message("limits.wrong"), hint=Message("limits.hint_wrong"), retry_after=seconds
            )
        self._delayed[caller] += 1
        try:
            await self._sleep(seconds)
        finally:
            self._delayed[caller] -= 1
            self._delayed += Counter()  # forgets who has none

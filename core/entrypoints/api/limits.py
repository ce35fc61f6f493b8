"""What one caller may ask of a server: calls, open streams, wrong secrets."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

from core.domain.errors import TooManyCalls
from core.domain.messages import Message
from core.domain.models.access import Limits
from core.domain.slow_down import MINUTE, Allowances, SlowDown


class Limiter:
    """Counts what callers do, in this process; nothing of it is stored.

    `wrong` delays the answers to wrong secrets.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.limits = limits or Limits()
        self.wrong = SlowDown(self.limits.wrong_tokens_per_minute, clock, sleep)
        self._calls = Allowances(self.limits.calls_per_minute, clock)
        self._streams: Counter[str] = Counter()
        self._sessions: Counter[str] = Counter()

    def call(self, token_id: str) -> None:
        """Count a call of a token. Raises TooManyCalls."""
        most, bucket = self._calls.most, self._calls.of(token_id)
        if bucket.left < 1:
            wait = (1 - bucket.left) * MINUTE / most
            raise TooManyCalls(
                Message("limits.calls", most=most),
                hint=Message("limits.hint_calls"),
                retry_after=wait,
            )
        bucket.left -= 1

    def session(self, token_id: str) -> Callable[[], None]:
        """Count a session over MCP; return what is to be called at its end. Raises TooManyCalls."""
        most = self.limits.sessions_per_token
        if self._sessions[token_id] >= most:
            raise TooManyCalls(
                Message("limits.sessions", most=most),
                hint=Message("limits.hint_sessions"),
                retry_after=MINUTE,
            )
        self._sessions[token_id] += 1
        return partial(self._end_session, token_id)

    def _end_session(self, token_id: str) -> None:
        self._sessions[token_id] -= 1
        self._sessions += Counter()  # forgets who has none

    @contextmanager
    def stream(self, token_id: str) -> Iterator[None]:
        """Count an event stream or a page's connection while it is open. Raises TooManyCalls."""
        most = self.limits.streams_per_token
        if self._streams[token_id] >= most:
            raise TooManyCalls(
                Message("limits.streams", most=most),
                hint=Message("limits.hint_streams"),
                retry_after=MINUTE,
            )
        self._streams[token_id] += 1
        try:
            yield
        finally:
            self._streams[token_id] -= 1
            self._streams += Counter()  # forgets who has none

"""The opened program as the server sees it, which listens before it opens and after it closes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta

import structlog

from core.app.program import App
from core.domain.errors import DependencyDown
from core.domain.messages import Message
from core.domain.models.access import TokenKind
from core.domain.models.events import RunEvent
from core.domain.models.feedback import NO_USAGE
from core.entrypoints.api.limits import Limiter
from core.entrypoints.auth import SESSION_LIFE, Access, utc_now
from core.entrypoints.call_record import CallRecord

log = structlog.get_logger(__name__)


class Opened:
    """Stores the app while it is open."""

    def __init__(
        self,
        now: Callable[[], datetime] = utc_now,
        limiter: Limiter | None = None,
        person_life: timedelta = SESSION_LIFE,
    ) -> None:
        self.app: App | None = None
        self.limiter = limiter or Limiter()
        self._now, self._person_life = now, person_life
        self.calls = CallRecord(now)
        self._lasting: set[asyncio.Event] = set()
        self._ended = asyncio.Event()

    def __call__(self) -> App:
        """Return the app. Raises DependencyDown while it starts or stops."""
        if self.app is None:
            raise DependencyDown(Message("worker.starting"), retry_after=1.0)
        return self.app

    def access(self) -> Access:
        """Return what finds tokens and opens sessions. Raises DependencyDown."""
        app = self()
        return Access(app.stores.tokens, app.new_id, self._now, person_life=self._person_life)

    async def refused(self, kind: TokenKind, address: str, path: str) -> None:
        """Log and count a wrong secret, and delay the answer to it. Raises TooManyCalls."""
        log.warning("access.refused", credential=kind.value, address=address, path=path)
        if self.app is not None:
            self.app.observe(
                RunEvent(name="access.refused", data={"credential": kind.value}), NO_USAGE
            )
        await self.limiter.wrong.delay(address)

    def close(self) -> None:
        """Remove the app, and signal the calls in progress."""
        self.app = None
        for over in self._lasting:
            over.set()

    async def settled(self, seconds: float) -> None:
        """Wait until the calls in progress have ended, at most for so long."""
        if self._lasting:
            self._ended.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), seconds)

    @contextmanager
    def lasting(self) -> Iterator[asyncio.Event]:
        """Yield an event that is set if the app closes while the block runs."""
        over = asyncio.Event()
        self._lasting.add(over)
        try:
            yield over
        finally:
            self._lasting.discard(over)
            if not self._lasting:
                self._ended.set()

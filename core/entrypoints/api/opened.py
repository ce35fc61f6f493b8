"""The opened program as the server sees it, which listens before it opens and after it closes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from core.app.program import App
from core.domain.errors import DependencyDown
from core.domain.messages import Message
from core.entrypoints.auth import Access, utc_now


class Opened:
    """Stores the app while it is open."""

    def __init__(self, now: Callable[[], datetime] = utc_now) -> None:
        self.app: App | None = None
        self._now = now
        self._lasting: set[asyncio.Event] = set()

    def __call__(self) -> App:
        """Return the app. Raises DependencyDown while it starts or stops."""
        if self.app is None:
            raise DependencyDown(Message("worker.starting"), retry_after=1.0)
        return self.app

    def access(self) -> Access:
        """Return what finds tokens and opens sessions. Raises DependencyDown."""
        app = self()
        return Access(app.stores.tokens, app.new_id, self._now)

    def close(self) -> None:
        """Remove the app, and signal the calls in progress."""
        self.app = None
        for over in self._lasting:
            over.set()

    @contextmanager
    def lasting(self) -> Iterator[asyncio.Event]:
        """Yield an event that is set if the app closes while the block runs."""
        over = asyncio.Event()
        self._lasting.add(over)
        try:
            yield over
        finally:
            self._lasting.discard(over)

"""The opened program as the server finds it, which listens before there is one and after."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from core.app.program import App
from core.domain.errors import DependencyDown
from core.entrypoints.auth import Access, utc_now


class Opened:
    """Holds the app while it is open."""

    def __init__(self, now: Callable[[], datetime] = utc_now) -> None:
        self.app: App | None = None
        self._now = now
        self._lasting: set[asyncio.Event] = set()

    def __call__(self) -> App:
        """Give the app. Raises DependencyDown while it starts or stops."""
        if self.app is None:
            raise DependencyDown("the worker is starting or stopping", retry_after=1.0)
        return self.app

    def access(self) -> Access:
        """Give what finds tokens and opens sessions. Raises DependencyDown."""
        app = self()
        return Access(app.stores.tokens, app.new_id, self._now)

    def close(self) -> None:
        """Take the app away, and tell the calls that last."""
        self.app = None
        for over in self._lasting:
            over.set()

    @contextmanager
    def lasting(self) -> Iterator[asyncio.Event]:
        """Give an event that is set when the app is closed while the block runs."""
        over = asyncio.Event()
        self._lasting.add(over)
        try:
            yield over
        finally:
            self._lasting.discard(over)

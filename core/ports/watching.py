"""What people watch: events as they happen, in an order in which none is missed, and figures."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from core.models import EventFilter, FeedPage


class Bell(Protocol):
    """Rings when something may have been written."""

    async def wait(self, seconds: float) -> None:
        """Wait until it has rung since the last time, or for so many seconds."""


class Feed(Protocol):
    """The events of all processes, in one lasting order."""

    async def place(self) -> str:
        """Give the place from which all that is written from now on is read."""

    async def after(self, place: str | None, wanted: EventFilter, limit: int) -> FeedPage:
        """Give at most `limit` events that come after a place; None: from the oldest that is kept.

        What is pruned meanwhile is passed over. Raises InvalidInput on what is no place.
        """

    def listening(self, wanted: EventFilter) -> AbstractAsyncContextManager[Bell]:
        """Give a bell for the events that are wanted, while the block lasts."""

"""The `Journal` port in memory."""

from __future__ import annotations

from core.models import RunEvent
from core.testing.changes import MemoryChangeLog


class MemoryJournal:
    """Events in a list; with a change log they go to that log's list, in one order with its own."""

    def __init__(self, *, log: MemoryChangeLog | None = None) -> None:
        self._own: list[RunEvent] = []
        self._log = log

    @property
    def events(self) -> list[RunEvent]:
        """All events, oldest first."""
        return self._own if self._log is None else self._log.events

    async def emit(self, event: RunEvent) -> None:
        """Write one event."""
        self.events.append(event)

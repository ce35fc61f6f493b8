"""The `Feed` port in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from core.domain.event_cursor import EventCursor, parse_cursor
from core.domain.models import NO_USAGE, EventFilter, FeedPage, PlacedEvent, RunEvent, Usage


class MemoryBell:
    """Rings for every event."""

    def __init__(self) -> None:
        self.rung = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.rung.wait()
        except TimeoutError:
            return
        self.rung.clear()


class MemoryFeed:
    """Reads the list of events that it follows; as an observer of its writers it rings."""

    def __init__(self, events: Sequence[RunEvent] = ()) -> None:
        self._events = events
        self.bells: set[MemoryBell] = set()

    def observe(self, _event: RunEvent, _spent: Usage = NO_USAGE) -> None:
        """Ring: an event was written."""
        for bell in self.bells:
            bell.rung.set()

    def follow(self, events: Sequence[RunEvent]) -> None:
        """Read this list from now on: that of a journal which is given `observe`."""
        self._events = events

    async def cursor(self) -> str:
        return str(EventCursor(0, len(self._events)))

    async def after(self, cursor: str | None, wanted: EventFilter, limit: int) -> FeedPage:
        begin = parse_cursor(cursor).id if cursor else 0
        found = [
            PlacedEvent(cursor=str(EventCursor(0, number)), event=event)
            for number, event in enumerate(self._events, 1)
            if number > begin and _is_wanted(event, wanted)
        ]
        is_full = len(found) >= limit
        end = found[limit - 1].cursor if is_full else str(EventCursor(0, len(self._events)))
        return FeedPage(events=tuple(found[:limit]), cursor=end, is_full=is_full)

    @asynccontextmanager
    async def listening(self, wanted: EventFilter) -> AsyncIterator[MemoryBell]:
        del wanted
        bell = MemoryBell()
        self.bells.add(bell)
        try:
            yield bell
        finally:
            self.bells.discard(bell)


def _is_wanted(event: RunEvent, wanted: EventFilter) -> bool:
    return (
        wanted.tenant_id in {None, event.tenant_id}
        and wanted.feedback_id in {None, event.feedback_id}
        and (not wanted.names or event.name in wanted.names)
    )

"""Events as streams that continue as they happen, within the tenant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

from core.domain.errors import DependencyDown
from core.domain.models import EventFilter, Feedback, FeedPage, PlacedEvent
from core.domain.models.access import Role
from core.domain.models.base import Model
from core.domain.models.deliveries import HookSaid
from core.domain.ports import Bell, Feed
from core.entrypoints.service.session import Session

PAGE = 100
FALLBACK_SECONDS = 5.0  # between two reads without a notification
# Until the next read while a late transaction may still fill a gap; it doubles.
BEHIND_SECONDS = 0.05
DOWN_SECONDS = 1.0  # between two reads while the database is down
LEAST_SECONDS = 0.1  # between two reads, however many notifications arrive
LATE_SECONDS = 2.0  # how long after an end further events about it may arrive
# How long the last event of a stream waits for hooks that are not asynchronous, and looks for them.
HOOK_SECONDS, HOOK_LOOK_SECONDS = 30.0, 0.5
_ENDS = {"feedback.finished", "feedback.cancelled"}


class Ended(Model):
    """The end of a stream: the piece as it has ended, and what hooks said about it."""

    piece: Feedback
    hooks: tuple[HookSaid, ...] = ()


@dataclass(frozen=True)
class EventsService:
    """Streams do not end unless documented: the reader closes them."""

    session: Session

    async def watch(
        self, after: str | None, *, tenant_id: str | None = None, names: tuple[str, ...] = ()
    ) -> tuple[str, AsyncIterator[PlacedEvent]]:
        """Return a cursor, and all events after it; without `after` those from now on.

        Raises Forbidden, NotFound, InvalidInput, DependencyDown: all before the stream begins.
        """
        self.session.require(Role.READ)
        wanted = EventFilter(tenant_id=self.session.tenant(tenant_id), names=names)
        feed = self.session.stores.feed
        cursor = after or await feed.cursor()
        first = await feed.after(cursor, wanted, PAGE)
        return cursor, _events(_Reading(feed, wanted, first))

    async def of_feedback(
        self, feedback_id: str, after: str | None
    ) -> AsyncIterator[PlacedEvent | Ended]:
        """Yield all events of a piece, then new ones; once it has ended, its end, and no more.

        Raises as `watch` does.
        """
        self.session.require(Role.READ)
        await self.session.own(self.session.stores.inbox.get(feedback_id), "feedback", feedback_id)
        wanted = EventFilter(feedback_id=feedback_id)
        first = await self.session.stores.feed.after(after, wanted, PAGE)
        return self._to_its_end(_Reading(self.session.stores.feed, wanted, first), feedback_id)

    async def _to_its_end(
        self, reading: _Reading, feedback_id: str
    ) -> AsyncIterator[PlacedEvent | Ended]:
        end_is_told, ended_at = False, None
        now = asyncio.get_running_loop().time
        async with reading.feed.listening(reading.wanted) as bell:
            while True:
                # Read before the events: everything that led to this state is then among them.
                piece = await self._piece(feedback_id)
                page = await reading.next()
                for placed in page.events:
                    yield placed
                    if placed.event.name in _ENDS or placed.event.name == "feedback.claimed":
                        end_is_told = placed.event.name in _ENDS
                if piece is not None and piece.status.is_end and reading.is_through:
                    ended_at = now() if ended_at is None else ended_at
                    if end_is_told or now() - ended_at >= LATE_SECONDS:
                        yield Ended(piece=piece, hooks=await self._hooks_said(feedback_id))
                        return
                else:
                    ended_at = None
                await reading.wait(bell, FALLBACK_SECONDS if ended_at is None else LATE_SECONDS)

    async def _hooks_said(self, feedback_id: str) -> tuple[HookSaid, ...]:
        """Return what hooks said, once those have that are waited for, or their time is over."""
        in_use = self.session.app.hooks
        if in_use is None:
            return ()
        now = asyncio.get_running_loop().time
        until = now() + HOOK_SECONDS
        while True:
            try:
                said, is_awaited = await self.session.stores.delivery_log.said(
                    feedback_id, in_use.hooks.awaited
                )
            except DependencyDown:
                said, is_awaited = (), True
            if not is_awaited or now() >= until:
                return tuple(said)
            await asyncio.sleep(HOOK_LOOK_SECONDS)

    async def _piece(self, feedback_id: str) -> Feedback | None:
        try:
            return await self.session.stores.inbox.get(feedback_id)
        except DependencyDown:
            return None


class _Reading:
    """Continues from page to page; what cannot be read now is read later."""

    def __init__(self, feed: Feed, wanted: EventFilter, first: FeedPage) -> None:
        self.feed = feed
        self.wanted = wanted
        self._page = first
        self._is_read = False  # the first page was read by the caller, to check that it can be
        self._is_down = False
        self._behind = BEHIND_SECONDS
        self._looked = asyncio.get_running_loop().time()

    @property
    def is_through(self) -> bool:
        """Whether everything written before the last read has been returned."""
        return not (self._page.is_full or self._page.is_behind or self._is_down)

    async def next(self) -> FeedPage:
        """Return the next page; an empty one if it cannot be read."""
        if self._is_read:
            self._looked = asyncio.get_running_loop().time()
            try:
                self._page = await self.feed.after(self._page.cursor, self.wanted, PAGE)
                self._is_down = False
            except DependencyDown:
                self._page = FeedPage(cursor=self._page.cursor)
                self._is_down = True
        self._is_read = True
        self._behind = 2 * self._behind if self._page.is_behind else BEHIND_SECONDS
        return self._page

    async def wait(self, bell: Bell, seconds: float = FALLBACK_SECONDS) -> None:
        """Wait until the next read is worthwhile, `seconds` at most."""
        if self._page.is_full:
            return
        if self._is_down:
            await asyncio.sleep(DOWN_SECONDS)
        elif self._page.is_behind:
            await bell.wait(min(self._behind, seconds))
        else:
            await bell.wait(seconds)
        rest = self._looked + LEAST_SECONDS - asyncio.get_running_loop().time()
        await asyncio.sleep(max(0.0, rest))


async def follow(feed: Feed, wanted: EventFilter) -> AsyncIterator[PlacedEvent]:
    """Return all wanted events from now on. Raises DependencyDown before the stream begins."""
    first = await feed.after(await feed.cursor(), wanted, PAGE)
    return _events(_Reading(feed, wanted, first))


async def _events(reading: _Reading) -> AsyncIterator[PlacedEvent]:
    async with reading.feed.listening(reading.wanted) as bell:
        while True:
            for placed in (await reading.next()).events:
                yield placed
            await reading.wait(bell)

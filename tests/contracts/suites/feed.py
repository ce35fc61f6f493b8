"""Contract of every feed; a test class supplies `feed`, and `journal` that writes to it."""

from __future__ import annotations

import asyncio

import pytest

from core.domain.errors import InvalidInput
from core.domain.models import EventFilter, FeedPage, RunEvent
from core.domain.ports import Feed, Journal

ALL = EventFilter()
LONG = 60.0  # an upper bound: the bell rings earlier


def event(name: str = "tool.called", tenant: str | None = "t", piece: str = "f1") -> RunEvent:
    """Return an event of a piece."""
    return RunEvent(name=name, tenant_id=tenant, feedback_id=piece, data={"글": [1, None]})


def told(page: FeedPage) -> list[str]:
    """Return the names of the events of a page."""
    return [placed.event.name for placed in page.events]


async def read(feed: Feed, cursor: str | None, wanted: EventFilter = ALL) -> tuple[list[str], str]:
    """Return the names of all events after a cursor, and the cursor to continue from.

    What cannot be put in order yet is waited for: the tests beside this one write too.
    """
    names: list[str] = []
    while True:
        page = await feed.after(cursor, wanted, 10)
        names += told(page)
        cursor = page.cursor
        if not (page.is_full or page.is_behind):
            return names, cursor


class FeedContract:
    """Tests for any feed."""

    async def test_events_come_in_the_order_of_their_writing(
        self, feed: Feed, journal: Journal
    ) -> None:
        names = list("abc")
        for name in names:
            await journal.emit(event(name))
        assert (await read(feed, None))[0] == names
        page = await feed.after(None, ALL, 10)
        assert not page.is_full
        assert not page.is_behind
        first = page.events[0].event
        assert (first.tenant_id, first.feedback_id) == ("t", "f1")
        assert first.data == {"글": [1, None]}

    async def test_page_after_page_gives_each_event_once(
        self, feed: Feed, journal: Journal
    ) -> None:
        names = list("abcde")
        for name in names:
            await journal.emit(event(name))
        await read(feed, None)
        seen, cursor, is_full = [], None, True
        while is_full:
            page = await feed.after(cursor, ALL, 2)
            assert len(page.events) <= 2
            seen += told(page)
            cursor, is_full = page.cursor, page.is_full
        assert seen == names

    async def test_from_the_place_of_any_event_it_goes_on_behind_it(
        self, feed: Feed, journal: Journal
    ) -> None:
        for letter in "abc":
            await journal.emit(event(letter))
        await read(feed, None)
        first, second, third = (await feed.after(None, ALL, 10)).events
        assert (await read(feed, first.cursor))[0] == [second.event.name, third.event.name]
        assert (await read(feed, third.cursor))[0] == []

    async def test_from_now_on_is_what_is_written_later(self, feed: Feed, journal: Journal) -> None:
        await journal.emit(event("before"))
        await read(feed, None)
        cursor = await feed.cursor()
        assert (await read(feed, cursor))[0] == []
        await journal.emit(event("later"))
        assert (await read(feed, cursor))[0] == ["later"]

    async def test_an_empty_page_has_a_place_that_leaves_nothing_out(
        self, feed: Feed, journal: Journal
    ) -> None:
        _, cursor = await read(feed, None)
        for letter in "ab":
            await journal.emit(event(letter, tenant="other"))
            names, cursor = await read(feed, cursor, EventFilter(tenant_id="t"))
            assert names == []
        await journal.emit(event("c"))
        names, _ = await read(feed, cursor, EventFilter(tenant_id="t"))
        assert names == ["c"]

    @pytest.mark.parametrize(
        ("wanted", "names"),
        [
            (EventFilter(tenant_id="t"), ["run.started", "tool.called"]),
            (EventFilter(feedback_id="f2"), ["tool.called"]),
            (EventFilter(feedback_id="f2", tenant_id="u"), []),
            (EventFilter(names=("run.started", "queue.paused")), ["run.started", "queue.paused"]),
            (EventFilter(tenant_id="t", names=("tool.called",)), ["tool.called"]),
            (EventFilter(feedback_id="' OR true --"), []),
        ],
    )
    async def test_only_what_is_wanted_is_given(
        self, feed: Feed, journal: Journal, wanted: EventFilter, names: list[str]
    ) -> None:
        await journal.emit(event("run.started"))
        await journal.emit(event("tool.called", piece="f2"))
        await journal.emit(event("change.held", tenant="u", piece="f3"))
        await journal.emit(RunEvent(name="queue.paused"))
        assert (await read(feed, None, wanted))[0] == names

    @pytest.mark.parametrize(
        "cursor",
        ["x", "1", "1-", "-1-1", "1-1-1", "1-1\n", "٣-٣", "9" * 20 + "-1", "1-" + "9" * 19],
    )
    async def test_what_is_no_place_is_refused(self, feed: Feed, cursor: str) -> None:
        with pytest.raises(InvalidInput, match="no place in the events"):
            await feed.after(cursor, ALL, 10)

    async def test_from_a_place_beyond_the_end_it_goes_on_with_what_is_written_now(
        self, feed: Feed, journal: Journal
    ) -> None:
        await journal.emit(event("before"))
        await read(feed, None)
        names, cursor = await read(feed, "9000000000000000000-9000000000000000000")
        assert names == []
        await journal.emit(event("later"))
        assert (await read(feed, cursor))[0] == ["later"]

    async def test_whoever_waits_is_woken_by_an_event(self, feed: Feed, journal: Journal) -> None:
        async with feed.listening(ALL) as one, feed.listening(EventFilter(tenant_id="t")) as other:
            waiting = [asyncio.create_task(bell.wait(LONG)) for bell in (one, other)]
            await journal.emit(event())
            done, _ = await asyncio.wait(waiting, timeout=LONG / 2)
            assert done == set(waiting)

    async def test_what_rang_while_nobody_waited_is_not_lost(
        self, feed: Feed, journal: Journal
    ) -> None:
        async with feed.listening(ALL) as bell, feed.listening(ALL) as other:
            await journal.emit(event())
            await other.wait(LONG)
            async with asyncio.timeout(LONG / 2):
                await bell.wait(LONG)

    async def test_nobody_waits_longer_than_they_want_to(self, feed: Feed) -> None:
        async with feed.listening(EventFilter(tenant_id="nobody's")) as bell:
            await bell.wait(0.01)
            async with asyncio.timeout(LONG / 2):
                await bell.wait(0.01)

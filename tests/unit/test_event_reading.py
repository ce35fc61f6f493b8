"""How often events are read, by a clock that goes on as soon as everybody waits."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager

import pytest

from core.domain.errors import DatabaseDown
from core.domain.models import EventFilter, FeedPage
from core.domain.ports import Bell
from core.entrypoints.service.events import _Reading

QUIET, FULL = FeedPage(cursor="1"), FeedPage(cursor="1", is_full=True)
BEHIND = FeedPage(cursor="1", is_behind=True)


class _Selector(selectors.DefaultSelector):
    now = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now += timeout or 0.0
        return super().select(0)


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._clock = _Selector()
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now


class _Feed:
    """Gives one page over and over, or none while it is down, and knows when it was asked."""

    def __init__(self, page: FeedPage | None) -> None:
        self._page = page
        self.asked: list[float] = []

    async def cursor(self) -> str:
        return "1"

    async def after(self, cursor: str | None, wanted: EventFilter, limit: int) -> FeedPage:
        self.asked.append(round(asyncio.get_running_loop().time(), 2))
        if self._page is None:
            raise DatabaseDown("gone")
        return self._page

    def listening(self, wanted: EventFilter) -> AbstractAsyncContextManager[Bell]:
        raise NotImplementedError


class _Bell:
    def __init__(self, *, rings: bool) -> None:
        self._rings = rings

    async def wait(self, seconds: float) -> None:
        if not self._rings:
            await asyncio.sleep(seconds)


@pytest.mark.parametrize(
    ("page", "rings", "asked"),
    [
        (None, True, [0.1, 1.1, 2.1]),
        (QUIET, False, [5.0, 10.0, 15.0]),
        (QUIET, True, [0.1, 0.2, 0.3]),
        (BEHIND, False, [5.0, 5.1, 5.3]),
        (FULL, False, [5.0, 5.0, 5.0]),
    ],
    ids=["down", "quiet", "ringing", "behind", "full"],
)
def test_events_are_read_no_more_often_than_is_worthwhile(
    page: FeedPage | None, rings: bool, asked: Sequence[float]
) -> None:
    feed = _Feed(page)

    async def read() -> None:
        reading = _Reading(feed, EventFilter(), QUIET)
        for _ in range(1 + len(asked)):
            await reading.next()
            await reading.wait(_Bell(rings=rings))

    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(read())
    assert feed.asked == [*asked]

"""How often events are read, by a clock that goes on as soon as everybody waits."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from core.domain.errors import DatabaseDown, NotFound
from core.domain.models import (
    EventFilter,
    Feedback,
    FeedbackStatus,
    FeedPage,
    PlacedEvent,
    RunEvent,
)
from core.domain.models.deliveries import HookSaid
from core.domain.ports import Bell
from core.entrypoints.service.events import PAGE, Ended, EventsService, _Reading, follow
from tests.support.react import FEEDBACK
from tests.support.sessions import principal, session_of

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


def page_of(*names: str, **given: bool) -> FeedPage:
    events = tuple(PlacedEvent(cursor=name, event=RunEvent(name=name)) for name in names)
    return FeedPage(cursor=names[-1] if names else "0", events=events, **given)


@dataclass
class Story:
    """What happens at which second: states of a piece, pages of events, and what hooks say.

    An event or a state that is an error is one that cannot be read.
    """

    status: Callable[[float], FeedbackStatus | None]
    pages: Mapping[float, FeedPage | None] = field(default_factory=dict)
    awaits_hook_until: float | None = None
    is_hook_down: bool = False
    asked: list[tuple[str | None, EventFilter, int]] = field(default_factory=list)
    told: list[tuple[float, str]] = field(default_factory=list)

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time()

    async def get(self, feedback_id: str) -> Feedback:
        status = self.status(self.now)
        if status is None:
            raise DatabaseDown("gone")
        return FEEDBACK.model_copy(update={"status": status})

    async def cursor(self) -> str:
        return "now"

    async def after(self, cursor: str | None, wanted: EventFilter, limit: int) -> FeedPage:
        self.asked.append((cursor, wanted, limit))
        due = [at for at in self.pages if at <= self.now]
        page = self.pages[due[0]] if due else page_of()
        self.pages = {at: page for at, page in self.pages.items() if at not in due[:1]}
        if page is None:
            raise DatabaseDown("gone")
        return page

    @asynccontextmanager
    async def listening(self, wanted: EventFilter) -> AsyncIterator[Bell]:
        yield _Bell(rings=False)

    async def said(
        self, feedback_id: str, awaited: Sequence[str]
    ) -> tuple[Sequence[HookSaid], bool]:
        assert (feedback_id, awaited) == ("f1", ["us"])
        if self.is_hook_down:
            raise DatabaseDown("gone")
        until = self.awaits_hook_until or 0.0
        return [HookSaid(hook="us", event="e", at="2026-01-01T00:00:00Z")], self.now < until  # type: ignore[arg-type]

    def service(self, tenant_id: str = FEEDBACK.tenant_id) -> EventsService:
        has_hooks = self.awaits_hook_until is not None or self.is_hook_down
        hooks = SimpleNamespace(hooks=SimpleNamespace(awaited=["us"])) if has_hooks else None
        stores = {"inbox": self, "feed": self, "delivery_log": self}
        return EventsService(session_of(principal(tenant_id), parts={"hooks": hooks}, **stores))

    def play(self, after: str | None = None) -> list[tuple[float, str]]:
        """Read all of the stream; return what it told, and when."""

        async def read() -> None:
            async for one in await self.service().of_feedback("f1", after):
                name = "end" if isinstance(one, Ended) else one.event.name
                hooks = f" {len(one.hooks)}" if isinstance(one, Ended) and one.hooks else ""
                self.told.append((round(self.now, 1), f"{name}{hooks}"))

        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(asyncio.wait_for(read(), 1_000))
        return self.told


def ends_at(second: float) -> Callable[[float], FeedbackStatus]:
    return lambda now: FeedbackStatus.PROCESSING if now < second else FeedbackStatus.COMPLETED


def test_a_stream_of_a_piece_ends_with_its_end() -> None:
    story = Story(ends_at(0), {0: page_of("feedback.claimed", "feedback.finished")})
    assert story.play("c") == [(0, "feedback.claimed"), (0, "feedback.finished"), (0, "end")]
    assert story.asked == [("c", EventFilter(feedback_id="f1"), PAGE)]


def test_a_piece_that_goes_on_is_waited_for() -> None:
    story = Story(ends_at(7), {0: page_of("feedback.claimed"), 6: page_of("feedback.cancelled")})
    assert story.play() == [(0, "feedback.claimed"), (10, "feedback.cancelled"), (10, "end")]
    assert {limit for _, _, limit in story.asked} == {PAGE}
    assert [cursor for cursor, *_ in story.asked][:2] == [None, "feedback.claimed"]


@pytest.mark.parametrize(
    "pages",
    [
        {0: page_of("feedback.claimed")},
        # It ended once, was claimed again, and the event of its second end is late.
        {0: page_of("feedback.finished", "feedback.claimed")},
        {},
    ],
)
def test_an_end_whose_event_is_late_is_told_after_a_while(pages: dict[float, FeedPage]) -> None:
    *_, (at, name) = Story(ends_at(0), pages).play()
    assert (at, name) == (2, "end")


def test_an_event_that_is_late_is_told_before_the_end() -> None:
    pages = {0: page_of("feedback.claimed"), 1: page_of("feedback.finished")}
    assert Story(ends_at(0), pages).play() == [
        (0, "feedback.claimed"), (2, "feedback.finished"), (2, "end"),
    ]  # fmt: skip


def test_all_pages_are_read_before_the_end() -> None:
    full = page_of("feedback.finished", is_full=True)
    story = Story(ends_at(0), {-1: full, 0: page_of("hook.disabled")})
    assert [name for _, name in story.play()] == ["feedback.finished", "hook.disabled", "end"]
    behind = page_of("feedback.finished", is_behind=True)
    late = Story(ends_at(0), {0: behind, 0.01: page_of("change.applied")})
    assert [name for _, name in late.play()] == ["feedback.finished", "change.applied", "end"]


def test_a_database_that_is_down_ends_no_stream() -> None:
    def status(now: float) -> FeedbackStatus | None:
        return FeedbackStatus.PROCESSING if now < 1 else None if now < 20 else ends_at(0)(now)

    pages: dict[float, FeedPage | None] = {0: page_of("feedback.claimed"), 4: None}
    story = Story(status, pages)
    (at, name), (later, end) = story.play()
    assert (at, name, end) == (0, "feedback.claimed", "end")
    assert 20 <= later <= 30


def test_a_piece_that_is_taken_up_again_has_not_ended() -> None:
    def status(now: float) -> FeedbackStatus:
        return FeedbackStatus.PROCESSING if 1 < now < 12 else FeedbackStatus.COMPLETED

    told = Story(status, {0: page_of("feedback.claimed")}).play()
    assert told[-1][1] == "end"
    assert told[-1][0] >= 14  # two seconds after it has ended again


@pytest.mark.parametrize(
    ("until", "is_down", "at", "told"),
    [
        (0, False, 0, "end 1"),
        (10, False, 10, "end 1"),
        (99, False, 30, "end 1"),
        (0, True, 30, "end"),
    ],
)
def test_the_end_waits_for_hooks_that_are_awaited(
    until: float, is_down: bool, at: float, told: str
) -> None:
    story = Story(ends_at(0), {0: page_of("feedback.finished")}, until, is_down)
    assert story.play()[-1] == (at, told)


def test_events_are_watched_from_a_cursor_or_from_now_on() -> None:
    async def read() -> None:
        for after, cursor in ((None, "now"), ("c", "c")):
            story = Story(ends_at(0), {0: page_of("a", "b"), 0.5: page_of("d")})
            wanted = {"tenant_id": None, "names": ("a",)}
            begun, events = await story.service().watch(after, **wanted)  # type: ignore[arg-type]
            assert begun == cursor
            assert [(await anext(events)).event.name for _ in range(3)] == ["a", "b", "d"]
            scope = EventFilter(tenant_id=FEEDBACK.tenant_id, names=("a",))
            assert story.asked[:2] == [(cursor, scope, PAGE), ("b", scope, PAGE)]
        story = Story(ends_at(0), {0: page_of("a")})
        events = await follow(story, EventFilter(names=("a",)))
        assert (await anext(events)).event.name == "a"
        assert story.asked == [("now", EventFilter(names=("a",)), PAGE)]
        with pytest.raises(NotFound):
            await story.service("another").of_feedback("f1", None)
        with pytest.raises(NotFound):
            await story.service().watch(None, tenant_id="another")

    with asyncio.Runner(loop_factory=_Loop) as runner:
        runner.run(read())

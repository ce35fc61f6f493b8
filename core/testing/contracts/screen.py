"""Contract of every screen of a plug-in; a test class supplies `screen`, and `shown` for it.

class TestMyScreen(ScreenContract):
    @pytest.fixture
    def screen(self) -> TextScreen: ...

    @pytest.fixture
    def shown(self) -> Shown:
        return Shown(something="a text with what it finds", nothing="a text without")
"""

from __future__ import annotations

import asyncio
from typing import NamedTuple

import pytest

from core.domain.models import Addition, Found, Kind
from core.domain.ports import TextScreen

MOST_SECONDS = 10.0
_ODD = ("", " ", "\0", "\ud800", "\u202e\u200b\U000e0041", "```\n[x](y) {{7*7}} <!-- -->", "가" * 3)


class Shown(NamedTuple):
    """A text in which the screen finds something, and one in which it finds nothing."""

    something: str
    nothing: str


class ScreenContract:
    """Tests for any screen."""

    async def test_it_finds_something_and_says_where(
        self, screen: TextScreen, shown: Shown
    ) -> None:
        found = await screen.find([Addition(text=shown.something)])
        assert found
        _see(found, {"": shown.something})

    async def test_it_finds_nothing_where_there_is_nothing(
        self, screen: TextScreen, shown: Shown
    ) -> None:
        assert not await screen.find([Addition(text=shown.nothing)])
        assert not await screen.find([])

    async def test_what_it_finds_is_at_the_place_of_its_text(
        self, screen: TextScreen, shown: Shown
    ) -> None:
        texts = {"SKILL.md": shown.nothing, "scripts/a.sh": shown.something, "한글.md": ""}
        asked = [Addition(place=at, text=text, kind=Kind.SKILL) for at, text in texts.items()]
        found = await screen.find(asked)
        _see(found, texts)
        assert {one.place for one in found} == {"scripts/a.sh"}

    async def test_it_finds_the_same_again(self, screen: TextScreen, shown: Shown) -> None:
        asked = [Addition(text=shown.something)]
        first = await screen.find(asked)
        assert [*await screen.find(asked)] == [*first]

    async def test_several_ask_it_at_once(self, screen: TextScreen, shown: Shown) -> None:
        asked = [shown.something, shown.nothing] * 5
        told = await asyncio.gather(*(screen.find([Addition(text=text)]) for text in asked))
        assert [bool(found) for found in told] == [True, False] * 5

    @pytest.mark.parametrize("kind", [None, *Kind])
    async def test_it_takes_text_of_each_kind(
        self, screen: TextScreen, shown: Shown, kind: Kind | None
    ) -> None:
        _see(await screen.find([Addition(text=shown.something, kind=kind)]), {"": shown.something})

    @pytest.mark.parametrize("odd", _ODD)
    async def test_no_text_is_too_odd(self, screen: TextScreen, shown: Shown, odd: str) -> None:
        text = f"{odd}\n{shown.something}\n{odd}"
        _see(await screen.find([Addition(text=odd)]), {"": odd})
        _see(await screen.find([Addition(text=text)]), {"": text})

    async def test_a_megabyte_takes_less_than_its_time(
        self, screen: TextScreen, shown: Shown
    ) -> None:
        text = f"{shown.nothing}\n" * (1 + 1_000_000 // (len(shown.nothing) + 1))
        async with asyncio.timeout(MOST_SECONDS):
            assert not await screen.find([Addition(text=text)])


def _see(found: object, texts: dict[str, str]) -> None:
    """See that each finding is one, within the text at its place."""
    assert isinstance(found, list | tuple)
    for one in found:
        assert isinstance(one, Found)
        assert one.place in texts
        assert one.start < one.end <= len(texts[one.place])

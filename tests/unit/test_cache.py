"""Cached answers: read once, reused for a while, and refreshed when too old."""

from __future__ import annotations

import asyncio

import pytest

from core.adapters.cache import Cached


class World:
    """A clock, and a read of configurable duration."""

    def __init__(self) -> None:
        self.time = 0.0
        self.takes = 0.0
        self.reads = 0
        self.kept: Cached[int] = Cached(60, lambda: self.time, rest=100, most=2)

    async def read(self) -> int:
        """Count the reads."""
        self.reads += 1
        await asyncio.sleep(0)
        self.time += self.takes
        return self.reads


async def test_an_answer_is_read_again_once_it_is_too_old() -> None:
    world = World()
    assert [await world.kept.get("q", world.read) for _ in range(3)] == [1, 1, 1]
    world.time = 59.9
    assert await world.kept.get("q", world.read) == 1
    world.time = 60
    assert await world.kept.get("q", world.read) == 2


async def test_what_takes_long_is_kept_long() -> None:
    world = World()
    world.takes = 2.0
    await world.kept.get("q", world.read)
    world.time = 199
    assert await world.kept.get("q", world.read) == 1
    world.time = 200
    assert await world.kept.get("q", world.read) == 2


async def test_many_who_ask_at_once_share_one_reading() -> None:
    world = World()
    asked = [world.kept.get("q", world.read) for _ in range(20)]
    assert await asyncio.gather(*asked) == [1] * 20


async def test_each_question_has_its_answer_and_the_oldest_is_forgotten() -> None:
    world = World()
    assert [await world.kept.get(q, world.read) for q in "aba"] == [1, 2, 1]
    assert await world.kept.get("c", world.read) == 3
    assert [await world.kept.get(q, world.read) for q in "ac"] == [1, 3]
    assert await world.kept.get("b", world.read) == 4


async def test_a_failure_is_told_and_not_kept() -> None:
    world = World()

    async def broken() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await world.kept.get("q", broken)
    assert await world.kept.get("q", world.read) == 1

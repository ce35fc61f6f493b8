"""Bounded concurrency in order of arrival; a slow holder blocks no one else."""

from __future__ import annotations

import asyncio

import pytest

from core.app.fair_semaphore import FairSemaphore
from tests.support.waiting import SOON


async def test_so_many_at_once_in_the_order_they_came() -> None:
    turns, inside, begun = FairSemaphore(2, longest=60), 0, []

    async def one(number: int) -> None:
        nonlocal inside
        async with turns.taken():
            begun.append(number)
            inside += 1
            assert inside <= 2
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*map(one, range(9)))
    assert begun == [*range(9)]


async def test_what_lasts_too_long_lets_the_next_one_in_and_counts_once() -> None:
    turns, slow = FairSemaphore(1, longest=0.2), asyncio.Event()

    async def wait() -> None:
        async with turns.taken():
            await slow.wait()

    waiting = [asyncio.create_task(wait()) for _ in range(3)]
    async with asyncio.timeout(SOON), turns.taken():
        slow.set()
    await asyncio.gather(*waiting)
    async with turns.taken():  # there is one turn still, not one more for each that was slow
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0), turns.taken():
                pass


async def test_a_turn_comes_back_from_what_fails_or_gives_up() -> None:
    turns = FairSemaphore(1, longest=60)
    with pytest.raises(ValueError, match="no"):
        async with turns.taken():
            raise ValueError("no")
    async with turns.taken():
        waiting = asyncio.create_task(turns.taken().__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    async with asyncio.timeout(SOON), turns.taken():
        pass

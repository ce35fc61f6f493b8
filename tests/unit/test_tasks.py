"""Tasks end when cancelled, even if a cancellation is lost on the way."""

from __future__ import annotations

import asyncio

import pytest

from core.domain.tasks import end_tasks
from tests.support.waiting import SOON


async def _for_ever(losing: int, cancelled: list[int]) -> None:
    """Loop for ever, losing a number of cancellations as `asyncio.wait_for` does."""
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            cancelled.append(1)
            if len(cancelled) > losing:
                raise


async def _fails() -> None:
    raise ValueError("nobody is told")


@pytest.mark.parametrize("losing", [0, 1, 3])
async def test_a_task_that_loses_its_cancellation_ends(losing: int) -> None:
    cancelled: list[int] = []
    task = asyncio.create_task(_for_ever(losing, cancelled))
    await asyncio.sleep(0)
    async with asyncio.timeout(SOON):
        await end_tasks([task], again=0.01)
    assert task.cancelled()
    assert len(cancelled) == losing + 1


async def test_what_has_ended_by_itself_is_no_error() -> None:
    task = asyncio.create_task(_fails())
    await asyncio.wait({task})
    await end_tasks([task])
    await end_tasks([])

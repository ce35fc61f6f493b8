"""A row whose new status the platform refuses does not block other rows."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.domain.models import FeedbackStatus, Outcome
from core.polling_manager import SourcePoller
from tests.support.postgrest_server import Refusal
from tests.support.supabase import Supabase, supabase

DONE = Outcome(status=FeedbackStatus.COMPLETED)


@pytest.fixture
async def world() -> AsyncIterator[Supabase]:
    async with supabase() as opened:
        yield opened


def refuse(status: int, code: str) -> Refusal:
    """A trigger of the platform that forbids changing rows of a closed process."""
    return Refusal(status, code, "the process is closed")


@pytest.mark.parametrize(("status", "code"), [(400, "P0001"), (400, "22012"), (409, "23503")])
async def test_a_row_that_may_not_be_moved_keeps_no_other(
    world: Supabase, status: int, code: str
) -> None:
    world.sources["supabase"] = world.source()
    poller = SourcePoller(world)
    world.server.refusals["closed"] = refuse(status, code)
    world.todo("closed", [world.item("one")])
    world.todo("r2", [world.item("two")])
    assert await poller.poll(10) == 2
    assert (world.status("closed"), world.status("r2")) == ("STARTED", "PROCESSING")

    await world.end(DONE)
    world.todo("r3", [world.item("three")])
    assert await poller.poll(10) == 1
    assert (world.status("closed"), world.status("r2")) == ("STARTED", "COMPLETED")
    assert world.status("r3") == "PROCESSING"
    assert not poller.failures


async def test_it_gets_its_end_once_the_platform_lets_it(world: Supabase) -> None:
    world.server.refusals["closed"] = refuse(400, "P0001")
    world.todo("closed", [world.item("one")])
    await world.fetch()
    await world.end(DONE)
    assert await world.acknowledge() == 0
    world.server.refusals.clear()
    assert await world.acknowledge() == 1
    assert world.status("closed") == "COMPLETED"

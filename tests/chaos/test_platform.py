"""Feedback of the existing platform, with workers killed at each of their calls to it."""

from __future__ import annotations

import asyncio

import pytest

from tests.chaos.platform import rows_of
from tests.chaos.recording import Recording
from tests.chaos.scenario import LONG, Scenario
from tests.chaos.tasks import Task
from tests.support.waiting import wait_until

pytestmark = pytest.mark.nightly

COUNT = 100 if LONG else 40
OF_PLATFORM = ("supabase.", "deliveries.", "inbox.", "agents.")


async def test_killed_at_every_point_of_fetch_and_acknowledge(
    scenario: Scenario, recording: Recording
) -> None:
    """Rows arrive one after another, so that there is something to fetch wherever one is killed."""
    scenario.use_platform()
    platform = scenario.world.platform
    points = sorted({p.name for p in recording.platform if p.name.startswith(OF_PLATFORM)})
    tasks = [Task("memory", f"todo-{at}", f"todo-{at // 2}") for at in range(COUNT)]
    scenario.expect(tasks)
    for slot in range(2):
        scenario.start(slot, scenario.plan(once=points))
    waiting = iter([tasks[at : at + 2] for at in range(0, COUNT, 2)])

    async def say() -> None:
        platform.control(**rows_of(next(waiting, [])))
        await asyncio.sleep(0.7)

    done = await scenario.keep(disturb=say)
    rows = {f"row-{task.tenant}" for task in tasks}
    wait_until(lambda: {platform.told()["rows"][row] for row in rows} == {"COMPLETED"})
    found = scenario.findings()
    assert not found.all, "\n".join(found.all)
    assert done
    assert set(scenario.fired()) == set(points)

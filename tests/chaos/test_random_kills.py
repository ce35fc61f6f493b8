"""kill -9 of either of two workers, at any time and point, while they share targets."""

from __future__ import annotations

import random

import pytest

from tests.chaos.scenario import LONG, Scenario
from tests.chaos.tasks import mixed

pytestmark = pytest.mark.nightly

COUNT = 1000 if LONG else 60
CHANCE = 0.002  # of a kill at a point: a task passes dozens


async def test_either_of_two_workers_is_killed_at_random(scenario: Scenario) -> None:
    rng = random.Random(4)
    await scenario.teach(mixed(COUNT, "m"))
    for slot in range(2):
        scenario.start(slot, scenario.plan(chance=CHANCE, seed=slot), concurrency=4)
    done = await scenario.keep(disturb=lambda: scenario.kill_at_random(rng, 2.0))
    found = scenario.findings()
    assert not found.all, "\n".join(found.all)
    assert done
    assert scenario.kills > COUNT / 20

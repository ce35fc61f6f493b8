"""A write that was delayed arrives after others have continued from the state before it."""

from __future__ import annotations

import os
import signal

import psycopg
import pytest

from tests.chaos.scenario import Scenario
from tests.chaos.tasks import BASE, Task
from tests.support.waiting import SOON, wait_until

pytestmark = pytest.mark.nightly

WRITES = [("update", BASE, "/files/SKILL.md"), ("skill", "skill-{}", "/skills/upload")]


@pytest.mark.parametrize(("kind", "target", "held"), WRITES, ids=["put", "upload"])
async def test_a_server_that_compares_refuses_a_write_that_comes_late(
    scenario: Scenario, kind: str, target: str, held: str
) -> None:
    await write_late(scenario, kind, target, held, etags=True)
    found = scenario.findings()
    assert not found.all, "\n".join(found.all)


@pytest.mark.parametrize(("kind", "target", "held"), WRITES, ids=["put", "upload"])
async def test_a_write_that_a_server_let_through_late_is_found_and_recorded(
    scenario: Scenario, kind: str, target: str, held: str
) -> None:
    await write_late(scenario, kind, target, held, etags=False)
    found = scenario.findings(tell=False)
    assert found.half, "the late write has changed nothing: this test shows nothing"
    assert not [*found.lost, *found.twice, *found.stuck]
    with psycopg.connect(scenario.database) as conn:
        events = conn.execute(
            "SELECT change_id FROM run_events WHERE name = 'change.diverged'"
        ).fetchall()
    assert len(events) == 1, events


async def write_late(scenario: Scenario, kind: str, target: str, held: str, *, etags: bool) -> None:
    """Let a stopped worker's write arrive when its work, and another's on top, are done."""
    key = f"late-{kind}-{etags}".lower()
    skills = scenario.world.skills
    before = skills.told()["faults"]
    skills.control(kinds=[], rate=0.0, etags=etags, hold=held)
    await scenario.teach([Task(kind, key, key)])
    stopped = scenario.start(0, scenario.plan())
    wait_until(lambda: _more(skills.told()["faults"], before, "held"))
    os.kill(stopped.pid or 0, signal.SIGSTOP)
    scenario.start(1, scenario.plan())
    assert await scenario.keep()
    await scenario.teach([Task("update", f"{key}-next", key, target.format(key))])
    assert await scenario.keep()
    skills.control(kinds=[], rate=0.0, etags=etags)
    wait_until(lambda: _more(skills.told()["faults"], before, "late"))
    os.kill(stopped.pid or 0, signal.SIGCONT)
    stopped.terminate()
    stopped.join(SOON)
    assert stopped.exitcode == 0


def _more(now: object, before: object, name: str) -> bool:
    assert isinstance(now, dict)
    assert isinstance(before, dict)
    return bool(now.get(name, 0) > before.get(name, 0))

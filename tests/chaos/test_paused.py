"""Workers that are stopped past their lease and continue: what was taken over stays taken."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import psycopg
import pytest

from tests.chaos.children import FAST
from tests.chaos.scenario import Scenario
from tests.chaos.tasks import Task
from tests.support.waiting import AT_LAST, SOON, wait_until

pytestmark = pytest.mark.nightly

# Before each commit, and on both sides of each outside call, by a kind of task that makes it.
POINTS = [
    ("memory", "model.call:before"),
    ("memory", "model.call:after"),
    ("memory", "saver.aput:before"),
    ("memory", "changes.open:before"),
    ("memory", "changes.unit_of_work:before"),
    ("rule", "unit.write_item:before"),
    ("memory", "unit.emit:after"),
    ("memory", "runs.finish:before"),
    ("memory", "inbox.finish:before"),
    ("agents", "replies.put:before"),
    ("skill", "skills.upload:before"),
    ("skill", "skills.upload:after"),
    ("update", "skills.put_file:before"),
    ("update", "skills.put_file:after"),
]
TAKEN_OVER_SECONDS = float(FAST["stalled_after_seconds"]) + 5.0


@pytest.mark.parametrize("etags", [True, False], ids=["conditional", "older"])
async def test_a_worker_that_goes_on_after_its_lease_changes_nothing(
    scenario: Scenario, etags: bool
) -> None:
    wanted = POINTS if etags else [p for p in POINTS if p[1].startswith("skills.")]
    prefix = "z" if etags else "zo"
    keys = [f"{prefix}-{number}" for number in range(len(wanted))]
    tasks = [Task(kind, key, key) for key, (kind, _) in zip(keys, wanted, strict=True)]
    scenario.world.skills.control(kinds=[], rate=0.0, etags=etags)
    ids = await scenario.teach(tasks)
    at = {i: (point, 1, "stop") for i, (_, point) in zip(ids, wanted, strict=True)}
    for slot in range(len(wanted)):
        scenario.start(slot, scenario.plan(at=at))
    wait_until(lambda: len(scenario.fired()) == len(wanted), AT_LAST)
    stopped = [scenario.worker(slot) for slot in range(len(wanted))]
    wait_until(lambda: all(_is_stopped(process.pid) for process in stopped))
    scenario.start(99, scenario.plan(), concurrency=4)
    done = await scenario.keep()
    assert done, "\n".join(scenario.findings(tell=False).all)
    for process in stopped:
        os.kill(process.pid or 0, signal.SIGCONT)
        process.terminate()
    for process in stopped:
        process.join(SOON)
        assert process.exitcode == 0
    found = scenario.findings()
    assert not found.all, "\n".join(found.all)


async def test_the_work_of_a_killed_worker_is_taken_over_in_time(scenario: Scenario) -> None:
    task = Task("memory", "late-1", "late-1")
    (feedback_id,) = await scenario.teach([task])
    scenario.start(0, scenario.plan(at={feedback_id: ("model.call:after", 2, "kill")}))
    scenario.start(1, scenario.plan(at={feedback_id: ("model.call:after", 2, "kill")}))
    assert await scenario.keep()
    died = Path(scenario.plan().fired, feedback_id).stat().st_mtime
    with psycopg.connect(scenario.database) as conn:
        row = conn.execute("SELECT extract(epoch FROM finished_at) FROM feedback").fetchone()
    assert row is not None
    assert float(row[0]) - died < TAKEN_OVER_SECONDS
    assert not scenario.findings().all
    assert time.time() > died


def _is_stopped(pid: int | None) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

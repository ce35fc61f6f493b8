"""A worker is killed once at every point; its successor finishes as if nothing had happened."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.chaos.coverage import ELSEWHERE, INSIDE, NAMES, port_calls
from tests.chaos.recording import Point, Recording
from tests.chaos.scenario import LONG, Scenario
from tests.chaos.tasks import Task

OF_PODS = ("pods.", "pod.", "documents.")


@pytest.mark.nightly
def test_every_port_call_between_claim_and_acknowledge_has_its_points(
    recording: Recording,
) -> None:
    calls = port_calls()
    assert calls - recording.calls - set(ELSEWHERE) == set(), "passed by no task: name its place"
    assert set(ELSEWHERE) <= calls, "no such call any more"
    assert {"model.call", "saver.aput", "saver.aput_writes"} <= recording.calls


def test_every_port_is_known_to_the_suite() -> None:
    from core.domain import ports

    declared = {getattr(ports, name) for name in ports.__all__}
    protocols = {port for port in declared if getattr(port, "_is_protocol", False)}
    assert protocols == set(NAMES.values()) | INSIDE


async def test_killed_after_a_call(scenario: Scenario, http_points: list[Point]) -> None:
    """What was done, and is not yet known to be, is neither lost nor done twice.

    After every fourth call; after each of them at night.
    """
    points = [point for point in first_of_each(http_points) if point.name.endswith(":after")]
    await act_at(points[::4], scenario, "kill")


@pytest.mark.nightly
async def test_killed_at_every_point(scenario: Scenario, recording: Recording) -> None:
    points = recording.http if LONG else first_of_each(recording.http)
    await act_at(points, scenario, "kill")


@pytest.mark.nightly
async def test_a_dependency_fails_once_at_every_point(
    scenario: Scenario, recording: Recording
) -> None:
    points = recording.http if LONG else first_of_each(recording.http)
    await act_at(points, scenario, "raise")


@pytest.mark.nightly
async def test_killed_at_every_point_of_the_pod_path(
    scenario: Scenario, recording: Recording
) -> None:
    scenario.use_pods()
    own = [point for point in recording.pods if point.name.startswith(OF_PODS)]
    await act_at(own if LONG else first_of_each(own), scenario, "kill")


async def act_at(points: Sequence[Point], scenario: Scenario, action: str) -> None:
    """Teach a task for each point, act on the worker that reaches it, and check the result."""
    prefix = f"{scenario.name.rpartition('_')[2]}-{action}"
    tasks = [Task(p.kind, f"{prefix}-{at}", f"{prefix}-{at}") for at, p in enumerate(points)]
    ids = await scenario.teach(tasks)
    at = {i: (point.name, point.hit, action) for i, point in zip(ids, points, strict=True)}
    for slot in range(2):
        scenario.start(slot, scenario.plan(at=at), concurrency=1 if action == "kill" else 4)
    done = await scenario.keep()
    found = scenario.findings()
    assert not found.all, "\n".join(found.all)
    assert done
    assert scenario.fired() == {feedback_id: point for feedback_id, (point, _, _) in at.items()}


def first_of_each(points: Sequence[Point]) -> list[Point]:
    """Return each name once; the kinds that pass it alternate."""
    kinds: dict[str, list[Point]] = {}
    for point in points:
        if point.hit == 1:
            kinds.setdefault(point.name, []).append(point)
    return [found[turn % len(found)] for turn, found in enumerate(kinds.values())]

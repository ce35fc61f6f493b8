"""Which points each kind of task passes when nothing goes wrong: what can be interrupted at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tests.chaos.failpoints import NOWHERE
from tests.chaos.platform import rows_of
from tests.chaos.scenario import Scenario
from tests.chaos.tasks import KINDS, Task
from tests.chaos.world import World
from tests.support import databases

POD_KINDS = ("skill", "update")


@dataclass(frozen=True)
class Point:
    """The `hit`th time (from 1) that a task of a kind passes a point."""

    kind: str
    name: str
    hit: int

    @property
    def call(self) -> str:
        """The call that the point belongs to."""
        return self.name.rpartition(":")[0]


@dataclass(frozen=True)
class Recording:
    """All points: of skills sent over HTTP, built in pods, and of feedback of the platform."""

    http: Sequence[Point]
    pods: Sequence[Point]
    platform: Sequence[Point]

    @property
    def calls(self) -> set[str]:
        """Return every call that was made for a task."""
        return {point.call for point in (*self.http, *self.pods, *self.platform)}


async def record_http(world: World) -> list[Point]:
    """Let one worker learn a task of each kind, its skills sent over HTTP."""
    return await _taught(world, "http", KINDS)


async def record(world: World, http: Sequence[Point]) -> Recording:
    """Let one worker learn in pods what it can, and one from the platform; `http` is there."""
    return Recording(
        http=http,
        pods=await _taught(world, "pods", POD_KINDS),
        platform=await _fetched(world),
    )


async def _taught(world: World, name: str, kinds: Sequence[str]) -> list[Point]:
    with databases.fresh_database(world.postgres.uri, world.template) as database:
        scenario = Scenario(world, database, f"record {name}")
        if name == "pods":
            scenario.use_pods()
        tasks = [Task(kind, f"{name}-{kind}", f"{name}-{kind}") for kind in kinds]
        ids = await scenario.teach(tasks)
        return await _recorded(scenario, dict(zip(ids, kinds, strict=True)))


async def _fetched(world: World) -> list[Point]:
    """Return the points of the fetch, which have no feedback because it precedes the jobs."""
    with databases.fresh_database(world.postgres.uri, world.template) as database:
        scenario = Scenario(world, database, "record platform")
        scenario.use_platform()
        tasks = [Task("memory", "platform-memory", "platform-memory")]
        world.platform.control(**rows_of(tasks))
        scenario.expect(tasks)
        return await _recorded(scenario, None)


async def _recorded(scenario: Scenario, kinds: dict[str, str] | None) -> list[Point]:
    path = scenario.folder / "record"
    scenario.start(0, scenario.plan(record=str(path)))
    try:
        assert await scenario.keep(), f"{scenario.name} came to no end"
    finally:
        scenario.end()
    found = scenario.findings(tell=False)
    assert not found.all, "\n".join(found.all)
    hits: Counter[tuple[str, str]] = Counter()
    points = []
    for line in path.read_text().splitlines():
        feedback_id, _, name = line.partition(" ")
        if kinds is None or feedback_id in kinds:
            hits[feedback_id, name] += 1
            kind = kinds[feedback_id] if kinds else _place(feedback_id)
            points.append(Point(kind, name, hits[feedback_id, name]))
    return points


def _place(feedback_id: str) -> str:
    return "beside" if feedback_id == NOWHERE else "job"

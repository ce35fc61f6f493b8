"""PostgreSQL, the skill server, the MCP servers and the model fail under load, and come back."""

from __future__ import annotations

import asyncio
import itertools
import random
import signal

import pytest

from tests.chaos import model_server, skill_faults
from tests.chaos.scenario import LONG, Scenario
from tests.chaos.tasks import BASE, Task, mixed

pytestmark = pytest.mark.nightly


async def see(scenario: Scenario, done: bool) -> None:
    found = scenario.findings()
    assert not found.all, "\n".join(found.all)
    assert done


async def test_postgresql_is_stopped_and_started(scenario: Scenario) -> None:
    ways = itertools.cycle([signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
    rng = random.Random(5)
    scenario.may_end = True
    scenario.world.model.control(kinds=[], rate=0.0, delay=0.1)
    await scenario.teach(mixed(300 if LONG else 40, "p"))
    for slot in range(2):
        scenario.start(slot, scenario.plan(), concurrency=4)

    async def restart() -> None:
        await scenario.leave_alone(rng, 0.3, 1.5)
        await asyncio.to_thread(scenario.world.postgres.stop, next(ways))
        scenario.kills += 1
        await asyncio.sleep(rng.uniform(0.0, 0.5))
        await asyncio.to_thread(scenario.world.postgres.start)

    done = await scenario.keep(disturb=restart)
    scenario.world.postgres.start()
    assert scenario.kills >= 3
    await see(scenario, done)


@pytest.mark.parametrize("etags", [True, False], ids=["conditional", "older"])
async def test_the_skill_server_answers_as_it_likes(scenario: Scenario, etags: bool) -> None:
    kinds = ("skill", "update", "update", "attach")
    count = 150 if LONG else 16
    tasks = []
    for number in range(count):
        kind = kinds[number % 4]
        group = f"s{number // 4}{'x' if kind == 'attach' else ''}{'' if etags else '-old'}"
        tasks.append(Task(kind, f"s-{number}-{etags}".lower(), group, BASE))
    await scenario.teach(tasks)
    skills = scenario.world.skills
    skills.control(kinds=skill_faults.FAULTS, rate=0.25, etags=etags)
    for slot in range(2):
        scenario.start(slot, scenario.plan(), concurrency=4)

    faults = 0

    async def restart() -> None:
        nonlocal faults
        await asyncio.sleep(3.0)
        faults += sum(skills.told()["faults"].values())
        await asyncio.to_thread(skills.kill)
        await asyncio.to_thread(skills.start)
        skills.control(kinds=skill_faults.FAULTS, rate=0.25, etags=etags)

    done = await scenario.keep(disturb=restart)
    faults += sum(skills.told()["faults"].values())
    assert faults >= (20 if LONG else 3)
    await see(scenario, done)


async def test_mcp_servers_are_restarted(scenario: Scenario) -> None:
    scenario.use_pods()
    count = 100 if LONG else 16
    tasks = [Task(("skill", "update")[n % 2], f"c-{n}", f"c-{n}") for n in range(count)]
    await scenario.teach(tasks)
    servers = itertools.cycle([scenario.world.pods, scenario.world.skills])
    rng = random.Random(6)
    for slot in range(2):
        scenario.start(slot, scenario.plan(), concurrency=2)

    async def restart() -> None:
        server = next(servers)
        await scenario.leave_alone(rng, 0.2, 0.8)
        await asyncio.to_thread(server.kill)
        await asyncio.to_thread(server.start)
        scenario.kills += 1

    done = await scenario.keep(disturb=restart)
    assert scenario.kills >= 2
    await see(scenario, done)


async def test_the_model_answers_as_it_likes(scenario: Scenario) -> None:
    await scenario.teach(mixed(200 if LONG else 30, "f"))
    model = scenario.world.model
    model.control(kinds=[*model_server.FAULTS, *model_server.GARBAGE], rate=0.25)
    for slot in range(2):
        scenario.start(slot, scenario.plan(), concurrency=4)
    done = await scenario.keep()
    await see(scenario, done)
    assert set(model.told()["faults"]) >= set(model_server.FAULTS)


async def test_the_model_is_gone_for_a_while(scenario: Scenario) -> None:
    """Nothing is paid or given up meanwhile; everything resumes when it is back."""
    scenario.settings["max_attempts"] = 5
    await scenario.teach(mixed(30, "g"))
    scenario.world.model.kill()
    for slot in range(2):
        scenario.start(slot, scenario.plan(), concurrency=4)
    assert not await scenario.keep(20.0 if LONG else 6.0)
    scenario.world.model.start()
    await see(scenario, await scenario.keep())

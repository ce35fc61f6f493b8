"""One scenario: tasks are taught to workers that die, and then the result is checked."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path

import psycopg
from pydantic import SecretStr

from core.app.program import open_app
from core.app.settings import load_settings
from core.domain.models import Agent, Bundle, SkillFile
from tests.chaos.children import MODEL, WorkerSpec, work
from tests.chaos.failpoints import Plan
from tests.chaos.invariants import Findings, keys_of, look, open_ends
from tests.chaos.tasks import BASE, Task
from tests.chaos.world import World, start
from tests.support.postgrest_server import KEY

Disturbance = Callable[[], Awaitable[None]]
LONG = os.environ.get("CHAOS") == "long"
LONGEST = 1800.0 if LONG else 240.0  # for the workers to finish everything a test gives them
LOOK_SECONDS = 0.05
BASE_SKILL = Bundle(
    name=BASE,
    files={
        "SKILL.md": SkillFile(
            data=b"---\nname: base\ndescription: Says how refunds are made.\n---\n\n# Refunds\n"
        ),
        "references/last.md": SkillFile(data=b"# Last\n"),
    },
)


@dataclass
class Scenario:
    """Workers on one database. `kills` counts those that were killed before all had ended.

    `may_end`: a worker may end by itself, for example if it starts while PostgreSQL is down.
    """

    world: World
    database: str
    name: str
    kills: int = 0
    may_end: bool = False
    tasks: dict[str, Task] = field(default_factory=dict)
    settings: dict[str, str | int | float] = field(default_factory=dict)
    _expected: dict[str, Task] = field(default_factory=dict)
    _workers: dict[int, BaseProcess] = field(default_factory=dict)
    _specs: dict[int, WorkerSpec] = field(default_factory=dict)
    _began: float = field(default_factory=time.monotonic)

    @property
    def folder(self) -> Path:
        """The folder of its files: plans, logs, fired actions."""
        folder = self.world.root / "".join(c if c.isalnum() else "-" for c in self.name)
        folder.mkdir(exist_ok=True)
        return folder

    async def teach(self, tasks: Sequence[Task]) -> list[str]:
        """Put tasks into the inbox, with their agents and skills; return the feedback's ids."""
        given = {
            "skill_worker_home": self.world.root,
            "skill_api_base_url": self.world.skills.url,
            "llm_model": MODEL,
        }
        settings = load_settings(given, env_file=None)  # type: ignore[arg-type]
        settings = settings.model_copy(update={"database_url": SecretStr(self.database)})
        async with open_app(settings) as app:
            for agent_id, tenant in sorted({(a, t.tenant) for t in tasks for a in t.agent_ids}):
                await app.stores.agents.save(Agent(id=agent_id, tenant_id=tenant, name=agent_id))
            for tenant in sorted({t.tenant for t in tasks if t.kind in {"update", "attach"}}):
                if await app.stores.skills.read(BASE, tenant) is None:
                    await app.stores.skills.upload(BASE_SKILL, tenant)
            added = await app.stores.inbox.add("cli", [task.feedback() for task in tasks])
        ids = [feedback_id for feedback_id, _ in added]
        self.tasks |= dict(zip(ids, tasks, strict=True))
        return ids

    def expect(self, tasks: Sequence[Task]) -> None:
        """Expect tasks to arrive by themselves: their feedback is recognised by its content."""
        self._expected = {task.key: task for task in tasks}

    def use_pods(self) -> None:
        """Build skills in pods."""
        if self.world.pods.process is None or not self.world.pods.process.is_alive():
            self.world.pods.start()
        self.settings |= {
            "use_skill_creator_workflow": "true",
            "computer_use_mcp_url": f"{self.world.pods.url}/mcp",
            "mcp_server_url": f"{self.world.skills.url}/mcp",
        }

    def use_platform(self) -> None:
        """Take feedback from the existing platform."""
        if self.world.platform.process is None:
            self.world.platform.start()
        self.settings |= {"supabase_url": self.world.platform.url, "supabase_key": KEY}

    def plan(self, **planned: object) -> Plan:
        """Return a plan whose actions are noted in this scenario's folder."""
        fired = self.folder / "fired"
        fired.mkdir(exist_ok=True)
        return Plan(fired=str(fired), **planned)  # type: ignore[arg-type]

    def fired(self) -> Mapping[str, str]:
        """Return the executed actions: the name (a feedback's id) and the point."""
        return {path.name: path.read_text() for path in (self.folder / "fired").iterdir()}

    def start(self, slot: int, plan: Plan, *, concurrency: int = 1) -> BaseProcess:
        """Start a worker in a slot, where `keep` restarts it."""
        path = self.folder / f"plan-{slot}.json"
        plan.save(path)
        self._specs[slot] = WorkerSpec(
            database=self.database,
            home=str(self.world.root),
            skills=self.world.skills.url,
            model=f"{self.world.model.url}/v1",
            plan=str(path),
            log=str(self.folder / f"worker-{slot}.log"),
            concurrency=concurrency,
            settings=self.settings,
        )
        return self._restart(slot)

    def _restart(self, slot: int) -> BaseProcess:
        self._workers[slot] = start(work, self._specs[slot])
        return self._workers[slot]

    def worker(self, slot: int) -> BaseProcess:
        """Return the current worker of a slot."""
        return self._workers[slot]

    async def keep(self, seconds: float = LONGEST, *, disturb: Disturbance | None = None) -> bool:
        """Keep the workers running until all has ended; return False on a timeout.

        A disturbance that has begun runs to its end: a server that it stops is started again.
        """
        over = asyncio.Event()
        disturbing = asyncio.create_task(_until(over, disturb)) if disturb else None
        try:
            async with asyncio.timeout(seconds):
                while not await self._ended():
                    self._replace_dead()
                    await asyncio.sleep(LOOK_SECONDS)
        except TimeoutError:
            return False
        finally:
            over.set()
            if disturbing:
                await disturbing
        return True

    def _replace_dead(self) -> None:
        for slot, process in list(self._workers.items()):
            if not process.is_alive():
                killed = process.exitcode == -signal.SIGKILL
                assert killed or self.may_end, self._said(slot)
                self.kills += killed
                self._restart(slot)

    def _said(self, slot: int) -> str:
        return f"worker {slot} ended by itself:\n{Path(self._specs[slot].log).read_text()[-3000:]}"

    async def _ended(self) -> bool:
        try:
            arrived = await asyncio.to_thread(self._arrived)
            return arrived and not await asyncio.to_thread(open_ends, self.database)
        except psycopg.OperationalError:
            return False  # it is down at the moment

    def _arrived(self) -> bool:
        """Whether everything expected has arrived; if so, it is added to the tasks."""
        if self._expected:
            known = keys_of(self.database)
            arrived = {key: feedback_id for feedback_id, key in known.items()}
            for key in self._expected.keys() & arrived.keys():
                self.tasks[arrived[key]] = self._expected.pop(key)
        return not self._expected

    async def leave_alone(self, rng: random.Random, shortest: float, longest: float) -> None:
        """Wait for a random time, ever longer, so that even a slow machine makes progress."""
        await asyncio.sleep(rng.uniform(shortest, longest) * (1 + self.kills / len(self.tasks)))

    async def kill_at_random(self, rng: random.Random, longest: float) -> None:
        """Wait for a random time, then kill a random worker."""
        await self.leave_alone(rng, 0.05, longest)
        self._workers[rng.choice(sorted(self._workers))].kill()

    def end(self) -> None:
        """End all workers, including stopped ones."""
        for process in self._workers.values():
            process.kill()
        for process in self._workers.values():
            process.join()
        self._workers.clear()

    def findings(self, *, tell: bool = True) -> Findings:
        """Check the result and, with `tell`, add a row to the table."""
        paid = self.world.model.told()["paid"]
        tasks = self.tasks | self._expected  # what never arrived is lost
        found = look(self.database, tasks, self.world.skills_root, paid)
        if not tell:
            return found
        seconds = f"{time.monotonic() - self._began:.1f}"
        sums = (str(len(self.tasks)), str(self.kills), str(found.claims), seconds)
        self.world.rows.append((self.name, *sums, found.summary()))
        return found


async def _until(over: asyncio.Event, disturb: Disturbance) -> None:
    while not over.is_set():
        await disturb()

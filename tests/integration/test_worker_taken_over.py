"""Real workers that die or are paused: others take their work over, in time and for good."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool
from core.domain.models import Agent, Feedback, FeedbackStatus, NewFeedback, Outcome
from core.testing.determinism import counting_ids
from tests.support.databases import url_of
from tests.support.forked import script
from tests.support.waiting import AT_LAST

STALLED_AFTER = 2.0
DONE = Outcome(status=FeedbackStatus.COMPLETED)
_WORKER = """
import asyncio, sys
from core.domain.errors import LeaseLost
from core.domain.models import FeedbackStatus, Outcome
from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import open_pool

async def main():
    async with open_pool(sys.argv[1]) as pool:
        inbox = PostgresInbox(pool, Jobs(pool), str)

        async def body(feedback_id):
            held = await inbox.claim(feedback_id)
            print("claimed", feedback_id, flush=True)
            await asyncio.to_thread(sys.stdin.readline)
            try:
                await inbox.finish(held, Outcome(status=FeedbackStatus.FAILED, error="too late"))
            except LeaseLost:
                print("lost", feedback_id, flush=True)
            else:
                print("ended", feedback_id, flush=True)

        options = WorkerOptions(concurrency=1, heartbeat=0.5, stalled_after=float(sys.argv[2]))
        await JobWorker(Jobs(pool), body, options).run(asyncio.Event())

asyncio.run(main())
"""
# As `run --once`, but for agent `bad` it dies in the middle of its work.
_POISONED = """
import asyncio, os, signal
from core.app.program import open_app
from core.app.settings import load_settings

class Poisoned:
    def __init__(self, agents):
        self._agents = agents

    async def get(self, tenant_id, agent_id):
        if agent_id == "bad":
            os.kill(os.getpid(), signal.SIGKILL)
        return await self._agents.get(tenant_id, agent_id)

    def __getattr__(self, name):
        return getattr(self._agents, name)

async def main():
    settings = load_settings({"llm_model": "offline"})
    wrap = lambda name, port: Poisoned(port) if name == "agents" else port
    async with open_app(settings, model=True, offline=True, wrap=wrap) as app:
        await app.run(True, 1, asyncio.Event(), lambda counts: None)

asyncio.run(main())
"""


@contextmanager
def worker_process(database: str) -> Iterator[subprocess.Popen[str]]:
    """A worker that prints what it claims, and ends it as failed when a line comes."""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with script(_WORKER, database, str(STALLED_AFTER), **streams) as process:
        try:
            yield process
        finally:
            process.kill()


async def said(process: subprocess.Popen[str]) -> str:
    """Return the next line a worker prints about its work; its log goes to the same stream."""
    assert process.stdout is not None
    async with asyncio.timeout(AT_LAST):
        while True:
            line = (await asyncio.to_thread(process.stdout.readline)).strip()
            if not line or line.split()[0] in {"claimed", "lost", "ended"}:
                return line


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@asynccontextmanager
async def living_worker(pool: Pool, inbox: PostgresInbox) -> AsyncIterator[asyncio.Queue[Feedback]]:
    """A worker with the default sweep; yields what it claims, which it ends well at once."""
    taken: asyncio.Queue[Feedback] = asyncio.Queue()
    stop = asyncio.Event()

    async def body(feedback_id: str) -> None:
        held = await inbox.claim(feedback_id)
        if held is not None:
            taken.put_nowait(held)
            await inbox.finish(held, DONE)

    options = WorkerOptions(heartbeat=0.5, stalled_after=STALLED_AFTER)
    task = asyncio.create_task(JobWorker(Jobs(pool), body, options).run(stop))
    try:
        yield taken
    finally:
        stop.set()
        await asyncio.wait_for(task, AT_LAST)


async def add(inbox: PostgresInbox, content: str = "원화로", agent_id: str = "a") -> str:
    piece = NewFeedback(tenant_id="t", agent_ids=(agent_id,), content=content)
    ((feedback_id, _),) = await inbox.add("cli", [piece])
    return feedback_id


async def test_what_a_killed_worker_had_is_taken_over_in_time(database: str, pool: Pool) -> None:
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))
    feedback_id = await add(inbox)
    with worker_process(database) as victim:
        assert await said(victim) == f"claimed {feedback_id}"
        async with living_worker(pool, inbox) as taken:
            victim.kill()
            died = time.monotonic()
            claimed = await asyncio.wait_for(taken.get(), AT_LAST)
            seconds = time.monotonic() - died
    print(f"taken over after {seconds:.1f} s, {STALLED_AFTER:g} s of them silence")
    assert seconds < STALLED_AFTER + 5
    assert (claimed.attempts, claimed.epoch) == (2, 2)
    assert (await inbox.get(feedback_id)).status is FeedbackStatus.COMPLETED


async def test_a_worker_paused_past_its_lease_changes_nothing_and_works_on(
    database: str, pool: Pool
) -> None:
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))
    first = await add(inbox)
    with worker_process(database) as paused:
        assert await said(paused) == f"claimed {first}"
        paused.send_signal(signal.SIGSTOP)
        async with living_worker(pool, inbox) as taken:
            assert (await asyncio.wait_for(taken.get(), AT_LAST)).id == first
        ended = await inbox.get(first)
        paused.send_signal(signal.SIGCONT)
        tell(paused)
        assert await said(paused) == f"lost {first}"
        assert await inbox.get(first) == ended
        assert ended.status is FeedbackStatus.COMPLETED
        second = await add(inbox)
        assert await said(paused) == f"claimed {second}"
        tell(paused)
        assert await said(paused) == f"ended {second}"
    assert (await inbox.get(second)).error == "too late"


async def test_feedback_that_takes_its_workers_down_is_dead_and_the_rest_is_done(
    database: str, pool: Pool, tmp_path: Path
) -> None:
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))
    for agent_id in ("bad", "good"):
        await PostgresAgents(pool).save(Agent(id=agent_id, tenant_id="t", name=agent_id))
    poison = await add(inbox, agent_id="bad")
    other = await add(inbox, "금액은 항상 원화로 적어 주세요", agent_id="good")
    codes = [await asyncio.to_thread(_poisoned, database, tmp_path) for _ in range(3)]
    assert codes == [-signal.SIGKILL, -signal.SIGKILL, 0]
    found = await inbox.get(poison)
    assert (found.status, found.attempts) == (FeedbackStatus.DEAD, 3)
    assert "gave up after 2 attempts" in (found.error or "")
    assert (await inbox.get(other)).status is FeedbackStatus.COMPLETED


def _poisoned(database: str, home: Path) -> int:
    settings = {
        "DATABASE_URL": url_of(database),
        "SKILL_WORKER_HOME": str(home),
        "MAX_ATTEMPTS": "2",
        "HEARTBEAT_SECONDS": "0.3",
        "STALLED_AFTER_SECONDS": "1",
        "SWEEP_SECONDS": "0.2",
        # Both have the same name, as two workers may.
        "WORKER_NAME": "worker",
    }
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path.cwd()), **settings}
    return script(_POISONED, env=environment, cwd=home).wait(2 * AT_LAST)

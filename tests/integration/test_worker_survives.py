"""A worker outlives a restart of PostgreSQL, and others recover the work of a killed one."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.adapters.embedded.postgres import Cluster, embedded_postgres, server_user
from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import open_pool
from core.domain.models import FeedbackStatus, NewFeedback, Outcome
from core.testing.determinism import counting_ids
from tests.support.forked import script
from tests.support.used_home import used_home
from tests.support.waiting import AT_LAST, SOON

DONE = Outcome(status=FeedbackStatus.COMPLETED)
_HANG = """
import asyncio, sys
from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import open_pool

async def body(feedback_id):
    print(feedback_id, flush=True)
    await asyncio.Event().wait()

async def main():
    async with open_pool(sys.argv[1]) as pool:
        worker = JobWorker(Jobs(pool), body, WorkerOptions(heartbeat=0.2, stalled_after=1))
        await worker.run(asyncio.Event())

asyncio.run(main())
"""


@pytest.fixture
def home() -> Iterator[Path]:
    with used_home() as here:
        yield here


@pytest.fixture
def own_server(home: Path) -> Iterator[str]:
    with embedded_postgres(home) as uri:
        yield uri


def pieces(number: int) -> list[NewFeedback]:
    return [
        NewFeedback(tenant_id="t", agent_ids=("a",), content=f"원화 {n}") for n in range(number)
    ]


async def test_a_worker_goes_on_after_postgresql_was_stopped_and_started(
    home: Path, own_server: str
) -> None:
    cluster = Cluster(home / "postgres", server_user(home))
    async with open_pool(own_server) as pool:
        jobs = Jobs(pool)
        inbox = PostgresInbox(pool, jobs, counting_ids("feedback"))
        done: asyncio.Queue[str] = asyncio.Queue()

        async def body(feedback_id: str) -> None:
            await inbox.finish(await inbox.get(feedback_id), DONE)
            done.put_nowait(feedback_id)

        stop = asyncio.Event()
        options = WorkerOptions(heartbeat=0.2, sweep_every=0.5, grace=1)
        worker = asyncio.create_task(JobWorker(jobs, body, options).run(stop))
        await inbox.add("cli", pieces(1))
        assert await asyncio.wait_for(done.get(), AT_LAST) == "feedback-000001"
        await asyncio.to_thread(cluster.stop)
        done_waiting, _ = await asyncio.wait({worker}, timeout=1)
        assert not done_waiting
        await asyncio.to_thread(cluster.ensure_running)
        async with open_pool(own_server) as other:
            ids = lambda: "feedback-after"  # noqa: E731
            await PostgresInbox(other, Jobs(other), ids).add("cli", pieces(1))
        assert await asyncio.wait_for(done.get(), AT_LAST) == "feedback-after"
        stop.set()
        await asyncio.wait_for(worker, AT_LAST)


async def test_what_a_killed_worker_had_is_done_by_another(database: str) -> None:
    async with open_pool(database) as pool:
        jobs = Jobs(pool)
        inbox = PostgresInbox(pool, jobs, counting_ids("feedback"))
        await inbox.add("cli", pieces(1))
        with script(_HANG, database, stdout=subprocess.PIPE) as victim:
            assert victim.stdout is not None
            line = await asyncio.to_thread(victim.stdout.readline)
            victim.kill()
        assert line == "feedback-000001\n"

        async def body(feedback_id: str) -> None:
            await inbox.finish(await inbox.get(feedback_id), DONE)

        options = WorkerOptions(heartbeat=0.2, stalled_after=1, sweep_every=0.2, poll=0.2)
        worker = JobWorker(jobs, body, options)
        await asyncio.wait_for(worker.run(asyncio.Event(), once=True), SOON)
        assert (await inbox.get("feedback-000001")).status is FeedbackStatus.COMPLETED

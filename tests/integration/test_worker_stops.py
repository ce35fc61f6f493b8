"""A worker that is told to stop does: with grace, at once, and without waiting for the dead."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.adapters.embedded.postgres import Cluster, embedded_postgres, server_user
from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import BORROW_SECONDS, open_pool
from core.adapters.postgres.queries import Pool
from core.domain.models import FeedbackStatus, NewFeedback
from core.testing.determinism import counting_ids
from tests.contracts.suites.inbox import claimed
from tests.support.used_home import used_home
from tests.support.waiting import NEVER, SOON

OPTIONS = WorkerOptions(heartbeat=0.2, sweep_every=60, grace=NEVER)
PIECES = [NewFeedback(tenant_id="t", agent_ids=("a",), content=f"원화 {n}") for n in range(2)]


@pytest.fixture
def home() -> Iterator[Path]:
    with used_home() as here:
        yield here


@pytest.fixture
def own_server(home: Path) -> Iterator[str]:
    with embedded_postgres(home) as uri:
        yield uri


class Hanging:
    """A worker whose jobs hang until they are cancelled, and are given back then."""

    def __init__(self, pool: Pool, *, gives_back: bool = True) -> None:
        self.jobs = Jobs(pool)
        self.inbox = PostgresInbox(pool, self.jobs, counting_ids("feedback"))
        self.stop = asyncio.Event()
        self._all_run = asyncio.Event()
        self._runs = 0
        self._gives_back = gives_back

    async def start(self) -> asyncio.Task[None]:
        """Start a worker that runs every piece."""
        await self.inbox.add("cli", PIECES)
        worker = JobWorker(self.jobs, self._body, OPTIONS)
        task = asyncio.create_task(worker.run(self.stop))
        await asyncio.wait_for(self._all_run.wait(), SOON)
        return task

    async def _body(self, feedback_id: str) -> None:
        held = await claimed(self.inbox, feedback_id)
        self._runs += 1
        if self._runs == len(PIECES):
            self._all_run.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if not self._gives_back:
                await asyncio.Event().wait()
            await asyncio.shield(self.inbox.give_back(held, "stopped", 0))
            raise


async def _has_ended(task: asyncio.Task[None]) -> bool:
    await asyncio.wait({task}, timeout=SOON)
    return task.done()


async def test_what_is_told_twice_gives_its_jobs_back_and_leaves(
    pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.adapters.postgres.job_worker.HURRY_SECONDS", NEVER)
    hanging = Hanging(pool)
    task = await hanging.start()
    hanging.stop.set()
    done, _ = await asyncio.wait({task}, timeout=0.2)
    assert not done
    task.cancel()
    assert await _has_ended(task)
    pieces = [await hanging.inbox.get(f"feedback-00000{n}") for n in (1, 2)]
    assert {(piece.status, piece.error) for piece in pieces} == {(FeedbackStatus.QUEUED, "stopped")}


async def test_a_job_that_does_not_let_go_holds_nobody_up(pool: Pool) -> None:
    hanging = Hanging(pool, gives_back=False)
    task = await hanging.start()
    hanging.stop.set()
    await asyncio.wait({task}, timeout=0.1)
    task.cancel()
    assert await _has_ended(task)


async def test_where_the_database_has_gone_nobody_waits_for_it(home: Path, own_server: str) -> None:
    async with open_pool(own_server) as pool:
        hanging = Hanging(pool)
        task = await hanging.start()
        await asyncio.to_thread(Cluster(home / "postgres", server_user(home)).stop)
        hanging.stop.set()
        began = time.monotonic()
        assert await _has_ended(task)
    assert time.monotonic() - began < BORROW_SECONDS  # the pool is closed within it, too

"""A worker and its job engine: one that ends is begun again, and what it fetches is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from functools import cached_property

from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job

from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_engine import Engine
from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool
from core.domain.models import FeedbackStatus, NewFeedback, Outcome
from core.testing.determinism import counting_ids
from tests.contracts.suites.inbox import claimed
from tests.support.waiting import SOON

DONE = Outcome(status=FeedbackStatus.COMPLETED)


class OfEngine(Jobs):
    """Jobs on an engine that is given."""

    def __init__(self, pool: Pool, engine: Engine) -> None:
        super().__init__(pool)
        self._given = engine

    @cached_property
    def engine(self) -> Engine:
        return self._given


class Failing(Engine):
    """Ends each time that it is begun; `begun` has when that was. The fourth time is the last."""

    def __init__(self, stop: asyncio.Event) -> None:
        super().__init__()
        self.begun: list[float] = []
        self._stop = stop

    async def register_worker(self) -> int:
        self.begun.append(asyncio.get_running_loop().time())
        if len(self.begun) == 4:
            self._stop.set()
        raise ConnectorException


class Slow(Engine):
    """Has a job in its hands until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self.has_job, self.go_on = asyncio.Event(), asyncio.Event()

    async def _fetch(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        job = await super()._fetch(queues, worker_id)
        if job is not None:
            self.has_job.set()
            await self.go_on.wait()
        return job


async def test_an_engine_that_ends_again_and_again_is_begun_less_often(pool: Pool) -> None:
    stop = asyncio.Event()
    engine = Failing(stop)

    async def body(feedback_id: str) -> None:
        raise NotImplementedError(feedback_id)

    worker = JobWorker(OfEngine(pool, engine), body, WorkerOptions())
    await asyncio.wait_for(worker.run(stop), SOON)
    first, *_, last = engine.begun
    assert len(engine.begun) == 4
    assert last - first > 0.6  # 0.1 s, twice that, and twice that again


async def test_once_waits_for_a_job_of_a_resting_tenant_that_is_being_fetched(pool: Pool) -> None:
    engine = Slow()
    jobs = OfEngine(pool, engine)
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))
    done: list[str] = []
    looks = 0

    async def body(feedback_id: str) -> None:
        await inbox.finish(await claimed(inbox, feedback_id), DONE)
        done.append(feedback_id)

    async def resting() -> Collection[str]:
        nonlocal looks
        looks += 1
        await engine.has_job.wait()
        if looks == 3:
            engine.go_on.set()
        return ("t",)

    await inbox.add("cli", [NewFeedback(tenant_id="t", agent_ids=("a",), content="원화로")])
    worker = JobWorker(jobs, body, WorkerOptions(), resting=resting)
    await asyncio.wait_for(worker.run(asyncio.Event(), once=True), SOON)
    assert done == ["feedback-000001"]

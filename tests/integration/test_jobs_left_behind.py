"""Jobs that a living worker could not end: the feedback behind them is processed all the same."""

from __future__ import annotations

import asyncio

from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.domain.errors import DatabaseDown
from core.domain.models import FeedbackStatus, NewFeedback, Outcome
from core.testing.determinism import counting_ids
from tests.contracts.suites.inbox import claimed
from tests.support.databases import alter
from tests.support.waiting import SOON

OPTIONS = WorkerOptions(heartbeat=0.2, stalled_after=60, reconcile_every=0.3, poll=0.1)
# A sequence advances even if its transaction is rolled back: only the first ends are refused, that
# by the engine and that by the first reconciliation after it.
_REFUSE_TWICE = """
CREATE SEQUENCE ends;
CREATE FUNCTION refuse_twice() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF nextval('ends') <= 2 THEN RAISE 'the disk is full'; END IF;
    RETURN OLD;
END $$;
CREATE TRIGGER refuse_twice BEFORE DELETE ON procrastinate_jobs
FOR EACH ROW EXECUTE FUNCTION refuse_twice();
"""


async def test_once_ends_though_neither_feedback_nor_job_could_be_ended(pool: Pool) -> None:
    alter(pool.conninfo, _REFUSE_TWICE)
    jobs = Jobs(pool)
    inbox = PostgresInbox(pool, jobs, counting_ids("feedback"))
    starts: list[int] = []

    async def body(feedback_id: str) -> None:
        held = await claimed(inbox, feedback_id)
        starts.append(held.attempts)
        if len(starts) == 1:
            raise DatabaseDown("the last write failed, too")
        await inbox.finish(held, Outcome(status=FeedbackStatus.COMPLETED))

    piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="원화로")
    ((feedback_id, _),) = await inbox.add("cli", [piece])
    worker = JobWorker(jobs, body, OPTIONS)
    await asyncio.wait_for(worker.run(asyncio.Event(), once=True), SOON)
    assert (await inbox.get(feedback_id)).status is FeedbackStatus.COMPLETED
    assert starts == [1, 2]


async def test_the_job_of_feedback_that_has_ended_does_not_stay(pool: Pool) -> None:
    alter(pool.conninfo, _REFUSE_TWICE)
    jobs = Jobs(pool)
    inbox = PostgresInbox(pool, jobs, counting_ids("feedback"))
    stop = asyncio.Event()

    async def body(feedback_id: str) -> None:
        await inbox.finish(await claimed(inbox, feedback_id), Outcome(status=FeedbackStatus.FAILED))

    await inbox.add("cli", [NewFeedback(tenant_id="t", agent_ids=("a",), content="원화로")])
    worker = asyncio.create_task(JobWorker(jobs, body, OPTIONS).run(stop))
    async with asyncio.timeout(SOON):
        while await _jobs(pool):
            await asyncio.sleep(0.01)
    stop.set()
    await asyncio.wait_for(worker, SOON)


async def _jobs(pool: Pool) -> int:
    async with connection(pool) as conn:
        rows = await conn.execute("SELECT count(*) AS jobs FROM procrastinate_jobs")
        (row,) = await rows.fetchall()
        return int(row["jobs"])

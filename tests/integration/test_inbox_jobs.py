"""Jobs: started at once, never lost, recovered from dead workers and a crash of PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_sweep import reconcile, take_over
from core.adapters.postgres.job_worker import Body, JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.domain.errors import DatabaseDown
from core.domain.models import FeedbackStatus, NewFeedback, Outcome
from core.testing.determinism import counting_ids
from tests.contracts.suites.inbox import claimed
from tests.support.waiting import NEVER, SOON, until, within

DONE = Outcome(status=FeedbackStatus.COMPLETED)


@pytest.fixture
def jobs(pool: Pool) -> Jobs:
    return Jobs(pool)


@pytest.fixture
def inbox(pool: Pool, jobs: Jobs) -> PostgresInbox:
    return PostgresInbox(pool, jobs, counting_ids("feedback"))


def pieces(number: int) -> list[NewFeedback]:
    return [
        NewFeedback(tenant_id="t", agent_ids=("a",), content=f"원화 {n}") for n in range(number)
    ]


def finishing(inbox: PostgresInbox) -> Body:
    async def body(feedback_id: str) -> None:
        held = await inbox.claim(feedback_id)
        if held is not None:
            await inbox.finish(held, DONE)

    return body


async def job_rows(pool: Pool) -> list[dict[str, object]]:
    async with connection(pool) as conn:
        rows = await conn.execute(
            "SELECT id, status::text, args FROM procrastinate_jobs ORDER BY id"
        )
        return list(await rows.fetchall())


@asynccontextmanager
async def working(jobs: Jobs, body: Body, **options: float) -> AsyncIterator[asyncio.Task[None]]:
    """Run a worker; at the end stop it and wait for it."""
    stop = asyncio.Event()
    worker = JobWorker(jobs, body, WorkerOptions(**{"grace": NEVER, **options}))  # type: ignore[arg-type]
    task = asyncio.create_task(worker.run(stop))
    try:
        yield task
    finally:
        stop.set()
        await asyncio.wait_for(task, SOON)


async def _is_heard(pool: Pool) -> bool:
    """Whether a worker is told of new jobs: what comes in before waits until it looks again."""
    async with connection(pool) as conn:
        rows = await conn.execute(
            "SELECT FROM pg_stat_activity WHERE datname = current_database()"
            " AND query LIKE 'LISTEN%'"
        )
        return await rows.fetchone() is not None


async def test_once_drains_the_queue_and_leaves_no_job(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    await inbox.add("cli", pieces(20))
    worker = JobWorker(jobs, finishing(inbox), WorkerOptions())
    await asyncio.wait_for(worker.run(asyncio.Event(), once=True), SOON)
    assert await jobs.unfinished() == 0
    assert await job_rows(pool) == []


async def test_once_ends_at_once_with_nothing_to_do(jobs: Jobs, inbox: PostgresInbox) -> None:
    worker = JobWorker(jobs, finishing(inbox), WorkerOptions(poll=NEVER, grace=NEVER))
    await asyncio.wait_for(worker.run(asyncio.Event(), once=True), SOON)


async def test_once_waits_for_what_is_due_later(jobs: Jobs, inbox: PostgresInbox) -> None:
    attempts = []

    async def body(feedback_id: str) -> None:
        held = await claimed(inbox, feedback_id)
        attempts.append(held.attempts)
        if len(attempts) == 1:
            await inbox.give_back(held, "busy", 0.3)
        else:
            await inbox.finish(held, DONE)

    await inbox.add("cli", pieces(1))
    worker = JobWorker(jobs, body, WorkerOptions(poll=0.1))
    await asyncio.wait_for(worker.run(asyncio.Event(), once=True), SOON)
    assert attempts == [1, 2]


async def test_jobs_start_at_once_and_up_to_the_concurrency(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    running = most = 0
    release = asyncio.Event()
    full = asyncio.Event()

    async def body(feedback_id: str) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            full.set()
        await release.wait()
        running -= 1
        await inbox.finish(await claimed(inbox, feedback_id), DONE)

    async with working(jobs, body, concurrency=3, poll=NEVER):
        await until(lambda: _is_heard(pool))
        await inbox.add("cli", pieces(7))
        await asyncio.wait_for(full.wait(), SOON)
        release.set()
        await until(lambda: _none_left(jobs))
    assert most == 3


async def test_two_thousand_pieces_go_in_fast(jobs: Jobs, inbox: PostgresInbox) -> None:
    with within(5):
        stored = await inbox.add("file", pieces(2_000))
    assert sum(is_new for _, is_new in stored) == 2_000
    assert await jobs.unfinished() == 2_000


async def test_two_batches_with_common_ids_do_not_deadlock(inbox: PostgresInbox) -> None:
    batch = [piece.model_copy(update={"id": f"s-{n}"}) for n, piece in enumerate(pieces(300))]
    there, back = await asyncio.gather(inbox.add("x", batch), inbox.add("x", batch[::-1]))
    assert dict(there).keys() == dict(back).keys()
    assert sum(is_new for _, is_new in [*there, *back]) == 300


async def test_stopping_lets_running_jobs_finish(jobs: Jobs, inbox: PostgresInbox) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def body(feedback_id: str) -> None:
        begun.set()
        await go_on.wait()
        await inbox.finish(await claimed(inbox, feedback_id), DONE)

    async with working(jobs, body):
        ((feedback_id, _),) = await inbox.add("cli", pieces(1))
        await asyncio.wait_for(begun.wait(), SOON)
        asyncio.get_running_loop().call_later(0.1, go_on.set)
    assert (await inbox.get(feedback_id)).status is FeedbackStatus.COMPLETED


async def test_stopping_gives_back_what_does_not_finish_in_time(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    begun = asyncio.Event()

    async def body(feedback_id: str) -> None:
        held = await claimed(inbox, feedback_id)
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.shield(inbox.give_back(held, "the worker was stopped", 0))
            raise

    async with working(jobs, body, grace=0.1):
        ((feedback_id, _),) = await inbox.add("cli", pieces(1))
        await asyncio.wait_for(begun.wait(), SOON)
    assert (await inbox.get(feedback_id)).status is FeedbackStatus.QUEUED
    assert [row["status"] for row in await job_rows(pool)] == ["todo"]


async def test_a_body_that_breaks_loses_nothing(jobs: Jobs, inbox: PostgresInbox) -> None:
    calls = []

    async def body(feedback_id: str) -> None:
        calls.append(feedback_id)
        if len(calls) == 1:
            raise DatabaseDown("gone for a moment")
        await inbox.finish(await claimed(inbox, feedback_id), DONE)

    await inbox.add("cli", pieces(1))
    async with working(jobs, body, reconcile_every=0.1):
        await until(lambda: _none_left(jobs))
    assert len(calls) == 2


async def test_the_worker_survives_the_loss_of_every_connection(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    async with working(jobs, finishing(inbox), heartbeat=0.2):
        await inbox.add("cli", pieces(3))
        await until(lambda: _none_left(jobs))
        async with connection(pool) as conn:
            await conn.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = current_database() AND usename = current_user"
                " AND pid <> pg_backend_pid()"
            )
        await inbox.add("cli", pieces(3))
        await until(lambda: _none_left(jobs))


async def test_feedback_of_a_dead_worker_is_taken_up(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    await inbox.add("cli", pieces(2))
    dead = await _fetched_by_a_dead_worker(pool)
    assert await take_over(jobs, stalled_after=30) == 1
    assert await take_over(jobs, stalled_after=30) == 0
    assert await reconcile(jobs) == 0
    rows = await job_rows(pool)
    assert [row["status"] for row in rows] == ["todo", "todo"]
    assert dead not in [row["id"] for row in rows]
    assert {row["args"]["feedback_id"] for row in rows} == {  # type: ignore[index]
        "feedback-000001",
        "feedback-000002",
    }


async def test_a_live_workers_job_is_left_alone(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    await inbox.add("cli", pieces(1))
    job_id = await _fetched_by_a_dead_worker(pool, silent_for=1)
    assert await take_over(jobs, stalled_after=30) == 0
    assert await reconcile(jobs) == 0
    assert [row["id"] for row in await job_rows(pool)] == [job_id]


async def test_a_job_for_feedback_that_is_gone_does_no_harm(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    await inbox.add("cli", pieces(2))
    async with connection(pool) as conn:
        await conn.execute("DELETE FROM feedback WHERE id = 'feedback-000001'")
    worker = JobWorker(jobs, finishing(inbox), WorkerOptions())
    await asyncio.wait_for(worker.run(asyncio.Event(), once=True), SOON)
    assert await jobs.unfinished() == 0


async def test_a_retry_is_due_by_the_clock_of_the_database(
    pool: Pool, inbox: PostgresInbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("procrastinate.utils.utcnow", lambda: datetime(1999, 1, 1, tzinfo=UTC))
    await inbox.add("cli", pieces(1))
    held = await claimed(inbox, "feedback-000001")
    assert held.claimed_at is not None
    await inbox.give_back(held, "busy", 600)
    async with connection(pool) as conn:
        rows = await conn.execute(
            "SELECT scheduled_at = retry_at AS same, retry_at - now() AS wait"
            " FROM feedback f JOIN procrastinate_jobs j ON j.id = f.job_id"
        )
        (row,) = await rows.fetchall()
    assert row["same"]
    assert timedelta(seconds=590) < row["wait"] <= timedelta(seconds=600)


async def _none_left(jobs: Jobs) -> bool:
    return await jobs.unfinished() == 0


async def _fetched_by_a_dead_worker(pool: Pool, silent_for: float = 60) -> int:
    """Mark the first job as begun by a worker that has been silent for `silent_for` seconds."""
    async with connection(pool) as conn:
        worker = await conn.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - make_interval(secs => %s)) RETURNING id",
            (silent_for,),
        )
        (row,) = await worker.fetchall()
        job = await conn.execute(
            "UPDATE procrastinate_jobs SET status = 'doing', worker_id = %s"
            " WHERE id = (SELECT min(id) FROM procrastinate_jobs) RETURNING id",
            (row["id"],),
        )
        return int((await job.fetchall())[0]["id"])

"""The figures of the overview in PostgreSQL."""

from __future__ import annotations

import asyncio

import pytest

from core.adapters.postgres.figures import PostgresFigures
from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_sweep import take_over
from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.domain.models import FeedbackStatus
from core.domain.ports import Figures
from core.testing.determinism import counting_ids
from tests.contracts.suites.figures import FiguresContract, put
from tests.support.postgres_stores import PostgresStores
from tests.support.waiting import AT_LAST


class TestFigures(PostgresStores, FiguresContract):
    @pytest.fixture
    def figures(self, pool: Pool) -> Figures:
        return PostgresFigures(pool, stalled_after=30)


async def test_a_worker_is_seen_with_what_it_works_on_and_gone_when_it_stops(pool: Pool) -> None:
    figures, jobs, stop = PostgresFigures(pool, stalled_after=30), Jobs(pool), asyncio.Event()
    inbox = PostgresInbox(pool, jobs, counting_ids("feedback"))
    feedback_id = await put(inbox, "t")
    begun = asyncio.Event()

    async def body(_: str) -> None:
        begun.set()
        await stop.wait()

    worker = JobWorker(jobs, body, WorkerOptions(name="서울 1", concurrency=3, heartbeat=0.1))
    running = asyncio.create_task(worker.run(stop))
    await begun.wait()
    (seen,) = await figures.workers("t")
    assert (seen.name, seen.concurrency, seen.is_alive) == ("서울 1", 3, True)
    assert (seen.working, seen.feedback_ids) == (1, (feedback_id,))
    assert seen.started_at is not None
    assert seen.pid
    (other,) = await figures.workers("u")
    assert (other.working, other.feedback_ids) == (1, ())
    async with connection(pool) as conn:
        await conn.execute("DELETE FROM procrastinate_workers")  # as others who take it for dead
    async with asyncio.timeout(AT_LAST):
        while not await figures.workers(None):
            pass
    stop.set()
    await running
    assert await figures.workers(None) == []


async def test_a_worker_without_a_sign_of_life_is_silent_and_may_be_unnamed(pool: Pool) -> None:
    async with connection(pool) as conn:
        await conn.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - interval '31 seconds'), (now() - interval '20 seconds')"
        )
    silent, alive = await PostgresFigures(pool, stalled_after=30).workers(None)
    assert (silent.is_alive, alive.is_alive) == (False, True)
    assert silent.name is None


async def test_a_worker_with_nothing_to_do_is_not_forgotten_while_it_lives(pool: Pool) -> None:
    async with connection(pool) as conn:
        await conn.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - interval '31 seconds'), (now() - interval '20 seconds')"
        )
    figures = PostgresFigures(pool, stalled_after=30)
    _, alive = await figures.workers(None)
    assert await take_over(Jobs(pool), stalled_after=30) == 0
    assert await figures.workers(None) == [alive]


async def test_what_has_ended_is_counted_once_a_minute_what_waits_each_time(
    pool: Pool,
) -> None:
    now = 0.0
    figures = PostgresFigures(pool, stalled_after=30, clock=lambda: now)
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))
    assert (await figures.standing(None)).counts == {}
    claimed = await inbox.claim(await put(inbox, "t"))
    assert claimed is not None
    await put(inbox, "t")
    async with connection(pool) as conn:
        await conn.execute(
            "UPDATE feedback SET status = 'dead', finished_at = now() WHERE id = %s", (claimed.id,)
        )
    soon = await figures.standing(None)
    assert (soon.counts, soon.last_hour) == ({"queued": 1}, {"dead": 1})
    now = 60.0
    assert (await figures.standing(None)).counts == {"queued": 1, "dead": 1}


async def test_of_a_day_what_ended_is_counted_each_time_of_more_once_a_minute(
    pool: Pool,
) -> None:
    now = 0.0
    figures = PostgresFigures(pool, stalled_after=30, clock=lambda: now)
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))

    async def counted(days: int) -> int:
        series = await figures.ended(None, 3_600, 24 * days)
        return sum(sum(bucket.by_status.values()) for bucket in series.buckets)

    assert [await counted(1), await counted(2)] == [0, 0]
    await put(inbox, "t", FeedbackStatus.HELD)
    assert [await counted(1), await counted(2)] == [1, 0]
    now = 60.0
    assert [await counted(1), await counted(2)] == [1, 1]


async def test_a_worker_works_on_what_it_has_not_ended_and_others_do_not(pool: Pool) -> None:
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))
    ended, begun, _ = [await put(inbox, "t") for _ in range(3)]
    async with connection(pool) as conn:
        await conn.execute(
            "INSERT INTO procrastinate_workers (id) OVERRIDING SYSTEM VALUE VALUES (1), (2)"
        )
        for feedback_id, status in ((ended, "doing"), (ended, "succeeded"), (begun, "doing")):
            await conn.execute(
                "UPDATE procrastinate_jobs SET worker_id = 1, status = %s"
                " WHERE args ->> 'feedback_id' = %s",
                (status, feedback_id),
            )
    one, two = await PostgresFigures(pool, stalled_after=30).workers("t")
    assert (one.working, one.feedback_ids) == (1, (begun,))
    assert (two.working, two.feedback_ids) == (0, ())

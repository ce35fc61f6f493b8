"""Waiting feedback is scheduled fairly: no tenant waits for another one's backlog."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from core.adapters.postgres.inbox import PostgresInbox, PostgresIntake
from core.adapters.postgres.job_sweep import take_over
from core.adapters.postgres.job_worker import JobWorker, WorkerOptions
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.domain.models import FeedbackStatus, NewFeedback, Outcome
from core.testing.determinism import counting_ids
from tests.contracts.suites.inbox import claimed
from tests.support.waiting import AT_LAST

DONE = Outcome(status=FeedbackStatus.COMPLETED)
CONCURRENCY = 8


@pytest.fixture
def jobs(pool: Pool) -> Jobs:
    return Jobs(pool)


@pytest.fixture
def inbox(pool: Pool, jobs: Jobs) -> PostgresInbox:
    return PostgresInbox(pool, jobs, counting_ids("feedback"))


def pieces(tenant_id: str, number: int, first: int = 0) -> list[NewFeedback]:
    return [
        NewFeedback(tenant_id=tenant_id, agent_ids=("a",), content=f"{tenant_id}-{first + n}")
        for n in range(number)
    ]


async def started(jobs: Jobs, inbox: PostgresInbox, number: int, concurrency: int = 1) -> list[str]:
    """Work until `number` pieces have been started; return their contents in that order."""
    stop = asyncio.Event()
    starts: list[str] = []

    async def body(feedback_id: str) -> None:
        held = await claimed(inbox, feedback_id)
        starts.append(held.content)
        if len(starts) >= number:
            stop.set()
        await inbox.finish(held, DONE)

    worker = JobWorker(Jobs(jobs.pool), body, WorkerOptions(concurrency=concurrency, poll=0.1))
    await asyncio.wait_for(worker.run(stop), AT_LAST)
    return starts


async def waiting(pool: Pool) -> Sequence[str]:
    """Return the waiting feedback, in the order in which it would be taken."""
    async with connection(pool) as conn:
        rows = await conn.execute(
            "SELECT f.content FROM procrastinate_jobs j JOIN feedback f ON f.job_id = j.id"
            " WHERE j.status = 'todo' ORDER BY j.priority DESC, j.id"
        )
        return [row["content"] for row in await rows.fetchall()]


async def test_one_piece_behind_five_thousand_of_another_tenant_starts_at_once(
    jobs: Jobs, inbox: PostgresInbox
) -> None:
    await inbox.add("file", pieces("A", 5_000))
    await started(jobs, inbox, 100, CONCURRENCY)
    await inbox.add("file", pieces("B", 1))
    starts = await started(jobs, inbox, 2 * CONCURRENCY, CONCURRENCY)
    assert "B-0" in starts[: 2 * CONCURRENCY], starts


async def test_it_starts_at_once_though_all_of_the_other_tenant_is_tried_again(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    stored = await inbox.add("file", pieces("A", 50))
    for feedback_id, _ in stored:
        held = await claimed(inbox, feedback_id)
        await _drop_job(pool, feedback_id)
        await inbox.give_back(held, "model: it was down", 3600)
    async with connection(pool) as conn:
        await conn.execute("UPDATE procrastinate_jobs SET scheduled_at = now()")
    await inbox.add("file", pieces("B", 1))
    assert (await waiting(pool)).index("B-0") <= 2


async def test_it_starts_at_once_though_all_that_failed_becomes_due_again(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    stored = await inbox.add("file", pieces("A", 50))
    for feedback_id, _ in stored:
        held = await claimed(inbox, feedback_id)
        await _drop_job(pool, feedback_id)
        if feedback_id != stored[-1][0]:  # the last is in progress while the others become due
            await inbox.give_back(held, "skill_api: 503", 60)
    async with connection(pool) as conn:
        await conn.execute("UPDATE procrastinate_jobs SET scheduled_at = now()")
    await inbox.add("file", pieces("B", 1))
    assert (await waiting(pool)).index("B-0") <= 2


async def test_what_failed_is_tried_again_after_what_its_tenant_has_waiting(
    pool: Pool, inbox: PostgresInbox
) -> None:
    (first, _), *_ = await inbox.add("file", pieces("A", 3))
    held = await claimed(inbox, first)
    await _drop_job(pool, first)
    await inbox.add("file", pieces("B", 1))
    await inbox.give_back(held, "skill_api: 503", 60)
    assert await waiting(pool) == ["A-1", "A-2", "B-0", "A-0"]


async def test_what_waits_for_a_moment_does_not_overtake_what_waited_meanwhile(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    await inbox.add("file", pieces("A", 10))
    await started(jobs, inbox, 5)
    ((piece, _),) = await inbox.add("file", pieces("B", 1))
    held = await claimed(inbox, piece)
    await _drop_job(pool, piece)
    await inbox.give_back(held, "skill_api: 503", 0.5)
    assert await waiting(pool) == ["A-5", "A-6", "A-7", "B-0", "A-8", "A-9"]


async def test_tenants_take_turns_and_each_is_served_in_its_order(
    pool: Pool, inbox: PostgresInbox
) -> None:
    await inbox.add("file", pieces("A", 3))
    await inbox.add("file", [*pieces("B", 2), *pieces("A", 2, first=3), *pieces("C", 1)])
    assert await waiting(pool) == ["A-0", "A-1", "B-0", "C-0", "A-2", "B-1", "A-3", "A-4"]


async def test_who_comes_later_does_not_overtake_all_that_waited_meanwhile(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    await inbox.add("file", pieces("A", 10))
    assert await started(jobs, inbox, 5) == [f"A-{n}" for n in range(5)]
    await inbox.add("file", pieces("B", 3))
    assert await waiting(pool) == ["A-5", "A-6", "B-0", "A-7", "B-1", "A-8", "B-2", "A-9"]


async def test_what_is_given_back_at_once_keeps_its_turn(pool: Pool, inbox: PostgresInbox) -> None:
    (first, _), *_ = await inbox.add("file", pieces("A", 3))
    held = await claimed(inbox, first)
    await _drop_job(pool, first)
    await inbox.add("file", pieces("B", 2))
    await inbox.give_back(held, "stopped", 0, counts=False)
    assert (await waiting(pool))[0] == "A-0"


async def test_what_a_dead_worker_had_keeps_its_turn(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    (first, _), *_ = await inbox.add("file", pieces("A", 3))
    async with connection(pool) as conn:
        await conn.execute(
            "WITH dead AS (INSERT INTO procrastinate_workers (last_heartbeat)"
            " VALUES (now() - interval '1 minute') RETURNING id)"
            " UPDATE procrastinate_jobs j SET status = 'doing', worker_id = dead.id FROM dead"
            " WHERE j.args ->> 'feedback_id' = %s",
            (first,),
        )
    await claimed(inbox, first)
    assert await take_over(jobs, stalled_after=30) == 1
    assert await waiting(pool) == ["A-0", "A-1", "A-2"]


async def test_a_retry_by_a_person_comes_after_what_its_tenant_has_waiting(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    intake = PostgresIntake(pool, jobs)
    (first, _), *_ = await inbox.add("file", pieces("A", 3))
    await intake.cancel(first, "by mistake")
    await inbox.add("file", pieces("B", 1))
    await intake.revive(first)
    assert await waiting(pool) == ["A-1", "A-2", "B-0", "A-0"]


async def test_what_is_known_already_costs_no_turn(pool: Pool, inbox: PostgresInbox) -> None:
    batch = [piece.model_copy(update={"id": piece.content}) for piece in pieces("A", 4)]
    await inbox.add("file", batch[:3])
    await inbox.add("file", batch)
    async with connection(pool) as conn:
        rows = await (await conn.execute("SELECT max(turn) AS last FROM feedback")).fetchall()
    assert rows[0]["last"] == 4


async def test_turns_begin_again_when_nothing_is_unfinished(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    await inbox.add("file", pieces("A", 5))
    await started(jobs, inbox, 5)
    async with connection(pool) as conn:
        assert await jobs.turn(conn) == 0


async def test_turns_end_at_the_largest_integer_and_work_goes_on(
    pool: Pool, jobs: Jobs, inbox: PostgresInbox
) -> None:
    await inbox.add("file", pieces("A", 2))
    async with connection(pool) as conn:
        await conn.execute("UPDATE feedback SET turn = 2147483647")
        await conn.execute("UPDATE procrastinate_jobs SET priority = -2147483647")
    await inbox.add("file", [*pieces("A", 1, first=2), *pieces("B", 1)])
    assert await started(jobs, inbox, 4) == ["A-0", "A-1", "A-2", "B-0"]


async def _drop_job(pool: Pool, feedback_id: str) -> None:
    """End the job that was begun with the claim, as the engine does."""
    async with connection(pool) as conn:
        await conn.execute(
            "DELETE FROM procrastinate_jobs WHERE args ->> 'feedback_id' = %s", (feedback_id,)
        )

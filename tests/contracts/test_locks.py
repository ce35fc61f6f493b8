"""What one transaction must not do while another is open, with the other midway.

Waiting is observed in PostgreSQL; nothing depends on how long anything takes.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.budgets import PostgresBudgets
from core.adapters.postgres.change_log import PostgresChangeLog, PostgresTargetLocks
from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.job_sweep import reconcile, take_over
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Connection, Pool
from core.adapters.postgres.reviews import PostgresReviews
from core.adapters.postgres.runs import PostgresRetention, PostgresRuns
from core.agent.budgets import DailyBudgets
from core.domain.errors import LeaseLost, Repeated, Stale
from core.domain.models import (
    Agent,
    Candidate,
    Change,
    ChangeStatus,
    Feedback,
    FeedbackStatus,
    Kind,
    Outcome,
    Snapshot,
)
from core.testing.determinism import counting_ids
from tests.contracts.suites.budgets import PRICED
from tests.contracts.suites.change_log import memory_change, remembered
from tests.contracts.suites.inbox import DONE, added, claimed, parts_of, piece
from tests.contracts.suites.neighbours import NEAR, TEXT
from tests.contracts.suites.reviews import HAPPENED, waiting
from tests.support.waiting import AT_LAST

T = TypeVar("T")
_WAITS = """
SELECT count(*) AS waiting FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
"""
# `pg_locks` is of the whole server, on which other tests run at the same time.
_ADVISORY = """
SELECT count(*) AS waiting FROM pg_locks
WHERE locktype = 'advisory' AND NOT granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
_CANCEL = """
SELECT pg_cancel_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


@pytest.fixture
def log(pool: Pool) -> PostgresChangeLog:
    return PostgresChangeLog(pool)


@pytest.fixture
def inbox(pool: Pool) -> PostgresInbox:
    return PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))


@pytest.fixture
async def candidate(pool: Pool, inbox: PostgresInbox) -> Candidate:
    """Return a candidate whose run has begun."""
    runs = PostgresRuns(pool, counting_ids("candidate"))
    feedback = await claimed(inbox, await added(inbox))
    return await runs.start((await runs.save_candidates(feedback, parts_of(feedback)))[0], 1)


@asynccontextmanager
async def meanwhile(pool: Pool, statement: str, **params: object) -> AsyncIterator[Connection]:
    """Execute a statement in a transaction that commits with the block."""
    async with pool.connection() as conn, conn.transaction():
        await conn.execute(statement, params)
        yield conn


async def waits(pool: Pool, work: Coroutine[None, None, T], seen: str = _WAITS) -> asyncio.Task[T]:
    """Start work and see it wait for a lock."""
    task = asyncio.create_task(work)
    async with asyncio.timeout(AT_LAST), pool.connection() as conn:
        while True:
            row = await (await conn.execute(seen)).fetchone()
            if row is not None and row["waiting"]:
                return task
            assert not task.done(), "it did not wait"
            await asyncio.sleep(0.01)


def of(candidate: Candidate, change: Change) -> Change:
    update = {"candidate_id": candidate.id, "epoch": candidate.epoch}
    return change.model_copy(update=update)


_TAKEN_OVER = "UPDATE candidates SET epoch = epoch + 1 WHERE id = %(id)s"


async def test_a_run_that_is_being_taken_over_opens_no_change(
    pool: Pool, log: PostgresChangeLog, candidate: Candidate
) -> None:
    change = of(candidate, memory_change("c1", None, "one"))
    async with meanwhile(pool, _TAKEN_OVER, id=candidate.id):
        opening = await waits(pool, log.open(change, {}))
    with pytest.raises(LeaseLost):
        await opening
    assert await log.find(change.key) is None


async def test_a_run_that_is_being_taken_over_ends_no_change(
    pool: Pool, log: PostgresChangeLog, candidate: Candidate
) -> None:
    change = of(candidate, memory_change("c1", None, "one"))
    await log.open(change, {})
    async with meanwhile(pool, _TAKEN_OVER, id=candidate.id):
        ending = await waits(pool, _ended(log, change))
    with pytest.raises(LeaseLost):
        await ending
    assert (await log.get("c1")).status is ChangeStatus.APPLYING


async def test_a_change_of_another_generation_is_neither_opened_nor_ended(
    pool: Pool, log: PostgresChangeLog, candidate: Candidate
) -> None:
    change = of(candidate, memory_change("c1", None, "one"))
    await log.open(change, {})
    runs = PostgresRuns(pool, counting_ids("x"))
    later = await runs.start(candidate, 2)
    with pytest.raises(LeaseLost):
        await _ended(log, change)
    with pytest.raises(LeaseLost):
        await log.open(of(candidate, memory_change("c2", None, "two")), {})
    await _ended(log, of(later, change))
    assert (await log.get("c1")).status is ChangeStatus.APPLIED


async def test_of_two_that_end_a_change_at_once_the_second_finds_it_ended(
    pool: Pool, log: PostgresChangeLog
) -> None:
    change = memory_change("c1", None, "one")
    await log.open(change, {})
    async with log.unit_of_work(change) as first:
        second = await waits(pool, _ended(log, change))
        await first.close(change.id, ChangeStatus.APPLIED)
    with pytest.raises(Stale, match="settled already"):
        await second


async def test_an_intent_that_is_being_ended_is_not_adopted(
    pool: Pool, log: PostgresChangeLog, candidate: Candidate
) -> None:
    change = of(candidate, memory_change("c1", None, "one"))
    await log.open(change, {})
    async with log.unit_of_work(change) as unit:
        adopting = await waits(pool, PostgresTargetLocks(pool).adopt(change))
        await unit.close(change.id, ChangeStatus.APPLIED)
    assert await adopting is None


async def test_a_skill_that_is_being_listed_makes_the_agents_new_list_stale(
    pool: Pool, log: PostgresChangeLog
) -> None:
    await PostgresAgents(pool).save(Agent(id="a", tenant_id="t", name="A"))
    attach = memory_change("c1", "", "refund").model_copy(
        update={"kind": Kind.AGENT_SKILLS, "target_id": "a"}
    )
    skill = memory_change("c2", None, "audit").model_copy(
        update={"kind": Kind.SKILL, "target_id": "audit", "after": Snapshot(content="", name="s")}
    )
    await log.open(attach, {})
    await log.open(skill, {})

    async def attached() -> None:
        async with log.unit_of_work(attach) as unit:
            await unit.set_agent_skills(attach)

    async with log.unit_of_work(skill) as unit:
        await unit.update_agent_and_tenant_skills(skill)
        attaching = await waits(pool, attached())
    with pytest.raises(Stale, match="moved on"):
        await attaching


async def test_of_two_near_texts_at_once_the_second_sees_the_first(
    pool: Pool, log: PostgresChangeLog
) -> None:
    one, two = remembered("m1", TEXT, 0), remembered("m2", NEAR, 0)
    other = remembered("m3", NEAR, 0, agent_id="b")
    for change in (one, two, other):
        await log.open(change, {})
    async with log.unit_of_work(one) as unit:
        await unit.write_item(one)
        async with log.unit_of_work(other) as beside:
            await beside.write_item(other)  # another agent's does not wait
        second = await waits(pool, _written(log, two))
    with pytest.raises(Repeated):
        await second


async def test_a_change_that_is_being_rejected_is_waited_for_by_nobody(
    pool: Pool, log: PostgresChangeLog, inbox: PostgresInbox
) -> None:
    held, again = waiting(), waiting().model_copy(update={"id": "c2", "key": "k2"})
    await log.store(held, {}, HAPPENED)
    again = again.model_copy(update={"feedback_id": await added(inbox)})
    rejected = "UPDATE changes SET status = 'rejected' WHERE id = %(id)s"
    async with meanwhile(pool, rejected, id=held.id):
        joining = await waits(pool, PostgresDuplicateWaiters(pool).join(again))
    assert await joining is None


async def test_of_two_decisions_at_once_the_second_ends_the_feedback(
    pool: Pool, log: PostgresChangeLog, inbox: PostgresInbox
) -> None:
    feedback = await claimed(inbox, await added(inbox))
    changes = [_waiting(feedback, n) for n in (1, 2)]
    for change in changes:
        await log.store(change, {}, HAPPENED)
    await inbox.finish(feedback, Outcome(status=FeedbackStatus.HELD))
    reviews = PostgresReviews(pool)
    first, second = changes
    intent = await reviews.approve(first, "kim", HAPPENED)
    async with log.unit_of_work(intent) as unit:
        await unit.close(first.id, ChangeStatus.APPLIED)
        rejecting = reviews.end(second, ChangeStatus.REJECTED, "lee", "no", HAPPENED)
        task = await waits(pool, rejecting)
    await task
    assert (await inbox.get(feedback.id)).status is FeedbackStatus.COMPLETED


async def test_calls_of_a_tenant_are_set_aside_one_after_another(pool: Pool) -> None:
    budgets = PostgresBudgets(pool, DailyBudgets(Decimal("0.05"), {}), PRICED, sleep=asyncio.sleep)

    async def called(tenant_id: str, call_id: str) -> None:
        async with budgets.call(tenant_id, call_id):
            pass

    async with meanwhile(pool, "LOCK TABLE reservations IN ACCESS EXCLUSIVE MODE"):
        calls = [await waits(pool, called("t", "1"))]
        calls.append(asyncio.create_task(called("u", "2")))
        calls.append(await waits(pool, called("t", "3"), _ADVISORY))
        row = await (await _run(pool, _ADVISORY)).fetchone()  # type: ignore[attr-defined]
        assert row["waiting"] == 1
    await asyncio.gather(*calls)


async def test_what_a_call_sets_aside_is_renewed_while_it_runs(pool: Pool) -> None:
    """Three times before it runs out, so that one that fails is made up for."""
    asleep, woken = asyncio.Queue[float](), asyncio.Semaphore(0)

    async def sleep(seconds: float) -> None:
        asleep.put_nowait(seconds)
        await woken.acquire()

    async def renew() -> None:
        assert await asleep.get() == 10
        woken.release()
        asleep.put_nowait(await asleep.get())

    async def lasts_to() -> datetime:
        row = await (await _run(pool, "SELECT expires_at FROM reservations")).fetchone()  # type: ignore[attr-defined]
        return row["expires_at"]  # type: ignore[no-any-return]

    daily = DailyBudgets(Decimal("0.05"), {})
    budgets = PostgresBudgets(pool, daily, PRICED, sleep=sleep, lasts=30)
    async with asyncio.timeout(AT_LAST), budgets.call("t", "1"):
        first = await lasts_to()
        await renew()
        renewed = await lasts_to()
        assert first < renewed
        async with meanwhile(pool, "SELECT FROM reservations FOR UPDATE"):
            cancelled = await waits(pool, renew())
            await _run(pool, _CANCEL)
            await cancelled
        assert await lasts_to() == renewed
        await renew()
        assert renewed < await lasts_to()


async def test_what_another_decides_about_is_not_reminded_of(
    pool: Pool, log: PostgresChangeLog
) -> None:
    await log.store(waiting("m1"), {}, HAPPENED)
    await log.store(waiting("m2"), {}, HAPPENED)
    locked = "SELECT FROM changes WHERE target_id = 'm1' FOR UPDATE"
    async with meanwhile(pool, locked), asyncio.timeout(AT_LAST):
        named = await PostgresReviews(pool).remind(0)
    assert [change.target_id for change in named] == ["m2"]


async def test_what_another_touches_is_pruned_another_time(
    pool: Pool, inbox: PostgresInbox
) -> None:
    one, _ = [await _over(inbox, f"s-{n}") for n in (1, 2)]
    locked = "SELECT FROM feedback WHERE id = %(id)s FOR UPDATE"
    async with meanwhile(pool, locked, id=one), asyncio.timeout(AT_LAST):
        assert await PostgresRetention(pool).prune(0) == 1
    assert await PostgresRetention(pool).prune(0) == 1


async def test_one_process_at_a_time_prunes(pool: Pool, inbox: PostgresInbox) -> None:
    for n in (1, 2):
        await _over(inbox, f"s-{n}")
    retention = PostgresRetention(pool, batch=1)
    async with meanwhile(pool, "LOCK TABLE model_replies"):
        first = await waits(pool, retention.prune(0))
        async with asyncio.timeout(AT_LAST):
            assert await retention.prune(0) == 0
    assert await first == 2


async def test_feedback_that_another_touches_gets_no_second_job(
    pool: Pool, inbox: PostgresInbox
) -> None:
    one, _ = [await added(inbox, piece(f"s-{n}")) for n in (1, 2)]
    await _run(pool, "DELETE FROM procrastinate_jobs")
    locked = "SELECT FROM feedback WHERE id = %(id)s FOR UPDATE"
    async with meanwhile(pool, locked, id=one), asyncio.timeout(AT_LAST):
        assert await reconcile(Jobs(pool)) == 1
    assert await reconcile(Jobs(pool)) == 1


async def test_feedback_whose_job_ended_before_it_gets_another_job(
    pool: Pool, inbox: PostgresInbox
) -> None:
    lost, waits, working = [await added(inbox, piece(f"s-{n}")) for n in range(3)]
    of_job = "UPDATE procrastinate_jobs SET status = '{}' WHERE args ->> 'feedback_id' = '{}'"
    await _run(pool, of_job.format("failed", lost))
    await _run(pool, of_job.format("doing", working))
    assert await reconcile(Jobs(pool)) == 1
    jobs = "SELECT args ->> 'feedback_id' AS id FROM procrastinate_jobs WHERE status = 'todo'"
    rows = await (await _run(pool, jobs)).fetchall()  # type: ignore[attr-defined]
    assert {row["id"] for row in rows} == {lost, waits}


async def test_one_process_at_a_time_looks_for_lost_feedback(
    pool: Pool, inbox: PostgresInbox
) -> None:
    await added(inbox)
    await _run(pool, "DELETE FROM procrastinate_jobs")
    async with meanwhile(pool, "LOCK TABLE sweeps"):
        first = await waits(pool, reconcile(Jobs(pool)))
        async with asyncio.timeout(AT_LAST):
            assert await reconcile(Jobs(pool)) == 0
    assert await first == 1


async def test_a_job_that_its_worker_ends_just_now_is_not_taken_over(
    pool: Pool, inbox: PostgresInbox
) -> None:
    for n in (1, 2):
        await claimed(inbox, await added(inbox, piece(f"s-{n}")))
    await _run(pool, "UPDATE procrastinate_jobs SET status = 'doing'")
    locked = "SELECT FROM procrastinate_jobs WHERE id = (SELECT min(id) FROM procrastinate_jobs)"
    async with meanwhile(pool, f"{locked} FOR UPDATE"), asyncio.timeout(AT_LAST):
        assert await take_over(Jobs(pool), stalled_after=60) == 1


async def _run(pool: Pool, statement: str) -> object:
    async with pool.connection() as conn:
        return await conn.execute(statement)


async def _ended(log: PostgresChangeLog, change: Change) -> None:
    async with log.unit_of_work(change) as unit:
        await unit.close(change.id, ChangeStatus.APPLIED)


async def _written(log: PostgresChangeLog, change: Change) -> None:
    async with log.unit_of_work(change) as unit:
        await unit.write_item(change)


async def _over(inbox: PostgresInbox, source_id: str) -> str:
    feedback = await claimed(inbox, await added(inbox, piece(source_id)))
    await inbox.finish(feedback, DONE)
    return feedback.id


def _waiting(feedback: Feedback, number: int) -> Change:
    change = waiting(f"m{number}", f"text {number}")
    return change.model_copy(update={"feedback_id": feedback.id})

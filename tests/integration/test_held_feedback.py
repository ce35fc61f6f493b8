"""Feedback with held changes ends with the last decision, even if decisions are concurrent."""

from __future__ import annotations

import asyncio

from core.adapters.postgres.change_log import PostgresChangeLog, PostgresTargetLocks
from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.queries import Pool, fetch_one, transaction
from core.adapters.postgres.reviews import PostgresReviews
from core.domain.models import Change, ChangeStatus
from tests.contracts.suites.reviews import HAPPENED, waiting

_FEEDBACK = b"""
INSERT INTO feedback (id, source, source_id, digest, tenant_id, agent_ids, content, status)
VALUES ('f', 's', '1', 'd', 't', '{a}', 'x', 'held')"""


async def held(pool: Pool, count: int) -> list[Change]:
    """Add held feedback with held changes."""
    async with transaction(pool) as conn:
        await conn.execute(_FEEDBACK)
    log = PostgresChangeLog(pool)
    made = []
    for number in range(count):
        update = {"id": f"c{number}", "key": f"k{number}", "feedback_id": "f"}
        change = waiting(f"m{number}").model_copy(update=update)
        await log.store(change, {}, HAPPENED)
        made.append(await log.get(change.id))
    return made


async def status(pool: Pool, feedback_id: str = "f") -> str:
    row = await fetch_one(pool, "inbox.get", id=feedback_id)
    assert row is not None
    return str(row["status"])


async def test_decisions_at_once_end_it(pool: Pool) -> None:
    reviews = PostgresReviews(pool)
    changes = await held(pool, 6)
    ends = [reviews.end(c, ChangeStatus.REJECTED, "kim", "no", HAPPENED) for c in changes]
    await asyncio.gather(*ends)
    assert await status(pool) == "no_action"


async def test_it_waits_for_the_last_one_and_for_what_is_stale(pool: Pool) -> None:
    reviews = PostgresReviews(pool)
    first, second = await held(pool, 2)
    await reviews.end(first, ChangeStatus.REJECTED, "kim", "no", HAPPENED)
    assert await status(pool) == "held"
    await reviews.end(second, ChangeStatus.STALE, "", "it moved", HAPPENED)
    assert await status(pool) == "held"
    stale = await PostgresChangeLog(pool).get(second.id)
    await reviews.end(stale, ChangeStatus.REJECTED, "kim", "no", HAPPENED)
    assert await status(pool) == "no_action"


async def test_one_that_was_applied_completes_it(pool: Pool) -> None:
    reviews, log = PostgresReviews(pool), PostgresChangeLog(pool)
    first, second = await held(pool, 2)
    await reviews.end(first, ChangeStatus.REJECTED, "kim", "no", HAPPENED)
    await reviews.approve(second, "kim", HAPPENED)
    assert await status(pool) == "held"
    opened = await log.get(second.id)
    async with log.unit_of_work(opened) as unit:
        await unit.close(opened.id, ChangeStatus.APPLIED)
    assert await status(pool) == "completed"


async def test_the_hold_of_a_dead_command_blocks_no_approval(pool: Pool) -> None:
    (change,) = await held(pool, 1)
    update = {"id": "dead", "key": "dead", "status": ChangeStatus.PREPARED, "held": ()}
    await PostgresTargetLocks(pool).acquire(change.model_copy(update=update))
    async with transaction(pool) as conn:
        await conn.execute(
            "UPDATE changes SET created_at = created_at - interval '1 day' WHERE id = 'dead'"
        )
    await PostgresReviews(pool).approve(change, "kim", HAPPENED)


async def test_a_fresh_approval_is_not_taken_for_abandoned(pool: Pool) -> None:
    (change,) = await held(pool, 1)
    async with transaction(pool) as conn:
        await conn.execute("UPDATE changes SET created_at = created_at - interval '1 day'")
    await PostgresReviews(pool).approve(change, "kim", HAPPENED)
    assert await PostgresTargetLocks(pool).abandoned(60) == []
    assert [c.id for c in await PostgresTargetLocks(pool).abandoned(0)] == [change.id]


async def joined(pool: Pool) -> Change:
    """Add held feedback `f` that only joins a change of another piece."""
    async with transaction(pool) as conn:
        await conn.execute(_FEEDBACK)
        await conn.execute(_FEEDBACK.replace(b"'f', 's', '1'", b"'g', 's', '2'"))
    log = PostgresChangeLog(pool)
    change = waiting("m1").model_copy(update={"feedback_id": "g"})
    await log.store(change, {}, HAPPENED)
    same = change.model_copy(update={"id": "other", "key": "other", "feedback_id": "f"})
    assert await PostgresDuplicateWaiters(pool).join(same) is not None
    return await log.get(change.id)


async def test_feedback_that_said_what_waited_ends_with_its_rejection(pool: Pool) -> None:
    change = await joined(pool)
    await PostgresReviews(pool).end(change, ChangeStatus.REJECTED, "kim", "no", HAPPENED)
    assert [await status(pool), await status(pool, "g")] == ["no_action", "no_action"]


async def test_feedback_that_said_what_waited_is_completed_with_its_approval(pool: Pool) -> None:
    change = await joined(pool)
    await PostgresReviews(pool).approve(change, "kim", HAPPENED)
    assert await status(pool) == "held"
    log = PostgresChangeLog(pool)
    opened = await log.get(change.id)
    async with log.unit_of_work(opened) as unit:
        await unit.close(opened.id, ChangeStatus.APPLIED)
    assert [await status(pool), await status(pool, "g")] == ["completed", "completed"]


async def test_feedback_whose_saying_is_forgotten_waits_no_more(pool: Pool) -> None:
    await joined(pool)
    await PostgresDuplicateWaiters(pool).forget("f")
    assert [await status(pool), await status(pool, "g")] == ["no_action", "held"]


async def test_of_joining_and_deciding_at_once_nothing_is_left_waiting(pool: Pool) -> None:
    change = await joined(pool)
    duplicate_waiters = PostgresDuplicateWaiters(pool)
    async with transaction(pool) as conn:
        for number in range(5):
            piece = f"'p{number}', 's', 'p{number}'".encode()
            await conn.execute(_FEEDBACK.replace(b"'f', 's', '1'", piece))
    pieces = [f"p{number}" for number in range(5)]
    joins = [
        duplicate_waiters.join(change.model_copy(update={"feedback_id": piece})) for piece in pieces
    ]
    reject = PostgresReviews(pool).end(change, ChangeStatus.REJECTED, "kim", "no", HAPPENED)
    found, _ = await asyncio.gather(asyncio.gather(*joins), reject)
    for piece, same in zip(pieces, found, strict=True):
        assert await status(pool, piece) == ("held" if same is None else "no_action")

"""The end of feedback whose changes waited for a person."""

from __future__ import annotations

from core.postgres.queries import Connection, sql


async def settle_feedback(conn: Connection, feedback_id: str | None) -> None:
    """End held feedback as what came of it, once nothing of it waits for a person.

    Of two that decide at once the second one sees, behind the lock, what the first has done.
    """
    if feedback_id is not None:
        await conn.execute(sql("reviews.lock_feedback"), {"feedback_id": feedback_id})
        await conn.execute(sql("reviews.settle_feedback"), {"feedback_id": feedback_id})

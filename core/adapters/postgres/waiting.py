"""The end of feedback whose changes waited for a person."""

from __future__ import annotations

from core.adapters.postgres.queries import Connection, sql


async def settle_change(conn: Connection, change_id: str, feedback_id: str | None) -> None:
    """End the feedback that a change came of, and all that said the same while it waited."""
    rows = await (
        await conn.execute(sql("duplicate_waiters.of_change"), {"change_id": change_id})
    ).fetchall()
    pieces = {feedback_id, *(row["feedback_id"] for row in rows)} - {None}
    for piece in sorted(map(str, pieces)):  # in one order, as each of them is locked
        await settle_feedback(conn, piece)


async def settle_feedback(
    conn: Connection, feedback_id: str, *, waits_for_nothing: bool = False
) -> None:
    """End held feedback as what came of it, once nothing of it waits for a person.

    Of two that decide at once the second one sees, behind the lock, what the first has done.
    With `waits_for_nothing` it ends also where nothing of it ever waited.
    """
    params = {"feedback_id": feedback_id, "waits_for_nothing": waits_for_nothing}
    await conn.execute(sql("reviews.lock_feedback"), params)
    await conn.execute(sql("reviews.settle_feedback"), params)

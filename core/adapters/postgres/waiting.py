"""The end of feedback whose changes were held."""

from __future__ import annotations

from core.adapters.postgres.queries import Connection, sql


async def end_feedback_of_change(conn: Connection, change_id: str, feedback_id: str | None) -> None:
    """End the feedback behind a change, and all that repeated it while it was held."""
    rows = await (
        await conn.execute(sql("duplicate_waiters.of_change"), {"change_id": change_id})
    ).fetchall()
    pieces = {feedback_id, *(row["feedback_id"] for row in rows)} - {None}
    for piece in sorted(map(str, pieces)):  # in a fixed order, since each is locked
        await end_held_feedback(conn, piece)


async def end_held_feedback(
    conn: Connection, feedback_id: str, *, waits_for_nothing: bool = False
) -> None:
    """End held feedback with its outcome, once none of its changes is held any more.

    Of two concurrent decisions the second sees, after the lock, what the first has done. With
    `waits_for_nothing` it ends even if none of its changes was ever held.
    """
    params = {"feedback_id": feedback_id, "waits_for_nothing": waits_for_nothing}
    await conn.execute(sql("reviews.lock_feedback"), params)
    await conn.execute(sql("reviews.end_held_feedback"), params)

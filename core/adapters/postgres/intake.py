"""What people may do to the queue: revive feedback, cancel it, pause everything."""

from __future__ import annotations

from core.adapters.postgres.inbox import end_params, not_found
from core.adapters.postgres.jobs import Jobs, Waiting
from core.adapters.postgres.journal import write_event
from core.adapters.postgres.queries import Connection, Pool, fetch_one, sql, transaction
from core.adapters.postgres.rows import feedback_of
from core.domain.errors import Refused
from core.domain.messages import Message
from core.domain.models import (
    NO_USAGE,
    Feedback,
    FeedbackStatus,
    Outcome,
    Pause,
    PauseKind,
    RunEvent,
)
from core.domain.observers import nobody
from core.domain.ports import Observer


class PostgresIntake:
    """The `Intake` port; `observe` is called with each event once it is committed."""

    def __init__(self, pool: Pool, jobs: Jobs, observe: Observer = nobody) -> None:
        self._pool = pool
        self._jobs = jobs
        self._observe = observe

    async def revive(self, feedback_id: str) -> Feedback:
        async with transaction(self._pool) as conn:
            params = {"id": feedback_id, "turn": await self._jobs.turn(conn)}
            row = await (await conn.execute(sql("intake.revive"), params)).fetchone()
            if row is None:
                raise await _refusal(
                    conn, feedback_id, "has not ended", "only ended feedback can be tried again"
                )
            await conn.execute(sql("intake.reset_verdicts"), params)
            await self._jobs.defer(conn, [Waiting(feedback_id, row["turn"])])
        return feedback_of(row)

    async def cancel(self, feedback_id: str, reason: str) -> Feedback:
        params = {"id": feedback_id}
        async with transaction(self._pool) as conn:
            taken = await (await conn.execute(sql("intake.take_off"), params)).fetchone()
            if taken is None:
                raise await _refusal(
                    conn,
                    feedback_id,
                    "has ended",
                    Message("see.piece", "see `skill-worker feedback show ID`"),
                )
            await conn.execute(sql("intake.fence"), params)
            await conn.execute(sql("intake.drop_job"), taken)
            outcome = Outcome(status=FeedbackStatus.CANCELLED, error=reason)
            ending = end_params(feedback_id, taken["epoch"], outcome)
            await conn.execute(sql("inbox.finish"), ending)
            row = await (await conn.execute(sql("inbox.get"), params)).fetchone()
            assert row is not None
            event = _cancelled(row["tenant_id"], feedback_id, reason)
            await write_event(conn, event)
        self._observe(event, NO_USAGE)
        return feedback_of(row)

    async def pause(self, reason: str) -> Pause:
        async with transaction(self._pool) as conn:
            row = await (await conn.execute(sql("intake.pause"), {"reason": reason})).fetchone()
            assert row is not None
            event = RunEvent(name="queue.paused", data={"reason": reason})
            await write_event(conn, event)
        self._observe(event, NO_USAGE)
        return Pause(kind=PauseKind.PAUSED, **row)

    async def resume(self) -> bool:
        event = RunEvent(name="queue.resumed")
        async with transaction(self._pool) as conn:
            paused = bool((await conn.execute(sql("intake.resume"))).rowcount)
            if paused:
                await write_event(conn, event)
        if paused:
            self._observe(event, NO_USAGE)
        return paused

    async def paused(self) -> Pause | None:
        row = await fetch_one(self._pool, "intake.paused")
        return Pause(kind=PauseKind.PAUSED, **row) if row else None


async def _refusal(conn: Connection, feedback_id: str, what: str, hint: str) -> Exception:
    row = await (await conn.execute(sql("inbox.get"), {"id": feedback_id})).fetchone()
    if row is None:
        return not_found(feedback_id)
    return Refused(f"feedback {feedback_id} {what}: it is {row['status']}", hint=hint)


def _cancelled(tenant_id: str, feedback_id: str, reason: str) -> RunEvent:
    return RunEvent(
        name="feedback.cancelled",
        tenant_id=tenant_id,
        feedback_id=feedback_id,
        data={"error": reason},
    )

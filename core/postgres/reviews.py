"""Changes that wait for a person, and what becomes of them, as rows of `changes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from psycopg import errors as pg
from psycopg.rows import DictRow

from core.errors import Decided, TargetBusy
from core.models import NO_USAGE, Change, ChangeStatus, Kind, RunEvent
from core.observers import nobody
from core.ports import Observer
from core.postgres.changelog import change_of, change_row, put_blobs
from core.postgres.journal import write_event
from core.postgres.neighbours import refuse_skill_beside
from core.postgres.queries import (
    Connection,
    Pool,
    execute,
    fetch_all,
    fetch_one,
    sql,
    transaction,
    writing,
)
from core.postgres.waiting import settle_change


class PostgresReviews:
    """The `Reviews` port; `observe` is told of each event once it is committed."""

    def __init__(self, pool: Pool, observe: Observer = nobody) -> None:
        self._pool = pool
        self._observe = observe

    async def approve(self, change: Change, by: str, event: RunEvent) -> Change:
        """Make a held change an intent, and give that. Raises Decided, TargetBusy, Repeated."""
        try:
            intent = await self._approve(change, by, event)
        except TargetBusy:
            place = {"tenant_id": change.tenant_id, "kind": change.kind}
            freed = await execute(
                self._pool, "changes.release_dead", **place, target_id=change.target_id
            )
            if not freed:
                raise
            intent = await self._approve(change, by, event)
        self._observe(event, NO_USAGE)
        return intent

    async def _approve(self, change: Change, by: str, event: RunEvent) -> Change:
        params = {"id": change.id, "content_hash": change.content_hash, "by": by}
        async with writing(self._pool) as conn:
            try:
                decided = await _decide(conn, "reviews.approve", params)
            except pg.UniqueViolation:
                raise TargetBusy(f"{change.kind} {change.target_id!r} is being changed") from None
            await refuse_skill_beside(conn, change)
            await write_event(conn, event)
            if change.kind is not Kind.SKILL:
                await conn.execute(sql("reviews.leave_flush"))
        return change.model_copy(update={**decided, "status": ChangeStatus.APPLYING})

    async def end(
        self, change: Change, status: ChangeStatus, by: str, reason: str, event: RunEvent
    ) -> None:
        """Reject a change that waits, or say that it went stale. Raises Decided."""
        params = {
            "id": change.id,
            "content_hash": change.content_hash,
            "status": status,
            "by": by,
            "reason": reason,
        }
        async with writing(self._pool) as conn:
            await _decide(conn, "reviews.end", params)
            await settle_change(conn, change.id, change.feedback_id)
            await write_event(conn, event)
        self._observe(event, NO_USAGE)

    async def replace(
        self, fresh: Change, seen: Change, blobs: Mapping[str, bytes], event: RunEvent
    ) -> None:
        """Put other content in the place of what was `seen`; it waits again. Raises Decided."""
        async with transaction(self._pool) as conn:
            await put_blobs(conn, blobs)
            await _decide(
                conn, "reviews.replace", change_row(fresh) | {"looked_at": seen.content_hash}
            )
            await write_event(conn, event)
        self._observe(event, NO_USAGE)

    async def now(self) -> datetime:
        """Give the time by the clock that `replace` and the history go by."""
        row = await fetch_one(self._pool, "reviews.now")
        assert row is not None
        now: datetime = row["now"]
        return now

    async def overdue(self, seconds: float) -> Sequence[Change]:
        """Give what has waited for longer than that, the longest first."""
        rows = await fetch_all(self._pool, "reviews.overdue", seconds=seconds)
        return [change_of(row) for row in rows]

    async def remind(self, seconds: float) -> Sequence[Change]:
        """Give what has waited for that long since it was last named here, and note it."""
        rows = await fetch_all(self._pool, "reviews.remind", seconds=seconds)
        return [change_of(row) for row in rows]


async def _decide(conn: Connection, block: str, params: Mapping[str, object]) -> DictRow:
    """Decide, and give what is told of it. Raises Decided."""
    decided = await (await conn.execute(sql(block), params)).fetchone()
    if decided is None:
        raise Decided(
            f"change {params['id']} was decided or edited at the same time",
            hint="look at it again",
        )
    return decided

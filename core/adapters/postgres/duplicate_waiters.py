"""Feedback that repeated something known, stored as rows beside the changes."""

from __future__ import annotations

import json
from collections.abc import Sequence

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.change_log import change_of, change_row
from core.adapters.postgres.inbox import end_held_feedback
from core.adapters.postgres.queries import Pool, execute, fetch_all, sql, transaction
from core.domain.hashing import state_hash, text_hash
from core.domain.models import Change, DuplicateWaiter, Kind


class PostgresDuplicateWaiters:
    """The `DuplicateWaiters` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def note(
        self,
        change: Change,
        units: Sequence[Sequence[str]] | None = None,
        by: str | None = None,
    ) -> None:
        parts = None if units is None else [[*unit] for unit in units]
        row = _row(change) | {"units": None if parts is None else Jsonb(parts), "change_id": by}
        if parts is not None:  # the hash of no state: a retraction leaves the item to no part of it
            row["hash"] = text_hash(json.dumps(parts))
        await execute(self._pool, "duplicate_waiters.note", **row)

    async def join(
        self,
        change: Change,
        units: Sequence[Sequence[str]] | None = None,
    ) -> Change | None:
        async with transaction(self._pool) as conn:
            row = await (
                await conn.execute(sql("duplicate_waiters.alike"), change_row(change))
            ).fetchone()
            if row is None:
                return None
            waiting = change_of(row)
            if waiting.feedback_id != change.feedback_id:
                parts = None if units is None else Jsonb([[*unit] for unit in units])
                given = {
                    "feedback_id": change.feedback_id,
                    "change_id": waiting.id,
                    "units": parts,
                }
                waiter = _row(waiting) | given
                await conn.execute(sql("duplicate_waiters.join"), waiter)
            return waiting

    async def at(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[DuplicateWaiter]:
        target = {"kind": kind, "tenant_id": tenant_id, "target_id": target_id}
        return [
            _waiter(row) for row in await fetch_all(self._pool, "duplicate_waiters.at", **target)
        ]

    async def of_feedback(self, feedback_id: str) -> Sequence[DuplicateWaiter]:
        rows = await fetch_all(self._pool, "duplicate_waiters.of_feedback", feedback_id=feedback_id)
        return [_waiter(row) for row in rows]

    async def forget(self, feedback_id: str) -> None:
        """Forget what a piece of feedback repeated, so that it no longer waits for the decision."""
        async with transaction(self._pool) as conn:
            await conn.execute(sql("duplicate_waiters.forget"), {"feedback_id": feedback_id})
            await end_held_feedback(conn, feedback_id, waits_for_nothing=True)


def _row(change: Change) -> dict[str, object]:
    return {
        "feedback_id": change.feedback_id,
        "tenant_id": change.tenant_id,
        "kind": change.kind,
        "target_id": change.target_id,
        "hash": state_hash(change.after),
    }


def _waiter(row: DictRow) -> DuplicateWaiter:
    return DuplicateWaiter.model_validate(dict(row))

"""Target locks and open intents, as rows under one unique index."""

from __future__ import annotations

from collections.abc import Sequence

from core.adapters.postgres.change_log import change_of, put_change
from core.adapters.postgres.queries import Pool, execute, fetch_all, fetch_one, transaction
from core.domain.errors import TargetBusy
from core.domain.models import Change


class PostgresTargetLocks:
    """The `TargetLocks` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def acquire(self, change: Change) -> None:
        try:
            await self._put(change)
        except TargetBusy:
            target = {"tenant_id": change.tenant_id, "kind": change.kind}
            freed = await execute(
                self._pool, "changes.release_dead", **target, target_id=change.target_id
            )
            if not freed:
                raise
            await self._put(change)

    async def release(self, change_id: str) -> None:
        await execute(self._pool, "changes.release", id=change_id)

    async def unfinished(self, candidate_id: str) -> Sequence[Change]:
        rows = await fetch_all(self._pool, "changes.unfinished", candidate_id=candidate_id)
        return [change_of(row) for row in rows]

    async def latest(self, change: Change) -> Change | None:
        target = {"tenant_id": change.tenant_id, "kind": change.kind}
        row = await fetch_one(self._pool, "changes.latest", **target, target_id=change.target_id)
        return change_of(row) if row else None

    async def abandoned(self, older_than: float) -> Sequence[Change]:
        rows = await fetch_all(self._pool, "changes.abandoned", seconds=older_than)
        return [change_of(row) for row in rows]

    async def adopt(self, change: Change) -> Change | None:
        row = await fetch_one(self._pool, "changes.adopt", id=change.id)
        return change_of(row) if row else None

    async def _put(self, change: Change) -> None:
        async with transaction(self._pool) as conn:
            await put_change(conn, change)

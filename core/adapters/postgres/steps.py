"""The changes that made targets what they are, as rows of `changes`."""

from __future__ import annotations

from collections.abc import Sequence

from core.adapters.postgres.change_log import change_of
from core.adapters.postgres.queries import Pool, execute, fetch_all
from core.domain.models import Change, Kind, LaterWord

_WHOSE = {
    *("tenant_id", "agent_id", "kind", "target_id"),
    *("operation", "feedback_id", "said_at", "heard_at"),
}


class PostgresSteps:
    """The `Steps` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def of_feedback(self, feedback_id: str) -> Sequence[Change]:
        rows = await fetch_all(self._pool, "steps.of_feedback", feedback_id=feedback_id)
        return [change_of(row) for row in rows]

    async def chain(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[Change]:
        target = {"kind": kind, "tenant_id": tenant_id, "target_id": target_id}
        return [change_of(row) for row in await fetch_all(self._pool, "steps.chain", **target)]

    async def later(self, change: Change) -> Sequence[LaterWord]:
        rows = await fetch_all(self._pool, "steps.later", **change.model_dump(include=_WHOSE))
        return [LaterWord.model_validate(row) for row in rows]

    async def take_back(self, change_ids: Sequence[str]) -> None:
        await execute(self._pool, "changes.take_back", ids=[*change_ids])

"""What outside sources delivered, and which ends they have yet to be told, as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.adapters.postgres.queries import Pool, execute, fetch_all
from core.adapters.postgres.rows import feedback_of
from core.domain.models import Feedback, FeedbackStatus


class PostgresDeliveries:
    """The `Deliveries` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def known(self, source: str, source_ids: Sequence[str]) -> Mapping[str, FeedbackStatus]:
        ids = list(source_ids)
        rows = await fetch_all(self._pool, "deliveries.known", source=source, source_ids=ids)
        return {row["source_id"]: FeedbackStatus(row["status"]) for row in rows}

    async def unacknowledged(self, source: str, limit: int) -> Sequence[Feedback]:
        rows = await fetch_all(self._pool, "deliveries.unacknowledged", source=source, limit=limit)
        return [feedback_of(row) for row in rows]

    async def acknowledged(self, ended: Feedback) -> None:
        end = ended.model_dump(include={"id", "generation", "epoch", "status"})
        await execute(self._pool, "deliveries.acknowledged", **end)

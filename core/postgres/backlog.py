"""The whole queue in figures, straight from the table of feedback."""

from __future__ import annotations

from collections.abc import Mapping

from core.models import FeedbackStatus, Undecided, Waiting
from core.postgres.queries import Pool, fetch_all, fetch_one


class PostgresBacklog:
    """The `Backlog` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def waiting(self) -> Waiting:
        """Give what has not ended."""
        return Waiting.model_validate(await fetch_one(self._pool, "backlog.waiting"))

    async def ended(self) -> Mapping[FeedbackStatus, int]:
        """Give the number of pieces by each end."""
        rows = await fetch_all(self._pool, "backlog.ended")
        return {FeedbackStatus(row["status"]): row["pieces"] for row in rows}

    async def undecided(self) -> Undecided:
        """Give what waits for a person."""
        return Undecided.model_validate(await fetch_one(self._pool, "backlog.undecided"))

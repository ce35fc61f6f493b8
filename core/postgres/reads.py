"""Lists and audit for entry points, straight from the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from psycopg.rows import DictRow

from core.errors import NotFound
from core.models import Change, Feedback, HistoryRecord, RunEvent
from core.paging import Place, decode_cursor, encode_cursor
from core.postgres.queries import Pool, fetch_all, fetch_one
from core.postgres.rows import feedback_of


class PostgresReader:
    """The `Reader` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def feedback(
        self, *, status: str | None, tenant_id: str | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[Feedback], str | None]:
        """Give feedback, newest first, and the cursor of the next page."""
        rows, following = await self._page(
            "reads.feedback", limit, cursor, status=status, tenant_id=tenant_id
        )
        return [feedback_of(row) for row in rows], following

    async def changes(
        self, *, status: str | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[Change], str | None]:
        """Give changes, newest first, and the cursor of the next page."""
        rows, following = await self._page("reads.changes", limit, cursor, status=status)
        return [Change.model_validate(dict(row)) for row in rows], following

    async def history(
        self, *, feedback_id: str | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[HistoryRecord], str | None]:
        """Give history records, newest first, and the cursor of the next page."""
        rows, following = await self._page("reads.history", limit, cursor, feedback_id=feedback_id)
        return [HistoryRecord.model_validate(dict(row)) for row in rows], following

    async def history_record(self, record_id: str) -> HistoryRecord:
        """Give one history record. Raises NotFound."""
        row = await fetch_one(self._pool, "reads.history_record", id=record_id)
        if row is None:
            raise NotFound(
                f"there is no history record {record_id!r}", hint="see `skill-worker history list`"
            )
        return HistoryRecord.model_validate(dict(row))

    async def events(self, feedback_id: str) -> Sequence[RunEvent]:
        """Give the events of one piece of feedback, oldest first."""
        rows = await fetch_all(self._pool, "reads.events", feedback_id=feedback_id)
        return [RunEvent.model_validate(dict(row)) for row in rows]

    async def counts(self) -> Mapping[str, int]:
        """Give the number of pieces of feedback by status."""
        rows = await fetch_all(self._pool, "reads.counts")
        return {row["status"]: row["pieces"] for row in rows}

    async def _page(
        self, name: str, limit: int, cursor: str | None, **filters: str | None
    ) -> tuple[Sequence[DictRow], str | None]:
        """Give at most `limit` rows; one more is read to know whether there is a next page."""
        after = decode_cursor(cursor) if cursor else None
        rows = await fetch_all(
            self._pool,
            name,
            at=after.at if after else "infinity",
            id=after.id if after else "",
            limit=limit + 1,
            **filters,
        )
        page = rows[:limit]
        if len(rows) <= limit or not page:
            return page, None
        return page, encode_cursor(Place(page[-1]["created_at"], page[-1]["id"]))

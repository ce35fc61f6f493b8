"""Lists and audit for entry points, straight from the tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import LiteralString

from psycopg.rows import DictRow

from core.adapters.postgres.inbox import feedback_of
from core.adapters.postgres.queries import Pool, connection, fetch_all, fetch_one, sql
from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeFilter,
    Feedback,
    FeedbackFilter,
    HistoryFilter,
    HistoryRecord,
    RunEvent,
)
from core.domain.models.base import Model
from core.domain.paging import Position, decode_cursor, encode_cursor, query_digest

REACH = 10_000  # rows scanned for one page where no index serves
_FEEDBACK = {
    "statuses": "reads.of_statuses",
    "tenant_id": "reads.of_tenant",
    "since": "reads.since",
    "until": "reads.until",
}
_LOOKED_FOR = {"agent_id": "reads.of_agents", "text": "reads.holding"}
_CHANGES = {
    "statuses": "reads.of_statuses",
    "tenant_id": "reads.of_tenant",
    "agent_id": "reads.of_agent",
    "kind": "reads.of_kind",
    "feedback_id": "reads.of_feedback",
    "target_id": "reads.of_target",
}
_HISTORY = {
    "statuses": "reads.of_statuses",
    "tenant_id": "reads.of_tenant",
    "agent_id": "reads.of_agent",
    "kind": "reads.of_item_kind",
    "feedback_id": "reads.of_feedback",
    "item_id": "reads.of_item",
}


class PostgresReader:
    """The `Reader` port."""

    def __init__(self, pool: Pool, *, reach: int = REACH) -> None:
        self._pool = pool
        self._reach = reach

    async def feedback(
        self, wanted: FeedbackFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Feedback], str | None]:
        digest = query_digest("feedback", wanted)
        if not _given(wanted, _LOOKED_FOR):
            query = _composed("reads.feedback", wanted, _FEEDBACK)
            rows, following = await self._page(query, wanted, digest, limit, cursor)
        else:
            rows, following = await self._scanned(wanted, digest, limit, cursor)
        return [feedback_of(row) for row in rows], following

    async def changes(
        self, wanted: ChangeFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Change], str | None]:
        query = _composed("reads.changes", wanted, _CHANGES)
        digest = query_digest("changes", wanted)
        rows, following = await self._page(query, wanted, digest, limit, cursor)
        return [Change.model_validate(dict(row)) for row in rows], following

    async def history(
        self, wanted: HistoryFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[HistoryRecord], str | None]:
        query = _composed("reads.history", wanted, _HISTORY)
        digest = query_digest("history", wanted)
        rows, following = await self._page(query, wanted, digest, limit, cursor)
        return [HistoryRecord.model_validate(dict(row)) for row in rows], following

    async def history_record(self, record_id: str) -> HistoryRecord:
        row = await fetch_one(self._pool, "reads.history_record", id=record_id)
        if row is None:
            raise NotFound(Message("no.record", id=record_id), hint=Message("see.history"))
        return HistoryRecord.model_validate(dict(row))

    async def events(self, feedback_id: str) -> Sequence[RunEvent]:
        rows = await fetch_all(self._pool, "reads.events", feedback_id=feedback_id)
        return [RunEvent.model_validate(dict(row)) for row in rows]

    async def counts(self) -> Mapping[str, int]:
        rows = await fetch_all(self._pool, "reads.counts")
        return {row["status"]: row["pieces"] for row in rows}

    async def _page(
        self, query: LiteralString, wanted: Model, digest: str, limit: int, cursor: str | None
    ) -> tuple[Sequence[DictRow], str | None]:
        """Return at most `limit` rows; one more is read to know whether there is a next page."""
        rows = await self._rows(query, wanted, digest, limit, cursor)
        page = rows[:limit]
        return page, _after(page, digest) if len(rows) > limit else None

    async def _scanned(
        self, wanted: FeedbackFilter, digest: str, limit: int, cursor: str | None
    ) -> tuple[Sequence[DictRow], str | None]:
        """Return the matches among the next rows, and where the scan continues."""
        query = _composed("reads.feedback_looked_through", wanted, _FEEDBACK)
        looked_for = _conditions(wanted, _LOOKED_FOR)
        query = query.replace("/* looked for */", looked_for)
        rows = await self._rows(query, wanted, digest, limit, cursor)
        found = [row for row in rows if row["id"] is not None]
        if len(found) > limit:
            return found[:limit], _after(found[:limit], digest)
        if not rows or rows[0]["looked_through"] < self._reach:
            return found, None
        position = Position(rows[0]["reach_at"], rows[0]["reach_id"])
        return found, encode_cursor(position, digest)

    async def _rows(
        self, query: LiteralString, wanted: Model, digest: str, limit: int, cursor: str | None
    ) -> list[DictRow]:
        after = decode_cursor(cursor, digest) if cursor else None
        given = {name: list(v) if isinstance(v, tuple) else v for name, v in wanted}
        position = {"at": after.at if after else "infinity", "id": after.id if after else ""}
        params = {**given, **position, "limit": limit + 1, "reach": self._reach}
        async with connection(self._pool) as conn:
            return await (await conn.execute(query, params)).fetchall()


def _composed(name: str, wanted: Model, blocks: Mapping[str, str]) -> LiteralString:
    """Return a query with just the conditions that are wanted."""
    return sql(name).replace("/* asked for */", _conditions(wanted, blocks))


def _conditions(wanted: Model, blocks: Mapping[str, str]) -> LiteralString:
    return " ".join([sql(blocks[name]) for name in _given(wanted, blocks)])


def _given(wanted: Model, names: Mapping[str, str]) -> Sequence[str]:
    """Return those of the names that the filter sets."""
    return [name for name in names if getattr(wanted, name) not in (None, ())]


def _after(page: Sequence[DictRow], digest: str) -> str | None:
    return encode_cursor(Position(page[-1]["created_at"], page[-1]["id"]), digest) if page else None

"""The `Reader` port in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from core.domain.errors import NotFound
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
from core.testing.changes import MemoryChangeLog
from core.testing.inbox import MemoryInbox
from core.testing.journal import MemoryJournal

T = TypeVar("T", Feedback, Change, HistoryRecord)
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_RECORD = {"kind": "knowledge_type", "item_id": "knowledge_id"}  # where names of fields differ


class MemoryReader:
    """Reads over the other stores in memory; what has no time of its own counts as oldest."""

    def __init__(
        self,
        *,
        inbox: MemoryInbox | None = None,
        log: MemoryChangeLog | None = None,
        journal: MemoryJournal | None = None,
    ) -> None:
        self._inbox = inbox
        self._log = log
        self._journal = journal or MemoryJournal(log=log)

    async def feedback(
        self, wanted: FeedbackFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Feedback], str | None]:
        stored = self._inbox.feedback.values() if self._inbox else ()
        found = [piece for piece in stored if _is_wanted(piece, wanted)]
        return _page(found, limit, cursor, query_digest("feedback", wanted))

    async def changes(
        self, wanted: ChangeFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[Change], str | None]:
        stored = self._log.changes.values() if self._log else ()
        found = [change for change in stored if _has(change, wanted)]
        return _page(found, limit, cursor, query_digest("changes", wanted))

    async def history(
        self, wanted: HistoryFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[HistoryRecord], str | None]:
        found = [record for record in self._history() if _has(record, wanted)]
        return _page(found, limit, cursor, query_digest("history", wanted))

    async def history_record(self, record_id: str) -> HistoryRecord:
        for record in self._history():
            if record.id == record_id:
                return record
        raise NotFound(f"there is no history record {record_id!r}")

    async def events(self, feedback_id: str) -> Sequence[RunEvent]:
        return [event for event in self._journal.events if event.feedback_id == feedback_id]

    async def counts(self) -> Mapping[str, int]:
        stored = self._inbox.feedback.values() if self._inbox else ()
        return Counter(str(piece.status) for piece in stored)

    def _history(self) -> Sequence[HistoryRecord]:
        return self._log.history if self._log else ()


def _is_wanted(piece: Feedback, wanted: FeedbackFilter) -> bool:
    at = piece.created_at or _NO_TIME
    text = wanted.text or ""
    return (
        (not wanted.statuses or piece.status in wanted.statuses)
        and wanted.tenant_id in {None, piece.tenant_id}
        and wanted.agent_id in {None, *piece.agent_ids}
        and (wanted.since is None or at >= wanted.since)
        and (wanted.until is None or at < wanted.until)
        and (text.lower() in piece.content.lower() or text in piece.id)
    )


def _has(item: Change | HistoryRecord, wanted: Model) -> bool:
    """Compare what the filter sets with the item's field of that name."""
    return all(
        item.status in value
        if isinstance(value, tuple)
        else getattr(item, _field(item, name)) == value
        for name, value in wanted
        if value not in (None, ())
    )


def _field(item: Change | HistoryRecord, name: str) -> str:
    return _RECORD.get(name, name) if isinstance(item, HistoryRecord) else name


def _page(
    items: Iterable[T], limit: int, cursor: str | None, query: str
) -> tuple[Sequence[T], str | None]:
    ordered = sorted(items, key=_place, reverse=True)
    if cursor is not None:
        after = decode_cursor(cursor, query)
        ordered = [item for item in ordered if _place(item) < after]
    page = ordered[:limit]
    more = page and len(ordered) > limit
    return page, encode_cursor(_place(page[-1]), query) if more else None


def _place(item: Feedback | Change | HistoryRecord) -> Position:
    return Position(item.created_at or _NO_TIME, item.id)

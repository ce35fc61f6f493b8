"""The `Reader` port in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TypeVar

from core.errors import NotFound
from core.models import Change, Feedback, HistoryRecord, RunEvent
from core.paging import Place, decode_cursor, encode_cursor
from core.testing.changes import MemoryChangeLog
from core.testing.inbox import MemoryInbox
from core.testing.journal import MemoryJournal

T = TypeVar("T", Feedback, Change, HistoryRecord)
_NO_TIME = datetime.min.replace(tzinfo=UTC)


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
        self, *, status: str | None, tenant_id: str | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[Feedback], str | None]:
        """Give feedback, newest first, and the cursor of the next page."""
        stored = self._inbox.feedback.values() if self._inbox else ()
        found = [
            piece
            for piece in stored
            if status in {None, piece.status} and tenant_id in {None, piece.tenant_id}
        ]
        return _page(found, limit, cursor)

    async def changes(
        self, *, status: str | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[Change], str | None]:
        """Give changes, newest first, and the cursor of the next page."""
        stored = self._log.changes.values() if self._log else ()
        return _page([c for c in stored if status in {None, c.status}], limit, cursor)

    async def history(
        self, *, feedback_id: str | None, limit: int, cursor: str | None
    ) -> tuple[Sequence[HistoryRecord], str | None]:
        """Give history records, newest first, and the cursor of the next page."""
        found = [h for h in self._history() if feedback_id in {None, h.feedback_id}]
        return _page(found, limit, cursor)

    async def history_record(self, record_id: str) -> HistoryRecord:
        """Give one history record. Raises NotFound."""
        for record in self._history():
            if record.id == record_id:
                return record
        raise NotFound(f"there is no history record {record_id!r}")

    async def events(self, feedback_id: str) -> Sequence[RunEvent]:
        """Give the events of one piece of feedback, oldest first."""
        return [event for event in self._journal.events if event.feedback_id == feedback_id]

    async def counts(self) -> Mapping[str, int]:
        """Give the number of pieces of feedback by status."""
        stored = self._inbox.feedback.values() if self._inbox else ()
        return Counter(str(piece.status) for piece in stored)

    def _history(self) -> Sequence[HistoryRecord]:
        return self._log.history if self._log else ()


def _page(items: Iterable[T], limit: int, cursor: str | None) -> tuple[Sequence[T], str | None]:
    ordered = sorted(items, key=_place, reverse=True)
    if cursor is not None:
        after = decode_cursor(cursor)
        ordered = [item for item in ordered if _place(item) < after]
    page = ordered[:limit]
    following = encode_cursor(_place(page[-1])) if page and len(ordered) > limit else None
    return page, following


def _place(item: Feedback | Change | HistoryRecord) -> Place:
    return Place(item.created_at or _NO_TIME, item.id)

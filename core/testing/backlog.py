"""The `Backlog` port in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from core.domain.models import ChangeStatus, FeedbackStatus, Undecided, Waiting
from core.testing.changes import MemoryChangeLog
from core.testing.inbox import MemoryInbox
from core.testing.reviews import MemoryReviews


class MemoryBacklog:
    """Figures over an inbox and a change log in memory.

    `clock` gives the time that ages of feedback are counted to.
    """

    def __init__(
        self, inbox: MemoryInbox, clock: Callable[[], datetime], log: MemoryChangeLog | None = None
    ) -> None:
        self._inbox = inbox
        self._clock = clock
        self._reviews = MemoryReviews(log) if log else None

    async def waiting(self) -> Waiting:
        counts = self._counts()
        queued = [p for p in self._inbox.feedback.values() if p.status is FeedbackStatus.QUEUED]
        ages = [(self._clock() - p.created_at).total_seconds() for p in queued if p.created_at]
        return Waiting(
            queued=counts[FeedbackStatus.QUEUED],
            processing=counts[FeedbackStatus.PROCESSING],
            oldest_seconds=max(ages, default=0.0),
        )

    async def ended(self) -> Mapping[FeedbackStatus, int]:
        return {status: n for status, n in self._counts().items() if status.is_end}

    async def undecided(self) -> Undecided:
        waiting = await self._reviews.overdue(-1) if self._reviews else ()
        counts = Counter(change.status for change in waiting)
        since = [change.prepared_at for change in waiting[:1] if change.prepared_at]
        ages = [(datetime.now(UTC) - at).total_seconds() for at in since]
        return Undecided(
            held=counts[ChangeStatus.HELD],
            stale=counts[ChangeStatus.STALE],
            oldest_seconds=max(ages, default=0.0),
        )

    def _counts(self) -> Counter[FeedbackStatus]:
        return Counter(piece.status for piece in self._inbox.feedback.values())

"""The `Backlog` port in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime

from core.models import FeedbackStatus, Waiting
from core.testing.inbox import MemoryInbox


class MemoryBacklog:
    """Figures over an inbox in memory; `clock` gives the time that ages are counted to."""

    def __init__(self, inbox: MemoryInbox, clock: Callable[[], datetime]) -> None:
        self._inbox = inbox
        self._clock = clock

    async def waiting(self) -> Waiting:
        """Give what has not ended."""
        counts = self._counts()
        queued = [p for p in self._inbox.feedback.values() if p.status is FeedbackStatus.QUEUED]
        ages = [(self._clock() - p.created_at).total_seconds() for p in queued if p.created_at]
        return Waiting(
            queued=counts[FeedbackStatus.QUEUED],
            processing=counts[FeedbackStatus.PROCESSING],
            oldest_seconds=max(ages, default=0.0),
        )

    async def ended(self) -> Mapping[FeedbackStatus, int]:
        """Give the number of pieces by each end."""
        return {status: n for status, n in self._counts().items() if status.is_end}

    def _counts(self) -> Counter[FeedbackStatus]:
        return Counter(piece.status for piece in self._inbox.feedback.values())

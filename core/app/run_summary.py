"""What one run of the worker did: the feedback it started, and how each piece ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from core.domain.models import NO_USAGE, FeedbackStatus, Pause, RunEvent, TenantBudget, Usage
from core.domain.models.base import Model, Text

_UNHAPPY = {FeedbackStatus.FAILED, FeedbackStatus.DEAD}
_PARTLY = {FeedbackStatus.COMPLETED, FeedbackStatus.HELD}
# A worker runs for months: old pieces are only counted, of those that failed the newest are named.
_MOST = 2_000
_MOST_NAMED = 10_000


class TakenPiece(Model):
    """A piece that this run started; `queued` if it was given back."""

    id: str
    status: FeedbackStatus = FeedbackStatus.QUEUED
    error: Text | None = None


class RunSummary:
    """The pieces of this run by id, built from this process's events.

    `working` counts those in progress, `pause` is why no more start, `applied` counts the changes
    by kind and operation, `warned` those with a warning, `screened` how many changes of the whole
    database wait because something was found in them, `resting` are the tenants whose feedback
    waits because their budget is used up.
    """

    def __init__(self) -> None:
        self._statuses: dict[str, FeedbackStatus] = {}
        self._older: Counter[str] = Counter()
        self._unhappy: dict[str, TakenPiece] = {}
        self._partly: dict[str, TakenPiece] = {}
        self.working = 0
        self.warned = 0
        self.screened = 0
        self.applied: Counter[tuple[str, str]] = Counter()
        self.pause: Pause | None = None
        self.resting: Sequence[TenantBudget] = ()

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Count a piece as in progress."""
        self.working += 1
        try:
            yield
        finally:
            self.working -= 1

    def note(self, event: RunEvent, spent: Usage = NO_USAGE) -> None:
        """Record an event; the summary is an observer."""
        del spent
        if event.feedback_id is None:
            return
        if event.name == "feedback.claimed":
            self._put(TakenPiece(id=event.feedback_id))
        elif event.name == "feedback.finished":
            outcome = {key: event.data.get(key) for key in ("status", "error")}
            self._put(TakenPiece.model_validate({"id": event.feedback_id} | outcome))
        elif event.name == "change.applied":
            self.warned += bool(event.data.get("warnings"))
            what = (str(event.data.get("kind")), str(event.data.get("operation")))
            self.applied[what] += 1

    def counts(self) -> Mapping[str, int]:
        """Return the number of pieces by status."""
        return self._older + Counter(map(str, self._statuses.values()))

    def unhappy(self) -> Sequence[TakenPiece]:
        """Return the pieces that ended as failed or dead."""
        return [*self._unhappy.values()]

    def partly(self) -> Sequence[TakenPiece]:
        """Return the pieces of which a part was refused although the rest was learnt."""
        return [*self._partly.values()]

    def _put(self, piece: TakenPiece) -> None:
        self._statuses.pop(piece.id, None)
        self._unhappy.pop(piece.id, None)
        self._partly.pop(piece.id, None)
        self._statuses[piece.id] = piece.status
        if piece.status in _UNHAPPY:
            self._unhappy[piece.id] = piece
        elif piece.status in _PARTLY and piece.error:
            self._partly[piece.id] = piece
        if len(self._statuses) > _MOST:
            oldest = next(iter(self._statuses))
            self._older[str(self._statuses.pop(oldest))] += 1
        for named in (self._unhappy, self._partly):
            if len(named) > _MOST_NAMED:
                del named[next(iter(named))]

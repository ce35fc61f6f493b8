"""What one run of the worker did: which pieces of feedback it took up, and what each came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from core.models import NO_USAGE, FeedbackStatus, Hold, RunEvent, Usage
from core.models.base import Model

_UNHAPPY = {FeedbackStatus.FAILED, FeedbackStatus.DEAD}


class TakenPiece(Model):
    """A piece that this run took up; `queued` where it was given back."""

    id: str
    status: FeedbackStatus = FeedbackStatus.QUEUED
    error: str | None = None


class Tally:
    """TakenPieces by id, as the events of this process tell of them.

    `working` counts those at work, `hold` says why no more are begun.
    """

    def __init__(self) -> None:
        self._pieces: dict[str, TakenPiece] = {}
        self.working = 0
        self.hold: Hold | None = None

    @asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """Count a piece as being worked on."""
        self.working += 1
        try:
            yield
        finally:
            self.working -= 1

    def note(self, event: RunEvent, spent: Usage = NO_USAGE) -> None:
        """Take down what an event says of a piece: the tally as an observer."""
        del spent
        if event.feedback_id is None:
            return
        if event.name == "feedback.claimed":
            self._pieces[event.feedback_id] = TakenPiece(id=event.feedback_id)
        elif event.name == "feedback.finished":
            told = {key: event.data.get(key) for key in ("status", "error")}
            self._pieces[event.feedback_id] = TakenPiece.model_validate(
                {"id": event.feedback_id} | told
            )

    def counts(self) -> Mapping[str, int]:
        """Give the number of pieces by what they came to."""
        return Counter(str(piece.status) for piece in self._pieces.values())

    def unhappy(self) -> Sequence[TakenPiece]:
        """Give the pieces that ended failed or dead."""
        return [piece for piece in self._pieces.values() if piece.status in _UNHAPPY]

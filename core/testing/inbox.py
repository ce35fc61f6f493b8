"""The `Inbox` port in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from core.errors import InvalidInput, NotFound, Refused
from core.intake.digest import feedback_digest
from core.models import Feedback, FeedbackStatus, NewFeedback, Outcome, Usage
from core.ports import NewId
from core.reply_keys import matching_prefix
from core.safe_text import has_lone_surrogate
from core.testing.determinism import counting_ids, ticking_clock
from core.testing.replies import MemoryReplies
from core.testing.runs import MemoryRuns


class MemoryInbox:
    """Feedback in a dict by id; `jobs` holds (feedback id, delay in seconds) as deferred."""

    def __init__(
        self,
        *,
        runs: MemoryRuns | None = None,
        replies: MemoryReplies | None = None,
        new_id: NewId | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.feedback: dict[str, Feedback] = {}
        self.jobs: list[tuple[str, float]] = []
        self._digests: dict[str, str] = {}
        self._runs = runs or MemoryRuns()
        self._replies = replies or MemoryReplies()
        self._new_id = new_id or counting_ids("feedback")
        self._clock = clock or ticking_clock()

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        """Store pieces and note a job for each new one. Raises InvalidInput, storing none."""
        kept = dict(self.feedback), dict(self._digests), list(self.jobs)
        try:
            return [self._add(source, piece) for piece in pieces]
        except InvalidInput:
            self.feedback, self._digests, self.jobs = kept
            raise

    async def get(self, feedback_id: str) -> Feedback:
        """Give one piece. Raises NotFound."""
        if feedback_id not in self.feedback:
            raise NotFound(f"there is no feedback {feedback_id!r}")
        return self.feedback[feedback_id]

    async def claim(self, feedback_id: str) -> Feedback | None:
        """Start an attempt: `processing`, attempts + 1. None where it has ended or is gone."""
        found = self._unfinished(feedback_id)
        if found is None:
            return None
        return self._set(
            found, status=FeedbackStatus.PROCESSING, attempts=found.attempts + 1, retry_at=None
        )

    async def give_back(self, feedback_id: str, error: str, delay: float) -> None:
        """Queue it again in `delay` seconds with a new job; nothing where it has ended."""
        found = self._unfinished(feedback_id)
        if found is None:
            return
        due = self._clock() + timedelta(seconds=delay) if delay > 0 else None
        self._set(found, status=FeedbackStatus.QUEUED, error=error, retry_at=due)
        self.jobs.append((feedback_id, delay))

    async def finish(self, feedback_id: str, outcome: Outcome) -> None:
        """Record the end of a piece and the usage of its matching and its candidates."""
        found = self._unfinished(feedback_id)
        if found is None:
            return
        spent = await self._replies.usage(matching_prefix(feedback_id))
        for candidate in await self._runs.candidates(feedback_id):
            spent += candidate.verdict.usage if candidate.verdict else Usage()
        self._set(
            found,
            status=outcome.status,
            error=outcome.error,
            finished_at=self._clock(),
            retry_at=None,
            usage=spent,
        )

    async def revive(self, feedback_id: str) -> Feedback:
        """Queue an ended piece again under the next generation. Raises NotFound, Refused."""
        found = await self.get(feedback_id)
        if not found.status.is_end:
            raise Refused(f"feedback {feedback_id} has not ended: it is {found.status}")
        self._runs.reset_verdicts(feedback_id)
        self.jobs.append((feedback_id, 0.0))
        return self._set(
            found,
            status=FeedbackStatus.QUEUED,
            generation=found.generation + 1,
            attempts=0,
            error=None,
            finished_at=None,
            retry_at=None,
        )

    def _add(self, source: str, piece: NewFeedback) -> tuple[str, bool]:
        _refuse_unstorable(piece)
        digest = feedback_digest(piece)
        for known in self.feedback.values():
            if piece.id is not None and (known.source, known.source_id) == (source, piece.id):
                if self._digests[known.id] != digest:
                    raise InvalidInput(f"feedback {piece.id!r} is known with other content")
                return known.id, False
        feedback_id = self._new_id()
        self._digests[feedback_id] = digest
        self.feedback[feedback_id] = Feedback(
            **piece.model_dump(exclude={"id"}),
            id=feedback_id,
            source=source,
            source_id=piece.id or feedback_id,
            created_at=self._clock(),
        )
        self.jobs.append((feedback_id, 0.0))
        return feedback_id, True

    def _unfinished(self, feedback_id: str) -> Feedback | None:
        found = self.feedback.get(feedback_id)
        return None if found is None or found.status.is_end else found

    def _set(self, found: Feedback, **values: object) -> Feedback:
        self.feedback[found.id] = found.model_copy(update=values)
        return self.feedback[found.id]


def _refuse_unstorable(piece: NewFeedback) -> None:
    text = piece.content + piece.task + (piece.author or "") + (piece.id or "")
    if "\0" in text or has_lone_surrogate(text):
        raise InvalidInput("the text holds what PostgreSQL cannot store")

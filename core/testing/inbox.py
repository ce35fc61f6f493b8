"""The `Inbox` port in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from core.agent.reply_keys import candidate_prefix, matching_prefix
from core.domain.errors import InvalidInput, LeaseLost, NotFound
from core.domain.input_formats.feedback import feedback_digest
from core.domain.models import Agent, Feedback, FeedbackStatus, NewFeedback, Outcome
from core.domain.ports import NewId
from core.domain.text import has_lone_surrogate
from core.testing.agents import MemoryAgents
from core.testing.determinism import counting_ids, ticking_clock
from core.testing.replies import MemoryReplies
from core.testing.runs import MemoryRuns


class MemoryInbox:
    """Feedback by id; `jobs` has (feedback id, delay in seconds) as deferred.

    If agents are set up, `agents` knows which of them wait for it.
    """

    def __init__(
        self,
        *,
        agents: MemoryAgents | None = None,
        runs: MemoryRuns | None = None,
        replies: MemoryReplies | None = None,
        new_id: NewId | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        self.feedback: dict[str, Feedback] = {}
        self.jobs: list[tuple[str, float]] = []
        self._digests: dict[str, str] = {}
        self._agents = agents or MemoryAgents()
        self._runs = runs or MemoryRuns()
        self._replies = replies or MemoryReplies()
        self._new_id = new_id or counting_ids("feedback")
        self._clock = clock or ticking_clock()

    async def add(self, source: str, pieces: Sequence[NewFeedback]) -> Sequence[tuple[str, bool]]:
        saved = dict(self.feedback), dict(self._digests), list(self.jobs)
        try:
            return [self._add(source, piece) for piece in pieces]
        except InvalidInput:
            self.feedback, self._digests, self.jobs = saved
            raise

    async def add_first(self, source: str, piece: NewFeedback, agent: Agent) -> bool:
        return self._agents.claim_setup(agent) and self._add(source, piece)[1]

    async def get(self, feedback_id: str) -> Feedback:
        if feedback_id not in self.feedback:
            raise NotFound(f"there is no feedback {feedback_id!r}")
        return self.feedback[feedback_id]

    async def claim(self, feedback_id: str) -> Feedback | None:
        found = self.feedback.get(feedback_id)
        if found is None or found.status.is_end:
            return None
        claimed = self._set(
            found,
            status=FeedbackStatus.PROCESSING,
            attempts=found.attempts + 1,
            epoch=found.epoch + 1,
            retry_at=None,
        )
        return claimed.model_copy(update={"claimed_at": self._clock()})

    async def give_back(
        self, claimed: Feedback, error: str, delay: float, *, counts: bool = True
    ) -> None:
        found = self._claimed(claimed)
        if found.status is not FeedbackStatus.PROCESSING:
            raise _lease_lost(claimed)
        self._set(
            found,
            status=FeedbackStatus.QUEUED,
            error=error,
            attempts=found.attempts - (not counts),
            retry_at=self._clock() + timedelta(seconds=delay) if delay > 0 else None,
        )
        self.jobs.append((claimed.id, delay))

    async def finish(self, claimed: Feedback, outcome: Outcome) -> None:
        found = self._claimed(claimed)
        spent = await self._replies.usage(matching_prefix(claimed.id))
        for candidate in await self._runs.candidates(claimed.id):
            spent += candidate.usage + await self._replies.usage(candidate_prefix(candidate.id))
        self._set(
            found,
            status=outcome.status,
            error=outcome.error,
            finished_at=self._clock(),
            retry_at=None,
            usage=spent,
        )

    def queue_again(self, ended: Feedback) -> Feedback:
        """Requeue an ended piece under its next generation, with a job and without verdicts."""
        self._runs.reset_verdicts(ended.id)
        self.jobs.append((ended.id, 0.0))
        return self._set(
            ended,
            status=FeedbackStatus.QUEUED,
            generation=ended.generation + 1,
            attempts=0,
            epoch=ended.epoch + 1,
            error=None,
            finished_at=None,
            retry_at=None,
        )

    def take_off(self, found: Feedback) -> Feedback:
        """Fence off the worker of a piece, and drop its waiting job."""
        self._runs.fence(found.id)
        self.jobs = [job for job in self.jobs if job[0] != found.id]
        return self._set(found, epoch=found.epoch + 1)

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

    def _claimed(self, claimed: Feedback) -> Feedback:
        """Return the current piece. Raises LeaseLost if it is no longer the claimer's."""
        found = self.feedback[claimed.id]
        if found.status.is_end or found.epoch != claimed.epoch:
            raise _lease_lost(claimed)
        return found

    def _set(self, found: Feedback, **values: object) -> Feedback:
        self.feedback[found.id] = found.model_copy(update=values)
        return self.feedback[found.id]


def _lease_lost(claimed: Feedback) -> LeaseLost:
    return LeaseLost(f"feedback {claimed.id} has ended or was taken up by another worker")


def _refuse_unstorable(piece: NewFeedback) -> None:
    text = piece.content + piece.task + (piece.author or "") + (piece.id or "")
    if "\0" in text or has_lone_surrogate(text):
        raise InvalidInput("the text holds what PostgreSQL cannot store")

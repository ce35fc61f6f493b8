"""The `Runs` port in memory."""

from __future__ import annotations

from collections.abc import Sequence

from core.changes.gate.receipts import receipt_of
from core.domain.errors import LeaseLost, NotFound
from core.domain.models import (
    AgentFeedback,
    Candidate,
    ChangeStatus,
    Feedback,
    Fence,
    Receipt,
    Usage,
    Verdict,
)
from core.domain.ports import NewId
from core.testing.changes import MemoryChangeLog
from core.testing.determinism import counting_ids

_MADE = {ChangeStatus.APPLIED, ChangeStatus.HELD}


class MemoryRuns:
    """Candidates by id. With a change log, raising an epoch also fences its changes."""

    def __init__(self, *, log: MemoryChangeLog | None = None, new_id: NewId | None = None) -> None:
        self.stored: dict[str, Candidate] = {}
        self._log = log
        self._new_id = new_id or counting_ids("candidate")

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:
        found = [c for c in self.stored.values() if c.feedback_id == feedback_id]
        return sorted(found, key=lambda candidate: candidate.position)

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        if not await self.candidates(feedback.id):
            for position, part in enumerate(parts):
                self._put(self._candidate(feedback, position, part))
        return await self.candidates(feedback.id)

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        if candidate.id not in self.stored:
            raise NotFound(f"there is no candidate {candidate.id!r}")
        found = self.stored[candidate.id]
        change = {"epoch": found.epoch + 1, "generation": generation, "verdict": None}
        return self._put(found.model_copy(update=change))

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        await self.check(Fence(candidate_id=candidate.id, epoch=candidate.epoch))
        found = self.stored[candidate.id]
        self._put(found.model_copy(update={"verdict": verdict}))

    async def check(self, fence: Fence) -> None:
        found = self.stored.get(fence.candidate_id)
        if found is None or found.epoch != fence.epoch:
            raise LeaseLost(f"candidate {fence.candidate_id} was taken over")

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:
        changes = self._log.changes.values() if self._log else ()
        made = [c for c in changes if c.candidate_id == candidate_id and c.status in _MADE]
        return [receipt_of(change) for change in made]

    def spend(self, candidate_id: str, usage: Usage) -> None:
        """Add to the usage of a candidate, if it is known."""
        found = self.stored.get(candidate_id)
        if found is not None:
            self._put(found.model_copy(update={"usage": found.usage + usage}))

    def reset_verdicts(self, feedback_id: str) -> None:
        """Clear the verdicts, as a retry by a person does."""
        for candidate in list(self.stored.values()):
            if candidate.feedback_id == feedback_id:
                self._put(candidate.model_copy(update={"verdict": None}))

    def fence(self, feedback_id: str) -> None:
        """Raise the epochs of a piece's candidates, which fences off their runs."""
        for candidate in list(self.stored.values()):
            if candidate.feedback_id == feedback_id:
                self._put(candidate.model_copy(update={"epoch": candidate.epoch + 1}))

    def _put(self, candidate: Candidate) -> Candidate:
        self.stored[candidate.id] = candidate
        if self._log is not None:
            self._log.epochs[candidate.id] = candidate.epoch
        return candidate

    def _candidate(self, feedback: Feedback, position: int, part: AgentFeedback) -> Candidate:
        return Candidate(
            id=self._new_id(),
            feedback_id=feedback.id,
            agent_id=part.agent_id,
            agent_name=part.agent_name,
            position=position,
            content=part.learning_candidate.content,
            intent_hint=part.learning_candidate.intent_hint,
            generation=feedback.generation,
        )

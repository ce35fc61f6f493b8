"""Candidates, their epochs and their verdicts as rows."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import Pool, execute, fetch_all, fetch_one
from core.adapters.postgres.rows import candidate_of
from core.changes.gate.receipts import receipt_of
from core.domain.errors import LeaseLost, NotFound
from core.domain.models import AgentFeedback, Candidate, Change, Feedback, Fence, Receipt, Verdict
from core.domain.ports import NewId


class PostgresRuns:
    """The `Runs` port."""

    def __init__(self, pool: Pool, new_id: NewId) -> None:
        self._pool = pool
        self._new_id = new_id

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:
        rows = await fetch_all(self._pool, "runs.candidates", feedback_id=feedback_id)
        return [candidate_of(row) for row in rows]

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        if not parts:
            return await self.candidates(feedback.id)
        rows = await fetch_all(
            self._pool,
            "runs.save",
            feedback_id=feedback.id,
            generation=feedback.generation,
            parts=Jsonb([self._part(position, part) for position, part in enumerate(parts)]),
        )
        # No rows come back if another worker stored them while this statement ran.
        return [candidate_of(row) for row in rows] or await self.candidates(feedback.id)

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        row = await fetch_one(self._pool, "runs.start", id=candidate.id, generation=generation)
        if row is None:
            raise NotFound(f"there is no candidate {candidate.id!r}")
        return candidate_of(row)

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        stored = Jsonb(verdict.model_dump(mode="json"))
        params = {"id": candidate.id, "epoch": candidate.epoch, "verdict": stored}
        if not await execute(self._pool, "runs.finish", **params):
            raise lease_lost(candidate.id)

    async def check(self, fence: Fence) -> None:
        row = await fetch_one(self._pool, "runs.check", id=fence.candidate_id, epoch=fence.epoch)
        if row is None:
            raise lease_lost(fence.candidate_id)

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:
        rows = await fetch_all(self._pool, "runs.receipts", candidate_id=candidate_id)
        return [receipt_of(Change.model_validate(dict(row))) for row in rows]

    def _part(self, position: int, part: AgentFeedback) -> dict[str, object]:
        return {
            **part.learning_candidate.model_dump(),
            "id": self._new_id(),
            "agent_id": part.agent_id,
            "agent_name": part.agent_name,
            "position": position,
        }


def lease_lost(candidate_id: str) -> LeaseLost:
    """Return the error that another worker has raised the candidate's epoch."""
    return LeaseLost(f"candidate {candidate_id} was taken over")

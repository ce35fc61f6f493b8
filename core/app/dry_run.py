"""The stores of a dry run: only its bill is stored, since the model was really called."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import JsonValue

from core.domain.models import (
    NO_USAGE,
    AgentFeedback,
    Candidate,
    Feedback,
    Fence,
    Receipt,
    RunEvent,
    Usage,
    Verdict,
)
from core.domain.ports import NewId, Spending


class DryRuns:
    """The `Runs` port for one dry run: candidates live as long as it does, without contention."""

    def __init__(self, new_id: NewId) -> None:
        self._new_id = new_id

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:  # noqa: ARG002
        """Return no candidates: the matcher is called anew."""
        return ()

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        """Return candidates from the matcher's answer, the first as started."""
        return [
            Candidate(
                id=self._new_id(),
                feedback_id=feedback.id,
                agent_id=part.agent_id,
                agent_name=part.agent_name,
                position=position,
                content=part.learning_candidate.content,
                intent_hint=part.learning_candidate.intent_hint,
                generation=feedback.generation,
                epoch=int(position == 0),
            )
            for position, part in enumerate(parts)
        ]

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        """Return the candidate as started."""
        begun = {"epoch": candidate.epoch + 1, "generation": generation}
        return candidate.model_copy(update=begun)

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        """Drop the verdict."""

    async def check(self, fence: Fence) -> None:
        """Pass: no other worker can take over a dry run."""

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:  # noqa: ARG002
        """Return no receipts: a dry run makes no changes."""
        return ()


class DryReplies:
    """The `Replies` port for one dry run; each first reply is paid for."""

    def __init__(self, spending: Spending) -> None:
        self._spending = spending
        self._replies: dict[tuple[str, int], tuple[JsonValue, Usage]] = {}

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        """Return a reply of this dry run, or None."""
        return self._replies.get((key, ordinal))

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        """Remember a reply during the dry run; the first one is what its tenant pays for."""
        if (key, ordinal) not in self._replies:
            self._replies[key, ordinal] = (reply, usage)
            await self._spending.pay(tenant_id, key, usage)

    async def usage(self, key_prefix: str) -> Usage:
        """Return the usage of the replies whose key begins with `key_prefix`."""
        found = [
            usage for (key, _), (_, usage) in self._replies.items() if key.startswith(key_prefix)
        ]
        return sum(found, Usage())


class DryJournal:
    """The `Journal` port for one dry run: events are dropped, costs are charged."""

    def __init__(self, spending: Spending) -> None:
        self._spending = spending

    async def emit(
        self,
        event: RunEvent,
        spent: Usage = NO_USAGE,
        *,
        waits: bool = False,  # noqa: ARG002
    ) -> None:
        """Charge `spent` to the tenant's day."""
        if spent.model_calls:
            await self._spending.pay(event.tenant_id or "", event.candidate_id or "", spent)

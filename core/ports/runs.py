"""What is kept of a run: candidates, model replies, events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pydantic import JsonValue

from core.models import (
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


class Runs(Protocol):
    """The candidates of a piece of feedback and how each ended."""

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:
        """Give the candidates in order; empty before the matcher has answered."""

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        """Store what the matcher answered; what is stored already stays."""

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        """Raise the epoch (and take over `generation`): whoever held it before is fenced off."""

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        """Record the verdict. Raises LeaseLost where the epoch was raised since."""

    async def check(self, fence: Fence) -> None:
        """Raise LeaseLost where the epoch was raised since."""

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:
        """Give the receipts of changes this candidate has already made, oldest first."""


class Replies(Protocol):
    """Model replies outside the ReAct thread, stored before they are acted on."""

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        """Give a stored reply, or None."""

    async def put(self, key: str, ordinal: int, reply: JsonValue, usage: Usage) -> None:
        """Store a reply; the first one stored stays."""

    async def usage(self, key_prefix: str) -> Usage:
        """Sum the usage of the replies whose key begins with `key_prefix`."""


class Journal(Protocol):
    """What happens in a run, for logs and for people watching."""

    async def emit(self, event: RunEvent, spent: Usage = NO_USAGE) -> None:
        """Write one event and notify; what was `spent` is added to its candidate's usage."""

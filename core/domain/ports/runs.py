"""What a run needs and leaves: candidates, model replies, the line to the model, events."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from pydantic import JsonValue

from core.domain.models import (
    NO_USAGE,
    AgentFeedback,
    Candidate,
    Feedback,
    Fence,
    Pause,
    Receipt,
    RunEvent,
    Usage,
    Verdict,
)
from core.domain.models.views import Said


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

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        """Store a reply; the first one stored stays, and is the one its tenant pays for."""

    async def usage(self, key_prefix: str) -> Usage:
        """Sum the usage of the replies whose key begins with `key_prefix`."""


class Retention(Protocol):
    """What runs keep for going on after a crash is not needed for ever."""

    async def prune(self, seconds: float) -> int:
        """Forget the runs of feedback that ended more than `seconds` ago; give their number.

        Threads, model replies and events go; what they cost, changes and history stay. Held
        feedback has not ended. Where another process prunes, 0 at once.
        """


class CircuitBreaker(Protocol):
    """The way to the model, shared by all workers: its breaker, its concurrency, its rate."""

    def call(self) -> AbstractAsyncContextManager[None]:
        """Wait for a place, hold it while the block runs, and judge the model by how that ends.

        A ModelDown or ConfigurationError inside counts against the model, a normal end for it.
        Raises ModelHeld, without a call, while the model is held back or the wait is too long.
        """

    async def current_pause(self) -> Pause | None:
        """Say why no work is begun that needs the model; None where it may be."""

    async def probe(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Where the model is held back and a look is due, ask it: over all workers, one does.

        Its answer ends the hold; an error of `ask` (ModelDown, ConfigurationError) prolongs it.
        """


class Journal(Protocol):
    """What happens in a run, for logs and for people watching."""

    async def emit(self, event: RunEvent, spent: Usage = NO_USAGE) -> None:
        """Write one event and notify; what was `spent` goes on the bills of who caused it.

        Those are its candidate's, and its tenant's for the day.
        """


# Told of each event once it is committed; it must neither block nor raise.
Observer = Callable[[RunEvent, Usage], None]


class Threads(Protocol):
    """What was said in runs. Threads are kept until some days after their feedback has ended."""

    async def read(self, thread: str) -> Sequence[Said] | None:
        """Give what was said, in order; None where nothing is kept.

        Raises RunFailed where what is kept cannot be read.
        """

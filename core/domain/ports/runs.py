"""What a run needs and leaves: candidates, model replies, the circuit breaker, events."""

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
from core.domain.models.recorded_runs import Fork, RecordedRun, RunFilter
from core.domain.models.views import Said


class Runs(Protocol):
    """The candidates of a piece of feedback and how each ended."""

    async def candidates(self, feedback_id: str) -> Sequence[Candidate]:
        """Return the candidates in order; empty before the matcher has answered."""

    async def save_candidates(
        self, feedback: Feedback, parts: Sequence[AgentFeedback]
    ) -> Sequence[Candidate]:
        """Store the matcher's answer, start its first candidate, and return what was stored.

        Nothing, if an answer is stored already: that stays.
        """

    async def start(self, candidate: Candidate, generation: int) -> Candidate:
        """Raise the epoch (and set `generation`), which fences off the previous runner."""

    async def finish(self, candidate: Candidate, verdict: Verdict) -> None:
        """Record the verdict. Raises LeaseLost if the epoch was raised since."""

    async def check(self, fence: Fence) -> None:
        """Raise LeaseLost if the epoch was raised since."""

    async def receipts(self, candidate_id: str) -> Sequence[Receipt]:
        """Return the receipts of changes this candidate has already made, oldest first."""

    async def fork(self, thread: str) -> Fork | None:
        """Return which run a thread takes its first steps from, None if it begins anew."""


class RunRecords(Protocol):
    """The runs on record. Tagged ones outlive the retention of transcripts."""

    async def page(
        self, wanted: RunFilter, *, limit: int, cursor: str | None
    ) -> tuple[Sequence[RecordedRun], str | None]:
        """Return runs, newest feedback first, and the cursor of the next page."""

    async def get(self, run_id: str) -> RecordedRun:
        """Return a run by its id, that of its candidate, or of feedback that has a single one.

        Raises NotFound; Refused for feedback of several candidates, naming their runs.
        """

    async def tag(self, run: RecordedRun, tags: Sequence[str], *, by: str) -> RecordedRun:
        """Add tags to a run. Idempotent. Raises NotFound if its transcript is gone."""

    async def untag(self, run: RecordedRun, tags: Sequence[str]) -> RecordedRun:
        """Take tags off a run. Idempotent."""


class Replies(Protocol):
    """Model replies outside the ReAct thread, stored before they are acted on."""

    async def get(self, key: str, ordinal: int) -> tuple[JsonValue, Usage] | None:
        """Return a stored reply, or None."""

    async def put(
        self, key: str, ordinal: int, reply: JsonValue, usage: Usage, *, tenant_id: str
    ) -> None:
        """Store a reply; the first one stored stays, and is the one its tenant pays for."""

    async def usage(self, key_prefix: str) -> Usage:
        """Sum the usage of the replies whose key begins with `key_prefix`."""


class Retention(Protocol):
    """Data of ended runs, needed only to resume after a crash."""

    async def prune(self, seconds: float) -> int:
        """Delete the runs of feedback that ended more than `seconds` ago; return their number.

        Threads, model replies and events go; costs, changes and history stay. Held feedback has not
        ended. Returns 0 at once if another process is pruning.
        """


class CircuitBreaker(Protocol):
    """Access to the model, shared by all workers: circuit breaker, concurrency, rate limit."""

    def call(self) -> AbstractAsyncContextManager[None]:
        """Wait for a slot, occupy it while the block runs, and judge the model by how that ends.

        A ModelDown or ConfigurationError inside counts against the model, a normal end for it.
        Raises CircuitOpen, without a call, while the circuit is open or if the wait is too long.
        """

    async def current_pause(self) -> Pause | None:
        """Return why no work that needs the model may start; None if it may."""

    async def probe(self, ask: Callable[[], Awaitable[None]]) -> None:
        """If the circuit is open and a probe is due, run `ask`: one worker of all does.

        Success closes the circuit; an error of `ask` (ModelDown, ConfigurationError) keeps it open.
        """


class Journal(Protocol):
    """The event log of runs, for logs and for people watching."""

    async def emit(self, event: RunEvent, spent: Usage = NO_USAGE, *, waits: bool = False) -> None:
        """Write one event and notify; `spent` is charged to the candidate and the tenant's day.

        With `waits` it may go out with what the piece of feedback reads or stores next.
        """


# Called with each event once it is committed; it must neither block nor raise.
Observer = Callable[[RunEvent, Usage], None]


class Threads(Protocol):
    """Transcripts of runs, stored until some days after their feedback has ended."""

    async def read(self, thread: str) -> Sequence[Said] | None:
        """Return the messages in order; None if nothing is stored.

        Raises RunFailed if the transcript cannot be read.
        """

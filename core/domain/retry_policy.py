"""What is retried, when, and what counts as an attempt (pure)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from core.domain.errors import (
    CircuitOpen,
    ConfigurationError,
    DatabaseDown,
    DependencyDown,
    SkillWorkerError,
    TargetBusy,
)
from core.domain.models import Feedback

# Waiting for another change to release a target is no attempt while the feedback is younger than
# this.
CONTENTION = timedelta(hours=1)
LONGEST_CONTENTION_SECONDS = 30.0  # a target is free again as soon as one change has ended
_LARGEST_EXPONENT = 64


@dataclass(frozen=True)
class RetryPolicy:
    """Back-off between attempts, in seconds; `jitter` returns a factor in [0, 1)."""

    max_attempts: int
    base: float
    longest: float
    jitter: Callable[[], float]

    def delay(self, tries: int, error: SkillWorkerError) -> float:
        """Return the seconds to wait after `tries` attempts, at least what the error asks for.

        If the model was not called, the circuit breaker's own delay is used as it is.
        """
        if isinstance(error, CircuitOpen) and error.retry_after is not None:
            return error.retry_after + self.base * self.jitter()
        longest = self.longest
        if isinstance(error, TargetBusy):
            longest = min(longest, LONGEST_CONTENTION_SECONDS)
        backoff = min(longest, self.base * 2.0 ** min(tries - 1, _LARGEST_EXPONENT))
        asked = error.retry_after if isinstance(error, DependencyDown) else None
        return max(asked or 0.0, backoff * (0.5 + self.jitter() / 2))


def may_pass(error: SkillWorkerError) -> bool:
    """Whether an error is worth retrying. A wrong setting is our fault, not the feedback's."""
    return error.retryable or isinstance(error, ConfigurationError)


def is_attempt(error: SkillWorkerError, feedback: Feedback) -> bool:
    """Whether a start that ended in `error` counts as an attempt.

    It does not if the model was not called, the database did not take what was to be stored, or a
    target was locked; the last counts after `CONTENTION`, so that waiting comes to an end.
    """
    if isinstance(error, CircuitOpen | DatabaseDown):
        return False
    created, claimed = feedback.created_at, feedback.claimed_at  # both set by the same clock
    young = created is not None and claimed is not None and claimed - created < CONTENTION
    return not (isinstance(error, TargetBusy) and young)

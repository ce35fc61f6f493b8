"""Rules of the circuit breaker of a model: what counts as a failure, when to probe (pure)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from core.domain.errors import CircuitOpen, ConfigurationError, ModelDown, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Pause, PauseKind


@dataclass(frozen=True, kw_only=True)
class BreakerOptions:
    """Limits and thresholds of a breaker; all times in seconds.

    `failures` in a row open the circuit, which is then probed every `probe_every`.
    `longest_wait` bounds the wait for a slot, `longest_call` the call with its retries. A worker
    renews its slot while it calls; one not renewed for `slot_ttl` belongs to a dead worker.
    """

    failures: int = 5
    probe_every: float = 15.0
    max_concurrency: int | None = None
    requests_per_minute: float | None = None
    longest_wait: float = 120.0
    longest_call: float = 600.0
    slot_ttl: float = 30.0

    @property
    def interval(self) -> float | None:
        """The least time between the starts of two calls, or None without a rate limit."""
        return None if self.requests_per_minute is None else 60.0 / self.requests_per_minute


def blames_model(error: BaseException) -> bool:
    """Whether an error means that the model is unusable.

    It does not if the model refused this one request, or was never called.
    """
    return isinstance(error, ModelDown | ConfigurationError) and not isinstance(error, CircuitOpen)


def failure_weight(error: SkillWorkerError, options: BreakerOptions, *, has_answered: bool) -> int:
    """Return how many failures this one counts as.

    A configuration error in a process that never got an answer opens the circuit at once. After
    a first answer the one request may be to blame, so it counts once.
    """
    is_setting = isinstance(error, ConfigurationError)
    return options.failures if is_setting and not has_answered else 1


def first_probe_delay(error: SkillWorkerError, options: BreakerOptions) -> float:
    """Seconds until the first probe: none for a configuration error, to confirm it at once."""
    return 0.0 if isinstance(error, ConfigurationError) else probe_delay(error, options)


def probe_delay(error: SkillWorkerError, options: BreakerOptions) -> float:
    """Seconds until the next probe, at least what the provider asked for."""
    return max(options.probe_every, requested_wait(error))


def requested_wait(error: SkillWorkerError) -> float:
    """Seconds that the provider asked to wait (`Retry-After`)."""
    return (error.retry_after or 0.0) if isinstance(error, ModelDown) else 0.0


def model_unavailable(reason: str, seconds: float) -> CircuitOpen:
    """Return the error of an open circuit; `seconds` is the least time until it may close."""
    return CircuitOpen(Message("model.held_back", why=reason), retry_after=max(0.0, seconds))


def rate_exceeded(slots: int, longest_wait: float) -> CircuitOpen:
    """Return the error for none of the slots free within the longest wait."""
    return CircuitOpen(
        Message("model.all_places", n=slots, seconds=longest_wait),
        hint=Message("model.shared_places"),
    )


def queue_too_long(interval: float, longest_wait: float, seconds: float) -> CircuitOpen:
    """Return the error for a rate limit whose queue exceeds the longest wait."""
    return CircuitOpen(
        Message("model.next_call", seconds=seconds),
        hint=Message("model.shared_rate", rate=60.0 / interval),
        retry_after=max(0.0, seconds - longest_wait),
    )


@asynccontextmanager
async def call_deadline(options: BreakerOptions) -> AsyncIterator[None]:
    """Cancel a block that exceeds the longest call. Raises ModelDown."""
    deadline = asyncio.timeout(options.longest_call)
    try:
        async with deadline:
            yield
    except TimeoutError:
        if not deadline.expired():  # an outer time-out of the caller, not this one
            raise
        raise ModelDown(Message("model.too_slow", seconds=options.longest_call)) from None


class LocalBreaker:
    """The breaker of one process, for a key of its own that the provider refuses.

    Other workers may have valid keys, so the shared circuit stays closed; without this one the
    process would claim one piece of feedback after another and use up their attempts.
    """

    def __init__(self, options: BreakerOptions, clock: Callable[[], datetime]) -> None:
        self._options = options
        self._clock = clock
        self._refusals = 0  # in a row
        self._since: datetime | None = None
        self._reason = ""
        self._probe_at: datetime | None = None
        self.is_confirmed = False  # by a probe of this process

    def note_failure(self, error: SkillWorkerError, count: int) -> None:
        """Count a failed call `count` times if it is a configuration error."""
        if not isinstance(error, ConfigurationError):
            return
        self._refusals += count
        if self._refusals >= self._options.failures and self._since is None:
            self._open(error)

    def note_answer(self) -> None:
        """Note a successful call; only a probe closes an open circuit."""
        if self._since is None:
            self._refusals = 0

    def note_probe_failure(self, error: SkillWorkerError) -> None:
        """Note a failed probe: a refusal opens the circuit, anything else only delays the next."""
        self.is_confirmed = not error.retryable
        self._probe_at = self._clock() + timedelta(seconds=probe_delay(error, self._options))
        if self.is_confirmed:
            self._open(error)

    def reset(self) -> None:
        """Close the circuit."""
        self._refusals, self._since, self._probe_at, self.is_confirmed = 0, None, None, False

    def is_due(self) -> bool:
        """Whether the circuit is open and due for a probe."""
        if self._since is None:
            return False
        return self._probe_at is None or self._clock() >= self._probe_at

    def current_pause(self) -> Pause | None:
        """Return why this process must not work, or None if the circuit is closed."""
        if self._since is None:
            return None
        return Pause(
            kind=PauseKind.MODEL, reason=self._reason, since=self._since, fatal=self.is_confirmed
        )

    def require_none(self) -> None:
        """Raise CircuitOpen if the circuit is open."""
        if self._since is None:
            return
        now = self._clock()
        raise model_unavailable(self._reason, ((self._probe_at or now) - now).total_seconds())

    def _open(self, error: SkillWorkerError) -> None:
        self._since = self._since or self._clock()
        self._reason = error.advice

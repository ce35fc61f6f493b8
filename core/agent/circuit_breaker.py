"""The rules of the line to a model: what counts against it, and how long it is held back (pure)."""

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
    """How a line is kept; all times in seconds.

    `failures` in a row hold the model back, `probe_every` is between two looks at it then.
    `longest_wait` is for a place, `longest_call` for the call itself with its repetitions. Who has
    a place says so again and again; `place_lasts` after the last time its worker has died.
    """

    failures: int = 5
    probe_every: float = 15.0
    max_concurrency: int | None = None
    requests_per_minute: float | None = None
    longest_wait: float = 120.0
    longest_call: float = 600.0
    place_lasts: float = 30.0

    @property
    def interval(self) -> float | None:
        """The time between the begins of two calls, or None where any number may begin."""
        return None if self.requests_per_minute is None else 60.0 / self.requests_per_minute


def blames_model(error: BaseException) -> bool:
    """Tell whether what a call ended with says that the model cannot be used.

    It does not where the model refused this one request, or was not asked.
    """
    return isinstance(error, ModelDown | ConfigurationError) and not isinstance(error, CircuitOpen)


def failures_of(error: SkillWorkerError, options: BreakerOptions, *, has_answered: bool) -> int:
    """Give how many failures this one counts as.

    A wrong setting, met by a process that never had an answer, is no accident: it holds the
    model back at once. After an answer it may lie in the one request.
    """
    is_setting = isinstance(error, ConfigurationError)
    return options.failures if is_setting and not has_answered else 1


def first_look(error: SkillWorkerError, options: BreakerOptions) -> float:
    """Seconds until a held model is looked at: at once where a setting is to be confirmed wrong."""
    return 0.0 if isinstance(error, ConfigurationError) else next_look(error, options)


def next_look(error: SkillWorkerError, options: BreakerOptions) -> float:
    """Seconds until it is looked at again, at least what the model asked for."""
    return max(options.probe_every, asked_wait(error))


def asked_wait(error: SkillWorkerError) -> float:
    """Seconds that the model asked to be left alone."""
    return (error.retry_after or 0.0) if isinstance(error, ModelDown) else 0.0


def held_back(reason: str, seconds: float) -> CircuitOpen:
    """Say that the model is held back, and for how long at least."""
    return CircuitOpen(
        Message("model.held_back", "the model is held back: {why}", why=reason),
        retry_after=max(0.0, seconds),
    )


def rate_exceeded(options: BreakerOptions) -> CircuitOpen:
    """Say that no place was free in time."""
    return CircuitOpen(
        f"{options.max_concurrency} calls of the model ran all the time for"
        f" {options.longest_wait:g} s",
        hint="LLM_MAX_CONCURRENCY is shared by all workers",
    )


def queue_too_long(options: BreakerOptions, seconds: float) -> CircuitOpen:
    """Say that the calls ahead fill more than the longest wait."""
    return CircuitOpen(
        f"the next call of the model may begin in {seconds:.0f} s",
        hint=f"LLM_REQUESTS_PER_MINUTE={options.requests_per_minute:g} is shared by all workers",
        retry_after=max(0.0, seconds - options.longest_wait),
    )


@asynccontextmanager
async def within_its_time(options: BreakerOptions) -> AsyncIterator[None]:
    """End a block that takes longer than any call may. Raises ModelDown."""
    deadline = asyncio.timeout(options.longest_call)
    try:
        async with deadline:
            yield
    except TimeoutError:
        if not deadline.expired():
            raise
        raise ModelDown(
            Message(
                "model.too_slow",
                "the model did not end its answer in {seconds:g} s",
                seconds=options.longest_call,
            )
        ) from None


class OwnHold:
    """What holds one process back though others are answered: the model refuses this one's key.

    It would take up one piece after another, fail each at once, and use up their attempts.
    """

    def __init__(self, options: BreakerOptions, clock: Callable[[], datetime]) -> None:
        self._options = options
        self._clock = clock
        self._refusals = 0  # in a row
        self._since: datetime | None = None
        self._reason = ""
        self._look_at: datetime | None = None
        self.is_confirmed = False  # by a look of its own

    def note_failure(self, error: SkillWorkerError, count: int) -> None:
        """Note a call that failed, and that counts so often."""
        if not isinstance(error, ConfigurationError):
            return
        self._refusals += count
        if self._refusals >= self._options.failures and self._since is None:
            self._begin(error)

    def note_answer(self) -> None:
        """Note a call that was answered; only a look ends a hold."""
        if self._since is None:
            self._refusals = 0

    def note_look(self, error: SkillWorkerError) -> None:
        """Note what a look failed with: a refusal holds back, anything else only puts it off."""
        self.is_confirmed = not error.retryable
        self._look_at = self._clock() + timedelta(seconds=next_look(error, self._options))
        if self.is_confirmed:
            self._begin(error)

    def end(self) -> None:
        """End it."""
        self._refusals, self._since, self._look_at, self.is_confirmed = 0, None, None, False

    def is_due(self) -> bool:
        """Tell whether it lasts, and is to be looked at."""
        if self._since is None:
            return False
        return self._look_at is None or self._clock() >= self._look_at

    def current_pause(self) -> Pause | None:
        """Give it, where it lasts."""
        if self._since is None:
            return None
        return Pause(
            kind=PauseKind.MODEL, reason=self._reason, since=self._since, fatal=self.is_confirmed
        )

    def require_none(self) -> None:
        """Raise ModelHeld where it lasts."""
        if self._since is None:
            return
        now = self._clock()
        raise held_back(self._reason, ((self._look_at or now) - now).total_seconds())

    def _begin(self, error: SkillWorkerError) -> None:
        self._since = self._since or self._clock()
        self._reason = error.advice

"""The `CircuitBreaker` port in memory: breakers over one `SharedBreaker` are several workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from core.agent.circuit_breaker import (
    BreakerOptions,
    LocalBreaker,
    blames_model,
    call_deadline,
    failure_weight,
    first_probe_delay,
    model_unavailable,
    probe_delay,
    queue_too_long,
    rate_exceeded,
    requested_wait,
)
from core.domain.errors import ConfigurationError, ModelDown, SkillWorkerError
from core.domain.models import Pause, PauseKind

_PAUSE = 0.05
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass
class SharedBreaker:
    """What all workers know of one model. Time stands still but for `pass_time`."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    failures: int = 0
    open_since: datetime | None = None
    probe_at: datetime = _LONG_AGO
    fatal: bool = False
    reason: str = ""
    next_call_at: datetime = _LONG_AGO
    places: dict[int, datetime] = field(default_factory=dict)  # when each expires, by its key

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, and others run."""
        self.now += timedelta(seconds=seconds)
        await asyncio.sleep(0)

    def seconds_to(self, moment: datetime) -> float:
        """How long it is until then."""
        return (moment - self.now).total_seconds()

    def later(self, seconds: float) -> datetime:
        """The moment in so many seconds."""
        return self.now + timedelta(seconds=seconds)

    def reset(self) -> None:
        """Forget all that went wrong."""
        self.failures, self.open_since, self.fatal, self.reason = 0, None, False, ""


class MemoryCircuitBreaker:
    """The line of one worker; `shared` is what it has in common with others."""

    def __init__(self, options: BreakerOptions | None = None, shared: SharedBreaker | None = None):
        self._options = options or BreakerOptions()
        self._shared = shared or SharedBreaker()
        self._has_answered = False
        self._own = LocalBreaker(self._options, lambda: self._shared.now)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        self._require_closed()
        try:
            async with self._taken():
                self._require_closed()
                yield
        except (ModelDown, ConfigurationError) as error:
            if blames_model(error):
                self._fail(error)
            raise
        self._has_answered = True
        self._own.note_answer()
        if self._shared.open_since is None:
            self._shared.reset()

    async def current_pause(self) -> Pause | None:
        """Return why no work starts; `fatal` only if this worker was refused too."""
        shared = self._shared
        if shared.open_since is None:
            return self._own.current_pause()
        fatal = shared.fatal and self._own.is_confirmed
        return Pause(
            kind=PauseKind.MODEL, reason=shared.reason, since=shared.open_since, fatal=fatal
        )

    async def probe(self, ask: Callable[[], Awaitable[None]]) -> None:
        shared, era = self._shared, self._shared.open_since
        is_claimed = era is not None and (
            shared.probe_at <= shared.now or (shared.fatal and not self._own.is_confirmed)
        )
        if not is_claimed and not (era is None and self._own.is_due()):
            return
        if is_claimed:
            shared.probe_at = shared.later(self._options.probe_every)
        try:
            await ask()
        except SkillWorkerError as error:
            self._own.note_probe_failure(error)
            if is_claimed and shared.open_since == era:
                shared.probe_at = shared.later(probe_delay(error, self._options))
                shared.fatal, shared.reason = not error.retryable, error.advice
        else:
            self._has_answered = True
            self._own.reset()
            if is_claimed and shared.open_since == era:
                shared.reset()

    def _require_closed(self) -> None:
        shared = self._shared
        if shared.open_since is not None:
            raise model_unavailable(shared.reason, shared.seconds_to(shared.probe_at))
        self._own.require_none()

    def _fail(self, error: SkillWorkerError) -> None:
        shared = self._shared
        count = failure_weight(error, self._options, has_answered=self._has_answered)
        self._own.note_failure(error, count)
        shared.failures += count
        if shared.open_since is not None:
            shared.probe_at = max(shared.probe_at, shared.later(requested_wait(error)))
            return
        shared.reason = error.advice
        if shared.failures >= self._options.failures:
            shared.open_since = shared.now
            shared.probe_at = shared.later(first_probe_delay(error, self._options))

    @asynccontextmanager
    async def _taken(self) -> AsyncIterator[None]:
        if self._options.max_concurrency is None:
            await self._await_begin()
            yield
            return
        place = await self._take(self._options.max_concurrency)
        try:
            await self._await_begin()
            async with call_deadline(self._options):
                yield
        finally:
            self._shared.places.pop(place, None)

    async def _take(self, places: int) -> int:
        shared, waited = self._shared, 0.0
        while len([end for end in shared.places.values() if end > shared.now]) >= places:
            if waited >= self._options.longest_wait:
                raise rate_exceeded(self._options)
            await shared.pass_time(_PAUSE)
            waited += _PAUSE
        place = max(shared.places, default=0) + 1
        shared.places[place] = shared.later(self._options.slot_ttl)
        return place

    async def _await_begin(self) -> None:
        shared, interval = self._shared, self._options.interval
        if interval is None:
            return
        wait = shared.seconds_to(shared.next_call_at)
        if wait >= self._options.longest_wait:
            raise queue_too_long(self._options, wait)
        shared.next_call_at = max(shared.next_call_at, shared.now) + timedelta(seconds=interval)
        if wait > 0:
            await shared.pass_time(wait)

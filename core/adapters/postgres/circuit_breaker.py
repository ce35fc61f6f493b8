"""A model's circuit breaker, concurrency and rate limit, shared by all workers in one row."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import structlog
from psycopg.rows import DictRow

from core.adapters.postgres.queries import Pool, execute, fetch_one, recalled, to_said
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
from core.domain.errors import ConfigurationError, DatabaseDown, ModelDown, SkillWorkerError
from core.domain.models import Pause, PauseKind
from core.domain.ports import NewId, Sleep
from core.domain.tasks import end_tasks

log = structlog.get_logger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.25  # seconds between two attempts to get a slot


class ModelSlots:
    """The concurrency and rate limits of one model; with none set it costs nothing."""

    def __init__(
        self, pool: Pool, model: str, options: BreakerOptions, *, new_id: NewId, sleep: Sleep
    ) -> None:
        self._pool = pool
        self._model = model
        self._options = options
        self._new_id = new_id
        self._sleep = sleep
        # One task per process polls at a time: many waiters, few queries.
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a slot and for the rate limit; the block has them. Raises CircuitOpen.

        Raises ModelDown if the block takes longer than a slot lasts.
        """
        if self._options.max_concurrency is None:
            await self._await_begin()
            yield
            return
        slot = await self._take(self._options.max_concurrency)
        keeper = asyncio.create_task(self._renew(slot), name="slot")
        try:
            # Only the owner of a slot reserves a start time: else all that waited would start
            # together.
            await self._await_begin()
            async with call_deadline(self._options):
                yield
        finally:
            await end_tasks([keeper])
            await self._release_slot(slot)

    async def _take(self, slots: int) -> str:
        try:
            async with asyncio.timeout(self._options.longest_wait):
                await self._lock.acquire()
        except TimeoutError:
            raise rate_exceeded(slots, self._options.longest_wait) from None
        try:
            return await self._poll(slots)
        finally:
            self._lock.release()

    async def _poll(self, slots: int) -> str:
        slot, waited, pause = self._new_id(), 0.0, _FIRST_PAUSE
        while not await self._try(slot, slots):
            if waited >= self._options.longest_wait:
                raise rate_exceeded(slots, self._options.longest_wait)
            await self._sleep(pause)
            waited, pause = waited + pause, min(2 * pause, _LONGEST_PAUSE)
        return slot

    async def _try(self, slot: str, slots: int) -> bool:
        given = await execute(
            self._pool,
            "circuit_breaker.take_slot",
            model=self._model,
            id=slot,
            slots=slots,
            lasts=self._options.slot_ttl,
        )
        return given > 0

    async def _renew(self, slot: str) -> None:
        """Renew the slot until cancelled."""
        lasts = self._options.slot_ttl
        while True:
            await asyncio.sleep(lasts / 3)
            with suppress(DatabaseDown):
                await execute(
                    self._pool,
                    "circuit_breaker.renew_slot",
                    model=self._model,
                    id=slot,
                    lasts=lasts,
                )

    async def _release_slot(self, slot: str) -> None:
        try:
            await execute(self._pool, "circuit_breaker.release_slot", model=self._model, id=slot)
        except DatabaseDown as error:
            # The answer has arrived and is paid for; the slot expires by itself.
            log.warning("place.left_behind", error=error.message)

    async def _await_begin(self) -> None:
        interval = self._options.interval
        if interval is None:
            return
        longest = self._options.longest_wait
        row = await fetch_one(
            self._pool,
            "circuit_breaker.reserve",
            model=self._model,
            interval=interval,
            longest=longest,
        )
        if row is None:
            raise await self._too_long(interval)
        if row["wait"] > 0:
            await self._sleep(row["wait"])

    async def _too_long(self, interval: float) -> Exception:
        row = await fetch_one(self._pool, "circuit_breaker.next_begin", model=self._model)
        waits = row["wait"] if row else 0.0
        return queue_too_long(interval, self._options.longest_wait, waits)


_T = TypeVar("_T")


@dataclass(frozen=True)
class _State:
    """The row as this process last read it; `probe_in` is in seconds."""

    failures: int = 0
    open_since: datetime | None = None
    fatal: bool = False
    reason: str = ""
    probe_in: float | None = None


def _state(row: DictRow) -> _State:
    reason = recalled(row["said"]).get(row["reason"], row["reason"])
    rest = {name: value for name, value in row.items() if name not in {"reason", "said"}}
    return _State(**rest, reason=reason)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class PostgresCircuitBreaker:
    """The `CircuitBreaker` port. Without limits, a call in a closed circuit costs no round trip.

    What this process believes of the circuit is as old as its last `current_pause`; all times are
    compared by the database's clock.
    """

    def __init__(
        self,
        pool: Pool,
        model: str,
        options: BreakerOptions,
        *,
        new_id: NewId,
        sleep: Sleep,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        self._pool = pool
        self._model = model
        self._options = options
        self._slots = ModelSlots(pool, model, options, new_id=new_id, sleep=sleep)
        self._state: _State | None = None
        self._has_answered = False
        self._own = LocalBreaker(options, clock)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        await self._require_closed()
        try:
            async with self._slots.taken():
                await self._require_closed()  # waiting for the slot may have taken a while
                yield
        except (ModelDown, ConfigurationError) as error:
            if blames_model(error):
                await self._fail(error)
            raise
        await self._answer()

    async def current_pause(self) -> Pause | None:
        """Return why no work that needs the model may start.

        It is `fatal` only if this process was refused too, by its own probe: its key may differ
        from that of the worker that was refused first.
        """
        state = await self._refresh()
        if state.open_since is None:
            return self._own.current_pause()
        return Pause(
            kind=PauseKind.MODEL,
            reason=state.reason,
            since=state.open_since,
            fatal=state.fatal and self._own.is_confirmed,
        )

    async def probe(self, ask: Callable[[], Awaitable[None]]) -> None:
        """If a probe is due, run `ask`: one worker of all does; for its own refusal each does."""
        claimed = await fetch_one(
            self._pool,
            "circuit_breaker.claim_probe",
            model=self._model,
            every=self._options.probe_every,
            unseen=not self._own.is_confirmed,
        )
        if claimed is None and not (self._is_closed and self._own.is_due()):
            return
        try:
            await ask()
        except SkillWorkerError as error:
            self._own.note_probe_failure(error)
            if claimed is not None:
                await self._prolong(error, claimed["open_since"])
        else:
            self._has_answered = True
            self._own.reset()
            if claimed is not None:
                await self._release(claimed)

    @property
    def _is_closed(self) -> bool:
        return self._state is not None and self._state.open_since is None

    async def _require_closed(self) -> None:
        state = self._state or await self._refresh()
        if state.open_since is not None:
            state = await self._refresh()
        if state.open_since is not None:
            raise model_unavailable(state.reason, state.probe_in or 0.0)
        self._own.require_none()

    async def _refresh(self) -> _State:
        row = await fetch_one(self._pool, "circuit_breaker.state", model=self._model)
        self._state = _state(row) if row else _State()
        return self._state

    async def _fail(self, error: SkillWorkerError) -> None:
        count = failure_weight(error, self._options, has_answered=self._has_answered)
        self._own.note_failure(error, count)
        limit = self._options.failures
        row = await self._noted(
            fetch_one(
                self._pool,
                "circuit_breaker.fail",
                model=self._model,
                count=count,
                limit=limit,
                reason=error.advice,
                said=to_said(error.advice),
                probe_after=first_probe_delay(error, self._options),
                asked=requested_wait(error),
            )
        )
        if row is None:
            return
        self._state = _state(row)
        if self._state.failures - count < limit <= self._state.failures:
            log.warning("model.held", model=self._model, reason=self._state.reason)

    async def _answer(self) -> None:
        self._has_answered = True
        self._own.note_answer()
        if self._state and self._state.failures and self._state.open_since is None:
            self._state = _State()
            await self._noted(execute(self._pool, "circuit_breaker.answer", model=self._model))

    async def _noted(self, write: Awaitable[_T]) -> _T | None:
        """Record how a call ended; failing to do so must not change that result."""
        try:
            return await write
        except DatabaseDown as error:
            log.warning("line.unwritten", model=self._model, error=error.message)
            return None

    async def _prolong(self, error: SkillWorkerError, open_since: datetime) -> None:
        reason, delay = error.advice, probe_delay(error, self._options)
        await execute(
            self._pool,
            "circuit_breaker.prolong",
            model=self._model,
            open_since=open_since,
            probe_after=delay,
            fatal=not error.retryable,
            reason=reason,
            said=to_said(reason),
        )
        log.warning("look.failed", model=self._model, reason=reason, next_in=round(delay, 1))

    async def _release(self, claimed: DictRow) -> None:
        ended = await execute(
            self._pool,
            "circuit_breaker.release",
            model=self._model,
            open_since=claimed["open_since"],
        )
        self._state = None
        if ended:
            log.info("model.released", model=self._model, seconds=round(claimed["open_for"], 1))

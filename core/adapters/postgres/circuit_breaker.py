"""The line to a model, shared by all workers over one row: its breaker, and its looks."""

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
    OwnHold,
    asked_wait,
    blames_model,
    failures_of,
    first_look,
    held_back,
    next_look,
    queue_too_long,
    rate_exceeded,
    within_its_time,
)
from core.domain.errors import ConfigurationError, DatabaseDown, ModelDown, SkillWorkerError
from core.domain.models import Pause, PauseKind
from core.domain.ports import NewId, Sleep
from core.domain.tasks import end_tasks

log = structlog.get_logger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.25  # seconds between two tries to get a place


class ModelPlaces:
    """The limits of one model; without any set it costs nothing."""

    def __init__(
        self, pool: Pool, model: str, options: BreakerOptions, *, new_id: NewId, sleep: Sleep
    ) -> None:
        self._pool = pool
        self._model = model
        self._options = options
        self._new_id = new_id
        self._sleep = sleep
        self._turn = asyncio.Lock()  # one of a process tries at a time: many waiters, few queries

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """Wait for a place and for the time to begin; the block has them. Raises ModelHeld.

        Raises ModelDown where the block takes longer than a place lasts.
        """
        if self._options.max_concurrency is None:
            await self._await_begin()
            yield
            return
        place = await self._take(self._options.max_concurrency)
        keeper = asyncio.create_task(self._keep(place), name="place")
        try:
            # Only who has a place reserves a begin: else those who waited would begin together.
            await self._await_begin()
            async with within_its_time(self._options):
                yield
        finally:
            await end_tasks([keeper])
            await self._leave(place)

    async def _take(self, places: int) -> str:
        try:
            async with asyncio.timeout(self._options.longest_wait):
                await self._turn.acquire()
        except TimeoutError:
            raise rate_exceeded(self._options) from None
        try:
            return await self._poll(places)
        finally:
            self._turn.release()

    async def _poll(self, places: int) -> str:
        place, waited, pause = self._new_id(), 0.0, _FIRST_PAUSE
        while not await self._try(place, places):
            if waited >= self._options.longest_wait:
                raise rate_exceeded(self._options)
            await self._sleep(pause)
            waited, pause = waited + pause, min(2 * pause, _LONGEST_PAUSE)
        return place

    async def _try(self, place: str, places: int) -> bool:
        given = await execute(
            self._pool,
            "circuit_breaker.take_place",
            model=self._model,
            id=place,
            places=places,
            lasts=self._options.place_lasts,
        )
        return given > 0

    async def _keep(self, place: str) -> None:
        """Say again and again that the place is in use, until cancelled."""
        lasts = self._options.place_lasts
        while True:
            await asyncio.sleep(lasts / 3)
            with suppress(DatabaseDown):
                await execute(
                    self._pool,
                    "circuit_breaker.keep_place",
                    model=self._model,
                    id=place,
                    lasts=lasts,
                )

    async def _leave(self, place: str) -> None:
        try:
            await execute(self._pool, "circuit_breaker.leave_place", model=self._model, id=place)
        except DatabaseDown as error:
            # The answer is there, and paid for; the place ends with its time.
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
            raise await self._too_long()
        if row["wait"] > 0:
            await self._sleep(row["wait"])

    async def _too_long(self) -> Exception:
        row = await fetch_one(self._pool, "circuit_breaker.next_begin", model=self._model)
        return queue_too_long(self._options, row["wait"] if row else 0.0)


_T = TypeVar("_T")


@dataclass(frozen=True)
class _State:
    """The row as this process saw it last; `look_in` are seconds."""

    failures: int = 0
    open_since: datetime | None = None
    fatal: bool = False
    reason: str = ""
    look_in: float | None = None


def _state(row: DictRow) -> _State:
    reason = recalled(row["said"]).get(row["reason"], row["reason"])
    rest = {name: value for name, value in row.items() if name not in {"reason", "said"}}
    return _State(**rest, reason=reason)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class PostgresCircuitBreaker:
    """The `ModelLine` port. With no limits and nothing wrong a call costs no round trip.

    What this process believes of the line is as old as its last `hold`; all times are compared
    by the database's clock.
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
        self._places = ModelPlaces(pool, model, options, new_id=new_id, sleep=sleep)
        self._state: _State | None = None
        self._has_answered = False
        self._own = OwnHold(options, clock)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        await self._require_closed()
        try:
            async with self._places.taken():
                await self._require_closed()  # that took a while, maybe
                yield
        except (ModelDown, ConfigurationError) as error:
            if blames_model(error):
                await self._fail(error)
            raise
        await self._answer()

    async def current_pause(self) -> Pause | None:
        """Say why no work is begun that needs the model.

        It is `fatal` only where this process was refused too, when it looked itself: its key may
        be another than that of the one who was refused first.
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
        """Where a look is due, ask: over all workers, one does; for its own hold each does."""
        claimed = await fetch_one(
            self._pool,
            "circuit_breaker.claim_look",
            model=self._model,
            every=self._options.probe_every,
            unseen=not self._own.is_confirmed,
        )
        if claimed is None and not (self._is_closed and self._own.is_due()):
            return
        try:
            await ask()
        except SkillWorkerError as error:
            self._own.note_look(error)
            if claimed is not None:
                await self._prolong(error, claimed["open_since"])
        else:
            self._has_answered = True
            self._own.end()
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
            raise held_back(state.reason, state.look_in or 0.0)
        self._own.require_none()

    async def _refresh(self) -> _State:
        row = await fetch_one(self._pool, "circuit_breaker.state", model=self._model)
        self._state = _state(row) if row else _State()
        return self._state

    async def _fail(self, error: SkillWorkerError) -> None:
        count = failures_of(error, self._options, has_answered=self._has_answered)
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
                look=first_look(error, self._options),
                asked=asked_wait(error),
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
        """Write down how a call ended; that this fails must not change how it ended."""
        try:
            return await write
        except DatabaseDown as error:
            log.warning("line.unwritten", model=self._model, error=error.message)
            return None

    async def _prolong(self, error: SkillWorkerError, open_since: datetime) -> None:
        reason, look = error.advice, next_look(error, self._options)
        await execute(
            self._pool,
            "circuit_breaker.prolong",
            model=self._model,
            open_since=open_since,
            look=look,
            fatal=not error.retryable,
            reason=reason,
            said=to_said(reason),
        )
        log.warning("look.failed", model=self._model, reason=reason, next_in=round(look, 1))

    async def _release(self, claimed: DictRow) -> None:
        ended = await execute(
            self._pool,
            "circuit_breaker.release",
            model=self._model,
            open_since=claimed["open_since"],
        )
        self._state = None
        if ended:
            log.info("model.released", model=self._model, seconds=round(claimed["held_for"], 1))

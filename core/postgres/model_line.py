"""The line to a model, shared by all workers over one row: its breaker, and its looks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

import structlog
from psycopg.rows import DictRow

from core.errors import ConfigurationError, DatabaseDown, ModelDown, SkillWorkerError
from core.model_line import (
    LineOptions,
    OwnHold,
    asked_wait,
    blames_model,
    failures_of,
    first_look,
    held_back,
    next_look,
    reason_of,
)
from core.models import Hold, HoldKind
from core.ports import NewId, Sleep
from core.postgres.model_places import ModelPlaces
from core.postgres.queries import Pool, execute, fetch_one

log = structlog.get_logger(__name__)

_T = TypeVar("_T")


@dataclass(frozen=True)
class _State:
    """The row as this process saw it last; `look_in` are seconds."""

    failures: int = 0
    open_since: datetime | None = None
    fatal: bool = False
    reason: str = ""
    look_in: float | None = None


def _utc_now() -> datetime:
    return datetime.now(UTC)


class PostgresModelLine:
    """The `ModelLine` port. With no limits and nothing wrong a call costs no round trip.

    What this process believes of the line is as old as its last `hold`; all times are compared
    by the database's clock.
    """

    def __init__(
        self,
        pool: Pool,
        model: str,
        options: LineOptions,
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
        """Hold a place while the block runs, and judge the model by its end. Raises ModelHeld."""
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

    async def hold(self) -> Hold | None:
        """Say why no work is begun that needs the model.

        It is `fatal` only where this process was refused too, when it looked itself: its key may
        be another than that of the one who was refused first.
        """
        state = await self._refresh()
        if state.open_since is None:
            return self._own.hold()
        return Hold(
            kind=HoldKind.MODEL,
            reason=state.reason,
            since=state.open_since,
            fatal=state.fatal and self._own.is_confirmed,
        )

    async def probe(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Where a look is due, ask: over all workers, one does; for its own hold each does."""
        claimed = await fetch_one(
            self._pool,
            "model_line.claim_look",
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
        row = await fetch_one(self._pool, "model_line.state", model=self._model)
        self._state = _State(**row) if row else _State()
        return self._state

    async def _fail(self, error: SkillWorkerError) -> None:
        count = failures_of(error, self._options, has_answered=self._has_answered)
        self._own.note_failure(error, count)
        limit = self._options.failures
        row = await self._noted(
            fetch_one(
                self._pool,
                "model_line.fail",
                model=self._model,
                count=count,
                limit=limit,
                reason=reason_of(error),
                look=first_look(error, self._options),
                asked=asked_wait(error),
            )
        )
        if row is None:
            return
        self._state = _State(**row)
        if self._state.failures - count < limit <= self._state.failures:
            log.warning("model.held", model=self._model, reason=self._state.reason)

    async def _answer(self) -> None:
        self._has_answered = True
        self._own.note_answer()
        if self._state and self._state.failures and self._state.open_since is None:
            self._state = _State()
            await self._noted(execute(self._pool, "model_line.answer", model=self._model))

    async def _noted(self, write: Awaitable[_T]) -> _T | None:
        """Write down how a call ended; that this fails must not change how it ended."""
        try:
            return await write
        except DatabaseDown as error:
            log.warning("line.unwritten", model=self._model, error=error.message)
            return None

    async def _prolong(self, error: SkillWorkerError, open_since: datetime) -> None:
        reason, look = reason_of(error), next_look(error, self._options)
        await execute(
            self._pool,
            "model_line.prolong",
            model=self._model,
            open_since=open_since,
            look=look,
            fatal=not error.retryable,
            reason=reason,
        )
        log.warning("look.failed", model=self._model, reason=reason, next_in=round(look, 1))

    async def _release(self, claimed: DictRow) -> None:
        ended = await execute(
            self._pool, "model_line.release", model=self._model, open_since=claimed["open_since"]
        )
        self._state = None
        if ended:
            log.info("model.released", model=self._model, seconds=round(claimed["held_for"], 1))

"""Places in the line to a model: so many calls at once, so many begun in a minute, over all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import structlog

from core.errors import DatabaseDown
from core.model_line import LineOptions, line_full, line_too_long, within_its_time
from core.ports import NewId, Sleep
from core.postgres.queries import Pool, execute, fetch_one
from core.tasks import end_tasks

log = structlog.get_logger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.25  # seconds between two tries to get a place


class ModelPlaces:
    """The limits of one model; without any set it costs nothing."""

    def __init__(
        self, pool: Pool, model: str, options: LineOptions, *, new_id: NewId, sleep: Sleep
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
            raise line_full(self._options) from None
        try:
            return await self._poll(places)
        finally:
            self._turn.release()

    async def _poll(self, places: int) -> str:
        place, waited, pause = self._new_id(), 0.0, _FIRST_PAUSE
        while not await self._try(place, places):
            if waited >= self._options.longest_wait:
                raise line_full(self._options)
            await self._sleep(pause)
            waited, pause = waited + pause, min(2 * pause, _LONGEST_PAUSE)
        return place

    async def _try(self, place: str, places: int) -> bool:
        given = await execute(
            self._pool,
            "model_line.take_place",
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
                    self._pool, "model_line.keep_place", model=self._model, id=place, lasts=lasts
                )

    async def _leave(self, place: str) -> None:
        try:
            await execute(self._pool, "model_line.leave_place", model=self._model, id=place)
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
            "model_line.reserve",
            model=self._model,
            interval=interval,
            longest=longest,
        )
        if row is None:
            raise await self._too_long()
        if row["wait"] > 0:
            await self._sleep(row["wait"])

    async def _too_long(self) -> Exception:
        row = await fetch_one(self._pool, "model_line.next_begin", model=self._model)
        return line_too_long(self._options, row["wait"] if row else 0.0)

"""One connection that listens for events, shared by all in this process who wait for some."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog

from core.errors import SkillWorkerError
from core.models import EventFilter
from core.postgres.errors import translated
from core.postgres.queries import Connection, Pool, sql
from core.tasks import end_tasks

log = structlog.get_logger(__name__)

FIRST_BACKOFF, LONGEST_BACKOFF = 0.2, 10.0
_TOLD = 200  # so much of an id is in a notification


class Bell:
    """Rings for events that somebody wants, and where nobody knows what was missed."""

    def __init__(self, wanted: EventFilter) -> None:
        self._wanted = {
            key: value[:_TOLD]
            for key in ("tenant_id", "feedback_id")
            if (value := getattr(wanted, key)) is not None
        }
        self._rung = asyncio.Event()

    @property
    def is_rung(self) -> bool:
        """True where it has rung since somebody last waited."""
        return self._rung.is_set()

    def ring(self) -> None:
        """Wake whoever waits, now or next."""
        self._rung.set()

    def is_for(self, told: dict[str, object]) -> bool:
        """Tell whether a notification may be of an event that is wanted."""
        return all(told.get(key) == value for key, value in self._wanted.items())

    async def wait(self, seconds: float) -> None:
        """Wait until it has rung since the last time, or for so many seconds."""
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return
        self._rung.clear()


class Listener:
    """Listens from the first who waits to the last; a lost connection is made again."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._bells: set[Bell] = set()
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listening(self, wanted: EventFilter) -> AsyncIterator[Bell]:
        """Give a bell while the block lasts."""
        bell = Bell(wanted)
        self._bells.add(bell)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen(), name="events")
        try:
            yield bell
        finally:
            self._bells.discard(bell)
            if not self._bells and self._task is not None:
                task, self._task = self._task, None
                await end_tasks([task])

    async def _listen(self) -> None:
        backoff = FIRST_BACKOFF
        while self._bells:
            try:
                with translated():
                    async with await self._connect() as conn:
                        await conn.execute(sql("feed.listen"))
                        backoff = FIRST_BACKOFF
                        await self._hear(conn)
            except SkillWorkerError as error:
                log.warning("listener.lost", error=error.message, next_in=backoff)
            except Exception:  # a defect here must not silence everybody for good
                log.exception("listener.broke")
            await asyncio.sleep(backoff)
            backoff = min(2 * backoff, LONGEST_BACKOFF)

    async def _connect(self) -> Connection:
        """Give a connection of its own: it would keep one of the pool's for ever."""
        kwargs = {**self._pool.kwargs, "autocommit": True}  # type: ignore[dict-item]
        return await self._pool.connection_class.connect(self._pool.conninfo, **kwargs)  # type: ignore[arg-type]

    async def _hear(self, conn: Connection) -> None:
        self._ring_all()  # for what came before this connection
        async for notification in conn.notifies():
            told = json.loads(notification.payload)
            for bell in self._bells:
                if bell.is_for(told):
                    bell.ring()

    def _ring_all(self) -> None:
        for bell in self._bells:
            bell.ring()

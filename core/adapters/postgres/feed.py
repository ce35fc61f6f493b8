"""The event feed over all processes, in the order of their transactions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import LiteralString

import structlog
from psycopg.rows import DictRow
from pydantic import ValidationError

from core.adapters.postgres.queries import Connection, Pool, connection, execute, sql, translated
from core.domain.errors import SkillWorkerError
from core.domain.event_cursor import START, EventCursor, parse_cursor
from core.domain.models import EventFilter, EventState, FeedPage, PlacedEvent, RunEvent
from core.domain.tasks import end_tasks, over_all_tenants

log = structlog.get_logger(__name__)

FIRST_BACKOFF, LONGEST_BACKOFF = 0.2, 10.0
_ID_CHARS = 200  # an id is cut to this length in a notification


class Bell:
    """Rings for wanted events, and whenever events may have been missed."""

    def __init__(self, wanted: EventFilter) -> None:
        self._wanted = {
            key: value[:_ID_CHARS]
            for key in ("tenant_id", "feedback_id")
            if (value := getattr(wanted, key)) is not None
        }
        self._rung = asyncio.Event()

    @property
    def is_rung(self) -> bool:
        """Whether it has rung since the last wait."""
        return self._rung.is_set()

    def ring(self) -> None:
        """Wake the waiter, now or at its next wait."""
        self._rung.set()

    def is_for(self, payload: dict[str, object]) -> bool:
        """Whether a notification may be of a wanted event."""
        return all(payload.get(key) == value for key, value in self._wanted.items())

    async def wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._rung.wait()
        except TimeoutError:
            return
        self._rung.clear()


class Listener:
    """LISTENs while anybody waits; a lost connection is reopened."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._bells: set[Bell] = set()
        self._task: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def listening(self, wanted: EventFilter) -> AsyncIterator[Bell]:
        """Open a bell while the block lasts."""
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
            except Exception:  # a defect here must not silence the feed for good
                log.exception("listener.broke")
            await asyncio.sleep(backoff)
            backoff = min(2 * backoff, LONGEST_BACKOFF)

    async def _connect(self) -> Connection:
        """Open a separate connection: LISTEN would occupy one of the pool's for good."""
        kwargs = {**self._pool.kwargs, "autocommit": True}  # type: ignore[dict-item]
        return await self._pool.connection_class.connect(self._pool.conninfo, **kwargs)  # type: ignore[arg-type]

    async def _hear(self, conn: Connection) -> None:
        self._ring_all()  # for events from before this connection
        async for notification in conn.notifies():
            payload = json.loads(notification.payload)
            for bell in self._bells:
                if bell.is_for(payload):
                    bell.ring()

    def _ring_all(self) -> None:
        for bell in self._bells:
            bell.ring()


# However many watch, most of the pool is left to the work.
AT_ONCE = 2
_CONDITIONS = {
    "tenant_id": "feed.of_tenant",
    "feedback_id": "feed.of_feedback",
    "names": "feed.of_names",
}
_COLUMNS = set(RunEvent.model_fields)


class PostgresFeed:
    """The `Feed` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._listener = Listener(pool)
        self._looking = asyncio.Semaphore(AT_ONCE)
        self._mended = False

    async def cursor(self) -> str:
        (row,) = await self._rows(START, EventFilter(), 0)
        return str(EventCursor(row["horizon"], 0))

    async def after(self, cursor: str | None, wanted: EventFilter, limit: int) -> FeedPage:
        begin = parse_cursor(cursor) if cursor else START
        rows = await self._rows(begin, wanted, limit)
        found = [row for row in rows if row["id"] is not None]
        settled = [row for row in found if row["is_settled"]]
        is_full = len(settled) == limit
        # Below the horizon nothing is missing, and nothing will be added. A cursor beyond it comes
        # from before a crash of the server, which then reuses the numbers it had lost.
        end = _cursor(settled[-1]) if is_full else EventCursor(rows[0]["horizon"], 0)
        return FeedPage(
            events=tuple(_placed(row) for row in settled),
            cursor=str(end),
            is_full=is_full,
            is_behind=len(settled) < len(found),
        )

    @asynccontextmanager
    async def listening(self, wanted: EventFilter) -> AsyncIterator[Bell]:
        async with self._listener.listening(wanted) as bell:
            yield bell

    async def _mend(self) -> None:
        """Once, before the first read: no dump is restored under a running process."""
        if not self._mended:
            with over_all_tenants():
                await execute(self._pool, "feed.mend")
            self._mended = True

    async def _rows(self, begin: EventCursor, wanted: EventFilter, limit: int) -> Sequence[DictRow]:
        await self._mend()
        given: Mapping[str, object] = {**wanted.model_dump(), "names": [*wanted.names]}
        params = {**given, "txid": str(begin.txid), "id": begin.id, "limit": limit}
        async with self._looking, connection(self._pool) as conn:
            return await (await conn.execute(query_of(wanted), params)).fetchall()


def event_of(row: DictRow) -> RunEvent:
    """Build an event from a row of `run_events`; an unreadable state is left empty."""
    known = {name: value for name, value in row.items() if name in _COLUMNS}
    try:
        return RunEvent.model_validate(known)
    except ValidationError:
        return RunEvent.model_validate({**known, "data": {}, "state": EventState()})


def query_of(wanted: EventFilter) -> LiteralString:
    """Return the query with just the wanted conditions: each combination has its own plan."""
    asked = [sql(block) for name, block in _CONDITIONS.items() if getattr(wanted, name)]
    return sql("feed.after").replace("/* asked for */", " ".join(asked))


def _placed(row: DictRow) -> PlacedEvent:
    return PlacedEvent(cursor=str(_cursor(row)), event=event_of(row))


def _cursor(row: DictRow) -> EventCursor:
    return EventCursor(row["txid"], row["id"])

"""Events as they happen, whichever process writes them, in the order of their transactions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import LiteralString

from psycopg.rows import DictRow
from pydantic import ValidationError

from core.feed_place import START, FeedPlace, read_place
from core.models import EventFilter, EventState, FeedPage, PlacedEvent, RunEvent
from core.postgres.feed_listener import Bell, Listener
from core.postgres.queries import Pool, connection, execute, sql

# Whoever watches, and however many do, leaves most of the pool to the work.
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

    async def place(self) -> str:
        """Give the place from which all that is written from now on is read."""
        (row,) = await self._rows(START, EventFilter(), 0)
        return str(FeedPlace(row["horizon"], 0))

    async def after(self, place: str | None, wanted: EventFilter, limit: int) -> FeedPage:
        """Give at most `limit` events that come after a place. Raises InvalidInput."""
        begin = read_place(place) if place else START
        rows = await self._rows(begin, wanted, limit)
        found = [row for row in rows if row["id"] is not None]
        settled = [row for row in found if row["is_settled"]]
        is_full = len(settled) == limit
        # Below the horizon there is nothing more, and there never will be. A place beyond it is
        # of a server that has crashed since, and gives numbers out again that it had lost.
        end = _place(settled[-1]) if is_full else FeedPlace(rows[0]["horizon"], 0)
        return FeedPage(
            events=tuple(_placed(row) for row in settled),
            place=str(end),
            is_full=is_full,
            is_behind=len(settled) < len(found),
        )

    @asynccontextmanager
    async def listening(self, wanted: EventFilter) -> AsyncIterator[Bell]:
        """Give a bell for the events that are wanted, while the block lasts."""
        async with self._listener.listening(wanted) as bell:
            yield bell

    async def _mend(self) -> None:
        """Once, before the first look: no dump is restored under a running process."""
        if not self._mended:
            await execute(self._pool, "feed.mend")
            self._mended = True

    async def _rows(self, begin: FeedPlace, wanted: EventFilter, limit: int) -> Sequence[DictRow]:
        await self._mend()
        given: Mapping[str, object] = {**wanted.model_dump(), "names": [*wanted.names]}
        params = {**given, "txid": str(begin.txid), "id": begin.id, "limit": limit}
        async with self._looking, connection(self._pool) as conn:
            return await (await conn.execute(query_of(wanted), params)).fetchall()


def event_of(row: DictRow) -> RunEvent:
    """Read a row of `run_events`; a state that cannot be read is none."""
    known = {name: value for name, value in row.items() if name in _COLUMNS}
    try:
        return RunEvent.model_validate(known)
    except ValidationError:
        return RunEvent.model_validate({**known, "data": {}, "state": EventState()})


def query_of(wanted: EventFilter) -> LiteralString:
    """Give the query with the conditions that are asked for, so that each has its own plan."""
    asked = [sql(block) for name, block in _CONDITIONS.items() if getattr(wanted, name)]
    return sql("feed.after").replace("/* asked for */", " ".join(asked))


def _placed(row: DictRow) -> PlacedEvent:
    return PlacedEvent(place=str(_place(row)), event=event_of(row))


def _place(row: DictRow) -> FeedPlace:
    return FeedPlace(row["txid"], row["id"])

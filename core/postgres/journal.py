"""What happens in a run, written down for people watching now and for whoever asks later."""

from __future__ import annotations

from psycopg.types.json import Jsonb

from core.models import NO_USAGE, RunEvent, Usage
from core.observers import nobody
from core.ports import Observer
from core.postgres.queries import Connection, Pool, connection, sql


class PostgresJournal:
    """The `Journal` port; `observe` is told of each event once it is committed."""

    def __init__(self, pool: Pool, observe: Observer = nobody) -> None:
        self._pool = pool
        self._observe = observe

    async def emit(self, event: RunEvent, spent: Usage = NO_USAGE) -> None:
        """Write one event and notify; what was `spent` is added to its candidate's usage."""
        async with connection(self._pool) as conn:
            await write_event(conn, event, spent, alone=True)
        self._observe(event, spent)


async def write_event(
    conn: Connection, event: RunEvent, spent: Usage = NO_USAGE, *, alone: bool = False
) -> None:
    """Write an event in the caller's transaction, which notifies when it commits.

    The caller tells the observer after that. `alone` says that the transaction holds nothing else.
    """
    row = event.model_dump(exclude={"id", "at", "data"})
    params = {**row, **spent.model_dump(), "data": Jsonb(event.data), "alone": alone}
    await conn.execute(sql("journal.emit"), params)

"""What happens in a run, written down for people watching now and for whoever asks later."""

from __future__ import annotations

import structlog
from psycopg.types.json import Jsonb

from core.models import NO_USAGE, RunEvent, Usage
from core.postgres.queries import Connection, Pool, connection, sql

log = structlog.get_logger(__name__)

_TAKEN = {"event", "level", "logger", "timestamp", "exc_info", "stack_info"}  # by the logger


class PostgresJournal:
    """The `Journal` port."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def emit(self, event: RunEvent, spent: Usage = NO_USAGE) -> None:
        """Write one event and notify; what was `spent` is added to its candidate's usage."""
        async with connection(self._pool) as conn:
            await write_event(conn, event, spent)


async def write_event(conn: Connection, event: RunEvent, spent: Usage = NO_USAGE) -> None:
    """Write an event in the caller's transaction, which notifies when it commits, and log it."""
    row = event.model_dump(exclude={"id", "at", "data"})
    params = {**row, **spent.model_dump(), "data": Jsonb(event.data)}
    await conn.execute(sql("journal.emit"), params)
    ids = {key: value for key, value in row.items() if value is not None and key != "name"}
    data = {f"{key}_" if key in _TAKEN else key: value for key, value in event.data.items()}
    log.info(event.name, **{**data, **ids})

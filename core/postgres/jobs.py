"""The job engine's app on our pool: one job for each piece of unfinished feedback."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

import psycopg

from core.errors import DatabaseDown
from core.postgres.errors import DOWN_HINT, translate
from core.postgres.queries import Connection, Pool, fetch_one

if TYPE_CHECKING:
    from procrastinate import App
    from procrastinate.jobs import JobDeferrer
    from procrastinate.types import JSONDict

QUEUE = "feedback"
TASK = "process_feedback"


class Jobs:
    """Defers jobs. Attempts and retries are counted in our own rows, not by the engine."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    @cached_property
    def app(self) -> App:
        """The engine's app, closed still: deferring on a given connection needs no more."""
        from procrastinate import App, PsycopgConnector

        return App(connector=PsycopgConnector())

    async def defer(
        self, conn: Connection, feedback_id: str, *, delay: float = 0, priority: int = 0
    ) -> int:
        """Defer a job in the caller's transaction, due in `delay` seconds; give its id."""
        with engine_errors():
            return await self._deferrer(conn, delay, priority).defer_async(feedback_id=feedback_id)

    async def defer_many(self, conn: Connection, feedback_ids: Sequence[str]) -> list[int]:
        """Defer a job each, in this order, in the caller's transaction; give their ids."""
        if not feedback_ids:
            return []
        kwargs: list[JSONDict] = [{"feedback_id": feedback_id} for feedback_id in feedback_ids]
        with engine_errors():
            return await self._deferrer(conn, 0, 0).batch_defer_async(*kwargs)

    async def unfinished(self) -> int:
        """Count the feedback that waits or is being processed."""
        row = await fetch_one(self.pool, "jobs.unfinished")
        return int(row["unfinished"]) if row else 0

    def _deferrer(self, conn: Connection, delay: float, priority: int) -> JobDeferrer:
        schedule = {"seconds": delay} if delay > 0 else None
        return self.app.configure_task(
            TASK, queue=QUEUE, connection=conn, schedule_in=schedule, priority=priority
        )


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turn what the job engine raises inside into the program's errors."""
    from procrastinate.exceptions import ConnectorException

    try:
        yield
    except ConnectorException as error:
        if isinstance(error.__cause__, psycopg.Error):
            raise translate(error.__cause__) from error
        raise DatabaseDown(f"The job engine lost PostgreSQL: {error}", hint=DOWN_HINT) from error

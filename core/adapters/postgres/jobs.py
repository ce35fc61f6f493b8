"""Procrastinate's app on our pool: one job for each piece of unfinished feedback."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import psycopg

from core.adapters.postgres.queries import DOWN_HINT, Connection, Pool, fetch_one, sql, translate
from core.domain.errors import DatabaseDown
from core.domain.messages import Message

if TYPE_CHECKING:
    from procrastinate import App
    from procrastinate.jobs import Job

    from core.adapters.postgres.job_engine import Engine

QUEUE = "pieces"  # not that of the previous release, whose workers leave these jobs alone
TASK = "process_feedback"


class Waiting(NamedTuple):
    """Feedback that needs a job, and its turn: the lowest is served next."""

    feedback_id: str
    turn: int


class Jobs:
    """Defers jobs. Attempts and retries are counted in our own rows, not by Procrastinate."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    @cached_property
    def engine(self) -> Engine:
        """The job manager, which can be paused."""
        from core.adapters.postgres.job_engine import Engine

        return Engine()

    @cached_property
    def app(self) -> App:
        """The app, not yet opened: deferring on a given connection does not need that."""
        return self.engine.app()

    async def defer(
        self, conn: Connection, waiting: Sequence[Waiting], *, due: datetime | None = None
    ) -> None:
        """Create a job for each in the caller's transaction, due at `due` or at once."""
        if not waiting:
            return
        jobs = [_job(piece, due) for piece in waiting]
        with engine_errors():
            deferred = await self.app.job_manager.batch_defer_jobs_async(jobs, connection=conn)
        params = {
            "feedback_ids": [piece.feedback_id for piece in waiting],
            "job_ids": [job.id for job in deferred],
        }
        await conn.execute(sql("jobs.set_jobs"), params)

    async def turn(self, conn: Connection) -> int:
        """Return the turn that is being served: new feedback comes after it. 0 if none waits."""
        row = await (await conn.execute(sql("jobs.turn"), {"queue": QUEUE})).fetchone()
        return int(row["turn"]) if row else 0

    async def unfinished(self, besides: Collection[str] = ()) -> int:
        """Count unfinished feedback, except what waits of the tenants in `besides`."""
        row = await fetch_one(self.pool, "jobs.unfinished", besides=list(besides))
        return int(row["unfinished"]) if row else 0


def _job(piece: Waiting, due: datetime | None) -> Job:
    from procrastinate.jobs import Job

    return Job(
        queue=QUEUE,
        task_name=TASK,
        task_kwargs={"feedback_id": piece.feedback_id},
        priority=-piece.turn,  # Procrastinate takes the highest first
        scheduled_at=due,
        lock=None,
        queueing_lock=None,
    )


@contextmanager
def engine_errors() -> Iterator[None]:
    """Translate what Procrastinate raises inside the block into the program's errors."""
    from procrastinate.exceptions import ConnectorException

    try:
        yield
    except ConnectorException as error:
        if isinstance(error.__cause__, psycopg.Error):
            raise translate(error.__cause__) from error
        raise DatabaseDown(Message("jobs.lost", why=error), hint=DOWN_HINT) from error

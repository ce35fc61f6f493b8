"""The job engine, corrected: it can be held back, stays registered, leaves the dead to us."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import psycopg
import structlog
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager

from core.adapters.postgres.queries import sql
from core.adapters.postgres.worker_card import WorkerCard

log = structlog.get_logger(__name__)


class Engine(JobManager):
    """What the engine's worker asks of the database.

    While `held` it is told that no job waits: it goes on with those it has, and looks again at
    each notification and each `poll` seconds. Once `closed` that is for good; `fetching` counts
    the looks that are under way: who is cut off in one leaves its job behind.
    """

    def __init__(self) -> None:
        super().__init__(PsycopgConnector())
        self.paused = False
        self.closed = False
        self.fetching = 0
        self.worker_id: int | None = None
        self.card = WorkerCard()
        self._told_of: int | None = None  # the worker's id whose card is written

    def app(self) -> App:
        """Make the engine's app on this."""
        made = App(connector=self.connector)
        made.job_manager = self
        return made

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Take the next job; None where none is due, or work is held back."""
        if self._told_of != worker_id:
            await self.update_heartbeat(worker_id)
            self._told_of = worker_id
        if self.paused or self.closed:
            return None
        self.fetching += 1
        try:
            return await self._fetch(queues, worker_id)
        finally:
            self.fetching -= 1

    async def _fetch(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        try:
            return await super().fetch_job(queues, worker_id)
        except ConnectorException as error:
            if not isinstance(error.__cause__, psycopg.errors.ForeignKeyViolation):
                raise
            await self.update_heartbeat(worker_id)
            return await super().fetch_job(queues, worker_id)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """Write down that a job has ended, unless it was taken over: then it is not there."""
        try:
            await super().finish_job(job, status, delete_job)
        except ConnectorException as error:
            if not isinstance(error.__cause__, psycopg.errors.RaiseException):
                raise
            log.info("job.gone", job_id=job.id)

    async def register_worker(self) -> int:
        """Register the engine's worker; give its id."""
        self.worker_id = await super().register_worker()
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # The pool lost it: up to Python 3.11 that happens to a cancellation which comes
            # together with a connection. The engine would go on as if nobody had stopped it.
            worker_id, self.worker_id = self.worker_id, None
            await self.unregister_worker(worker_id)
            raise asyncio.CancelledError
        return self.worker_id

    async def update_heartbeat(self, worker_id: int) -> None:
        """Give a sign of life; a worker that others took for dead and removed is there again."""
        await self.connector.execute_query_async(
            sql("workers.beat"), worker_id=worker_id, **self.card._asdict()
        )

    async def prune_stalled_workers(self, seconds_since_heartbeat: float) -> list[int]:  # noqa: ARG002
        """Remove nobody: the sweep does, once it has taken up the jobs of the dead.

        The jobs of a removed worker look like those of no worker.
        """
        return []

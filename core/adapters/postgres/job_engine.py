"""Procrastinate's job manager with the corrections that its own worker needs here."""

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
    """What Procrastinate's worker asks of the database.

    While `paused` it reports that no job waits: running jobs go on, and it asks again at each
    notification and every `poll` seconds. Once `closed`, that is permanent. `fetching` counts
    fetches in progress: a fetch that is cancelled midway leaves its job marked as taken.
    """

    def __init__(self) -> None:
        super().__init__(PsycopgConnector())
        self.paused = False
        self.closed = False
        self.fetching = 0
        self.worker_id: int | None = None
        self.card = WorkerCard()
        self._card_of: int | None = None  # the id of the worker whose card has been written

    def app(self) -> App:
        """Build a Procrastinate app on this manager."""
        made = App(connector=self.connector)
        made.job_manager = self
        return made

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> Job | None:
        """Fetch the next job; None if none is due, or work is paused."""
        if self._card_of != worker_id:
            await self.update_heartbeat(worker_id)
            self._card_of = worker_id
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
            # Another worker removed ours as dead, and a job refers to its worker: register again.
            await self.update_heartbeat(worker_id)
            return await super().fetch_job(queues, worker_id)

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        """Record that a job has ended, unless it was taken over: then its row is gone."""
        try:
            await super().finish_job(job, status, delete_job)
        except ConnectorException as error:
            # Procrastinate's own function raises this when the job's row is gone.
            if not isinstance(error.__cause__, psycopg.errors.RaiseException):
                raise
            log.info("job.gone", job_id=job.id)

    async def register_worker(self) -> int:
        """Register Procrastinate's worker; return its id."""
        self.worker_id = await super().register_worker()
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            # The pool swallowed a cancellation: up to Python 3.11 that happens when it arrives
            # together with a connection. Procrastinate would run on as if nobody had stopped it.
            worker_id, self.worker_id = self.worker_id, None
            await self.unregister_worker(worker_id)
            raise asyncio.CancelledError
        return self.worker_id

    async def update_heartbeat(self, worker_id: int) -> None:
        """Record a sign of life; a worker that others removed as dead is inserted again."""
        await self.connector.execute_query_async(
            sql("workers.beat"), worker_id=worker_id, **self.card._asdict()
        )

    async def prune_stalled_workers(self, seconds_since_heartbeat: float) -> list[int]:  # noqa: ARG002
        """Remove none: our sweep does, after it has taken over the jobs of the dead.

        Procrastinate deletes the worker's row first, and its jobs then look like those of no
        worker.
        """
        return []

"""Take up what dead workers left: their stalled jobs, and feedback that has no job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from core.errors import SkillWorkerError
from core.postgres.jobs import QUEUE, Jobs, engine_errors
from core.postgres.queries import Connection, sql, transaction

if TYPE_CHECKING:
    from procrastinate.jobs import Job

log = structlog.get_logger(__name__)

BATCH = 1_000


async def sweep(jobs: Jobs, *, stalled_after: float) -> int:
    """Give unfinished feedback whose job is gone or stalled a new job; give their number.

    A job is stalled when its worker was silent for `stalled_after` seconds. A new job has a new
    id, so a worker that was only paused can neither finish nor repeat its successor's. One
    sweep runs at a time, over all processes; another returns 0 at once. `jobs.app` is open.
    """
    async with transaction(jobs.pool) as conn:
        held = await (await conn.execute(sql("jobs.try_sweep"))).fetchone()
        if not held or not held["held"]:
            return 0
        await _end_stalled(jobs, stalled_after)
        return await _reconcile(jobs, conn)


async def _end_stalled(jobs: Jobs, stalled_after: float) -> None:
    with engine_errors():
        stalled = await jobs.app.job_manager.get_stalled_jobs(
            queue=QUEUE, seconds_since_heartbeat=stalled_after
        )
    for job in stalled:
        await _end(jobs, job)


async def _end(jobs: Jobs, job: Job) -> None:
    from procrastinate.jobs import Status

    log.warning("job.stalled", job_id=job.id, feedback_id=job.task_kwargs.get("feedback_id"))
    try:
        with engine_errors():
            await jobs.app.job_manager.finish_job(job, Status.FAILED, delete_job=True)
    except SkillWorkerError as error:
        log.info("job.kept", job_id=job.id, error=error.message)


async def _reconcile(jobs: Jobs, conn: Connection) -> int:
    rows = await (await conn.execute(sql("jobs.without_job"), {"limit": BATCH})).fetchall()
    feedback_ids = [row["id"] for row in rows]
    if feedback_ids:
        log.warning("feedback.recovered", count=len(feedback_ids), first=feedback_ids[0])
        job_ids = await jobs.defer_many(conn, feedback_ids)
        params = {"feedback_ids": feedback_ids, "job_ids": job_ids}
        await conn.execute(sql("jobs.set_jobs"), params)
    return len(feedback_ids)

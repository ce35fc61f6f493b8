"""Take up what was left: jobs of dead workers, jobs never ended, feedback that has no job."""

from __future__ import annotations

from collections.abc import Collection

import structlog

from core.errors import SkillWorkerError
from core.postgres.jobs import QUEUE, Jobs, engine_errors
from core.postgres.queries import Connection, fetch_all, sql, transaction

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


async def end_left(jobs: Jobs, job_ids: Collection[int]) -> None:
    """End jobs that ran to their end but are `doing` still: the engine could not write it down.

    Their worker lives, so no job of its is ever stalled. `jobs.app` is open.
    """
    if not job_ids:
        return
    for row in await fetch_all(jobs.pool, "jobs.still_doing", job_ids=list(job_ids)):
        log.warning("job.left", job_id=row["id"])
        await _end(jobs, row["id"])


async def _end_stalled(jobs: Jobs, stalled_after: float) -> None:
    with engine_errors():
        stalled = await jobs.app.job_manager.get_stalled_jobs(
            queue=QUEUE, seconds_since_heartbeat=stalled_after
        )
    for job in stalled:
        log.warning("job.stalled", job_id=job.id, feedback_id=job.task_kwargs.get("feedback_id"))
        await _end(jobs, job.id)


async def _end(jobs: Jobs, job_id: int | None) -> None:
    from procrastinate.jobs import Status

    assert job_id is not None
    try:
        with engine_errors():
            await jobs.app.job_manager.finish_job_by_id_async(
                job_id, Status.FAILED, delete_job=True
            )
    except SkillWorkerError as error:
        log.info("job.kept", job_id=job_id, error=error.message)


async def _reconcile(jobs: Jobs, conn: Connection) -> int:
    rows = await (await conn.execute(sql("jobs.without_job"), {"limit": BATCH})).fetchall()
    feedback_ids = [row["id"] for row in rows]
    if feedback_ids:
        log.warning("feedback.recovered", count=len(feedback_ids), first=feedback_ids[0])
        job_ids = await jobs.defer_many(conn, feedback_ids)
        params = {"feedback_ids": feedback_ids, "job_ids": job_ids}
        await conn.execute(sql("jobs.set_jobs"), params)
    return len(feedback_ids)

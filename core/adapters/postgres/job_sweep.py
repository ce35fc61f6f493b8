"""Recover lost work: jobs of dead workers, jobs never ended, feedback without a job."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import psycopg
import structlog
from psycopg import errors as pg
from psycopg.rows import DictRow

from core.adapters.postgres.jobs import QUEUE, Jobs, Waiting, engine_errors
from core.adapters.postgres.queries import Connection, connecting, fetch_all, sql, transaction
from core.domain.errors import SkillWorkerError


def forget_workers(conninfo: str) -> None:
    """Delete all workers of a database that no process uses; the next sweep takes their jobs.

    Raises DatabaseDown.
    """
    with connecting(), psycopg.connect(conninfo, autocommit=True) as conn:
        try:
            conn.execute(sql("workers.forget"))
        except pg.UndefinedTable:
            return  # no worker has ever run here


log = structlog.get_logger(__name__)

BATCH = 1_000


async def take_over(jobs: Jobs, *, stalled_after: float) -> int:
    """Requeue the jobs of workers that are gone or silent for too long; return their number.

    Too long is `stalled_after` seconds. A new job has a new id, so a worker that was only paused
    can neither finish nor repeat its successor's. Of all processes, one sweeps at a time; the
    others return 0 at once.
    """
    async with transaction(jobs.pool) as conn:
        if not await try_lock(conn, "take-over"):
            return 0
        silent = {"stalled_after": stalled_after}
        ended = await _rows(conn, "jobs.end_stalled", {"queue": QUEUE, **silent})
        await conn.execute(sql("workers.forget_dead"), silent)
        if not ended:
            return 0
        for row in ended:
            log.warning("job.stalled", job_id=row["id"], feedback_id=row["feedback_id"])
        had = {
            "feedback_ids": [row["feedback_id"] for row in ended],
            "job_ids": [row["id"] for row in ended],
        }
        return await _defer(jobs, conn, await _rows(conn, "jobs.requeue", had))


async def reconcile(jobs: Jobs, *, every: float = 0.0) -> int:
    """Create a job for all unfinished feedback that has no live one; return their number.

    One process searches at a time, and all of them together once every `every` seconds; the others
    return 0 at once.
    """
    given = found = await _reconcile_batch(jobs, every)
    while found == BATCH:
        found = await _reconcile_batch(jobs, 0.0)
        given += found
    return given


async def _reconcile_batch(jobs: Jobs, every: float) -> int:
    async with transaction(jobs.pool) as conn:
        if not (await try_lock(conn, "reconcile") and await is_due(conn, "reconcile", every)):
            return 0
        lost = await _rows(conn, "jobs.lock_without_job", {"limit": BATCH})
        if not lost:
            return 0
        lost_ids = [row["id"] for row in lost]
        rows = await _rows(conn, "jobs.requeue_without_job", {"feedback_ids": lost_ids})
        return await _defer(jobs, conn, rows)


async def end_left(jobs: Jobs, job_ids: Collection[int]) -> set[int]:
    """End jobs whose body has returned but which are still `doing`: the result was not recorded.

    Their worker is alive, so they never count as stalled. Returns those that could not be ended
    this time either. `jobs.app` is open.
    """
    if not job_ids:
        return set()
    doing = await fetch_all(jobs.pool, "jobs.still_doing", job_ids=list(job_ids))
    return {row["id"] for row in doing if not await _ended(jobs, row["id"])}


async def try_lock(conn: Connection, name: str) -> bool:
    """Whether no other process runs the sweep `name`; locked until the transaction ends."""
    row = await (await conn.execute(sql("jobs.try_sweep"), {"sweep": name})).fetchone()
    return bool(row and row["acquired"])


async def is_due(conn: Connection, name: str, every: float) -> bool:
    """Whether the sweep `name` is due, recording that it is done; the caller has the lock."""
    params = {"sweep": name, "every": every}
    return await (await conn.execute(sql("jobs.note_sweep"), params)).fetchone() is not None


async def _rows(conn: Connection, block: str, params: Mapping[str, object]) -> list[DictRow]:
    return await (await conn.execute(sql(block), params)).fetchall()


async def _defer(jobs: Jobs, conn: Connection, rows: list[DictRow]) -> int:
    if rows:
        log.warning("feedback.recovered", count=len(rows), first=rows[0]["id"])
        await jobs.defer(conn, [Waiting(row["id"], row["turn"]) for row in rows])
    return len(rows)


async def _ended(jobs: Jobs, job_id: int) -> bool:
    from procrastinate.jobs import Status

    log.warning("job.left", job_id=job_id)
    try:
        with engine_errors():
            await jobs.app.job_manager.finish_job_by_id_async(
                job_id, Status.FAILED, delete_job=True
            )
    except SkillWorkerError as error:
        log.info("job.kept", job_id=job_id, error=error.message)
        return False
    return True

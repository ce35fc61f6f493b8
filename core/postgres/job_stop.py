"""How the job engine's worker ends: with grace, or at once where there is no use in waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import structlog

from core.postgres.pool import answers
from core.postgres.queries import Pool

log = structlog.get_logger(__name__)

# What cancelled jobs get to give their feedback back.
HURRY_SECONDS = 2.0
# A database that is silent for so long while we stop will not take anything down either.
SILENCE_SECONDS = 1.5
# What the engine gets to end after its jobs have.
OVERDUE_SECONDS = 5.0
_LOOK_EVERY = 1.0
_INSIST_EVERY = 0.05
_INSIST_TIMES = 40

Tasks = Collection[asyncio.Task[object]]


async def let_end(
    worker: asyncio.Task[None], jobs: Tasks, pool: Pool, *, grace: float, at_once: bool = False
) -> None:
    """Wait for a cancelled worker, which gives its jobs `grace` seconds.

    `at_once`, or where this is cancelled, the jobs are cancelled too, and get `HURRY_SECONDS`;
    where the database has gone they get no time, since they could write nothing.
    """
    if at_once:
        await _hurry(worker, jobs)
        return
    silence = asyncio.ensure_future(_silence(pool))
    overdue = asyncio.ensure_future(_overdue(jobs, grace))
    try:
        await asyncio.wait({worker, silence, overdue}, return_when=asyncio.FIRST_COMPLETED)
        if not worker.done():
            why = "the database does not answer" if silence.done() else "the job engine hangs"
            log.warning("job.abandoned", error=why)
            await _insist(worker, jobs)
    except asyncio.CancelledError:
        await _hurry(worker, jobs)
        raise
    finally:
        silence.cancel()
        overdue.cancel()


async def _silence(pool: Pool) -> None:
    """Wait until the database does not answer."""
    while await answers(pool, SILENCE_SECONDS):  # noqa: ASYNC110 - nobody tells us
        await asyncio.sleep(_LOOK_EVERY)


async def _overdue(jobs: Tasks, grace: float) -> None:
    """Wait until the engine should have ended: a cancellation can get lost on its way (3.11)."""
    if jobs:
        await asyncio.wait(tuple(jobs), timeout=grace)
    await asyncio.sleep(OVERDUE_SECONDS)


async def _hurry(worker: asyncio.Task[None], jobs: Tasks) -> None:
    for job in tuple(jobs):
        job.cancel()
    await asyncio.wait({worker}, timeout=HURRY_SECONDS)
    await _insist(worker, jobs)


async def _insist(worker: asyncio.Task[None], jobs: Tasks) -> None:
    """Cancel until it ends: the engine and its jobs each try to write something down first."""
    for _ in range(_INSIST_TIMES):
        if worker.done():
            return
        for task in (*jobs, worker):
            task.cancel()
        await asyncio.wait({worker}, timeout=_INSIST_EVERY)

"""Runs jobs until told to stop, and survives whatever PostgreSQL does meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from core.adapters.postgres.job_sweep import end_left, reconcile, take_over
from core.adapters.postgres.jobs import QUEUE, TASK, Jobs, engine_errors
from core.adapters.postgres.pool import answers
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.worker_card import worker_card
from core.domain.errors import ConfigurationError, SkillWorkerError
from core.domain.messages import Message
from core.domain.models import Pause, PauseKind
from core.domain.tasks import end_tasks, over_all_tenants, repeat

if TYPE_CHECKING:
    from procrastinate import JobContext

log = structlog.get_logger(__name__)

# Time for cancelled jobs to hand back their feedback.
HURRY_SECONDS = 2.0
# If the database is silent for this long while we stop, nothing can be recorded anyway.
SILENCE_SECONDS = 1.5
# Time for Procrastinate to end once its jobs have.
OVERDUE_SECONDS = 5.0
_CHECK_EVERY = 1.0
_INSIST_EVERY = 0.05
_INSIST_TIMES = 40
# Between two looks whether anything is left, from when nothing runs here.
_FIRST_LOOK, _LATER_LOOKS = 0.02, 0.2

Tasks = Collection[asyncio.Task[object]]


async def let_end(
    worker: asyncio.Task[None], jobs: Tasks, pool: Pool, *, grace: float, at_once: bool = False
) -> None:
    """Wait for a cancelled worker, which gives its jobs `grace` seconds.

    If `at_once`, or if this is cancelled, the jobs are cancelled too and get `HURRY_SECONDS`; if
    the database is gone they get no time, since they could record nothing.
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
    """Wait until the database stops answering."""
    while await answers(pool, SILENCE_SECONDS):  # noqa: ASYNC110 - there is no event to wait for
        await asyncio.sleep(_CHECK_EVERY)


async def _overdue(jobs: Tasks, grace: float) -> None:
    """Wait until Procrastinate should have ended: in Python 3.11 a cancellation can get lost."""
    if jobs:
        await asyncio.wait(tuple(jobs), timeout=grace)
    await asyncio.sleep(OVERDUE_SECONDS)


async def _hurry(worker: asyncio.Task[None], jobs: Tasks) -> None:
    for job in tuple(jobs):
        job.cancel()
    await asyncio.wait({worker}, timeout=HURRY_SECONDS)
    await _insist(worker, jobs)


async def _insist(worker: asyncio.Task[None], jobs: Tasks) -> None:
    """Cancel until it ends: Procrastinate and the jobs each swallow one to record their end."""
    for _ in range(_INSIST_TIMES):
        if worker.done():
            return
        for task in (*jobs, worker):
            task.cancel()
        await asyncio.wait({worker}, timeout=_INSIST_EVERY)


AskPause = Callable[[], Awaitable[Pause | None]]


async def never() -> Pause | None:
    """Return no pause."""
    return None


class Heartbeat:
    """Heartbeats until the last job ends: Procrastinate's own stop before it waits for them."""

    def __init__(self, jobs: Jobs, every: float) -> None:
        self._jobs = jobs
        self._every = every
        self._last = time.monotonic()

    async def beat(self) -> None:
        """Record a sign of life, if Procrastinate's worker is registered."""
        engine = self._jobs.engine
        if engine.worker_id is not None:
            with engine_errors():
                await engine.update_heartbeat(engine.worker_id)
            self._last = time.monotonic()

    async def beat_if_late(self) -> None:
        """Record one if the last is too old, as after the process was suspended."""
        if time.monotonic() - self._last > 2 * self._every:
            await self.beat()


class PauseWatch:
    """Pauses the engine while `ask` reports a pause."""

    def __init__(self, jobs: Jobs, ask: AskPause) -> None:
        self.now: Pause | None = None
        self._jobs = jobs
        self._ask = ask

    async def check(self) -> None:
        """Check for a pause; if that fails, the present state stays."""
        try:
            found = await self._ask()
        except SkillWorkerError as error:
            log.debug("hold.unknown", error=error.message)
            return
        self._jobs.engine.paused = found is not None
        before, self.now = self.now, found
        if found is None and before is not None:
            log.warning("work.resumed", kind=before.kind)
        elif found is not None and (before is None or before.kind is not found.kind):
            is_typed = found.kind is PauseKind.PAUSED  # by a person: their words are in no log
            reason = {} if is_typed else {"reason": found.reason}
            log.warning("work.held", kind=found.kind, fatal=found.fatal, **reason)


Body = Callable[[str], Awaitable[None]]
AskTenants = Callable[[], Awaitable[Collection[str]]]

PAUSE_SECONDS = 1.0
_DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """How a worker works; all times in seconds.

    `heartbeat` is the interval of heartbeats, `stalled_after` the silence after which a worker
    counts as dead, `sweep_every` the interval of sweeps for dead workers, `reconcile_every` that of
    searches for feedback without a job, `grace` what running jobs get to end, `poll` the interval
    of fetches. `name` is shown to people; by default host and process.
    """

    name: str | None = None
    concurrency: int = 8
    heartbeat: float = 5
    stalled_after: float = 30
    sweep_every: float = 2
    reconcile_every: float = 30
    grace: float = 30
    poll: float = 1
    longest_backoff: float = 10


class JobWorker:
    """Runs the body for each job. It ends only when stopped (or, `once`, with the queue empty).

    `resting` returns the tenants whose feedback may wait for a long time: with `once`, it is not
    waited for.
    """

    def __init__(
        self, jobs: Jobs, body: Body, options: WorkerOptions, *, resting: AskTenants | None = None
    ) -> None:
        self._resting = resting or _nobody
        self._jobs = jobs
        self._body = body
        self._options = options
        self._running = 0
        self._tasks: set[asyncio.Task[object]] = set()  # Procrastinate's, one per running job
        self._over: set[int] = set()  # jobs whose body has ended since the last reconciliation
        self._overdue: set[int] = set()  # those that had ended before it
        self._idle = asyncio.Event()
        self._heartbeat = Heartbeat(jobs, options.heartbeat)

    async def run(
        self, stop: asyncio.Event, *, once: bool = False, ask_pause: AskPause = never
    ) -> None:
        """Work until `stop` is set, or with `once` until no feedback is unfinished.

        Running jobs then get their grace period and are cancelled. Cancelling this coroutine does
        the same; a second cancellation, or the loss of the database, ends it at once. No job
        starts while `ask_pause` reports a pause. With `once`, raises ConfigurationError where that
        pause is fatal.
        """
        if stop.is_set():
            return
        self._register()
        self._jobs.engine.card = worker_card(self._options.name, self._options.concurrency)
        self._jobs.engine.closed = False
        await self._jobs.app.open_async(self._jobs.pool)
        watch = PauseWatch(self._jobs, ask_pause)
        await watch.check()
        ended = asyncio.Event()
        with over_all_tenants():
            drained = asyncio.create_task(self._drained(watch)) if once else None
        waits: list[Awaitable[object]] = [stop.wait(), *([drained] if drained else [])]
        sides = [asyncio.create_task(side) for side in self._sides(watch)]
        sides.append(asyncio.create_task(_set_when_first(ended, *waits), name="end"))
        try:
            await self._supervise(ended, stop)
        finally:
            await end_tasks(sides)
        if drained and not drained.cancelled() and (hopeless := drained.result()):
            raise ConfigurationError(hopeless.reason, hint=Message("worker.still_queued"))

    def _sides(self, watch: PauseWatch) -> list[Coroutine[object, object, None]]:
        options = self._options
        return [
            repeat(PAUSE_SECONDS, "pause", watch.check),
            repeat(options.heartbeat, "heartbeat", self._heartbeat.beat),
            repeat(options.sweep_every, "sweep", self._take_over),
            repeat(options.reconcile_every, "reconcile", self._reconcile),
        ]

    def _register(self) -> None:
        if TASK not in self._jobs.app.tasks:
            self._jobs.app.task(name=TASK, queue=QUEUE, pass_context=True)(self._perform)

    async def _perform(self, context: JobContext, feedback_id: str) -> None:
        self._running += 1
        self._remember_task()
        try:
            await self._body(feedback_id)
        finally:
            self._running -= 1
            if context.job.id is not None:
                self._over.add(context.job.id)
            if not self._running:
                self._idle.set()

    def _remember_task(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _supervise(self, ended: asyncio.Event, stop: asyncio.Event) -> None:
        """Restart Procrastinate's worker when it ends by itself, as it does if PostgreSQL goes."""
        backoff = 0.1
        while not ended.is_set():
            started = asyncio.get_running_loop().time()
            await self._work(ended, stop)
            if asyncio.get_running_loop().time() - started > self._options.longest_backoff:
                backoff = 0.1
            await _first(ended.wait(), asyncio.sleep(backoff))
            backoff = min(2 * backoff, self._options.longest_backoff)

    async def _work(self, ended: asyncio.Event, stop: asyncio.Event) -> None:
        with over_all_tenants():  # whose a job is is known once its piece is claimed
            worker = asyncio.create_task(self._engine_at_work(), name="job worker")
        ending = asyncio.create_task(ended.wait(), name="end of work")
        at_once = False
        try:
            await asyncio.wait({worker, ending}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            at_once = stop.is_set()  # stopped, then cancelled: the second request to end
            raise
        finally:
            ending.cancel()
            worker.cancel()
            await let_end(
                worker,
                self._tasks,
                self._jobs.pool,
                grace=self._options.grace,
                at_once=at_once,
            )
        self._tell_why(worker, ended)

    async def _engine_at_work(self) -> None:
        options = self._options
        await self._jobs.app.run_worker_async(
            queues=[QUEUE],
            concurrency=options.concurrency,
            install_signal_handlers=False,
            delete_jobs="always",
            listen_notify=True,
            fetch_job_polling_interval=options.poll,
            shutdown_graceful_timeout=options.grace,
            update_heartbeat_interval=_DAY,  # never: ours continues while the last jobs end
            stalled_worker_timeout=options.stalled_after,
        )

    def _tell_why(self, worker: asyncio.Task[None], ended: asyncio.Event) -> None:
        """Log why Procrastinate's worker ended unasked."""
        if not worker.done() or worker.cancelled():
            return
        if ended.is_set():
            worker.exception()  # retrieved, so that asyncio does not warn that it never was
            return
        try:
            with engine_errors():
                worker.result()
        except SkillWorkerError as error:
            log.warning("worker.restarting", error=error.message)
        except Exception:  # a defect in Procrastinate must not end the worker
            log.exception("worker.restarting")
        else:
            log.warning("worker.restarting", error="the job engine stopped by itself")

    async def _take_over(self) -> None:
        # After a suspension, prove to be alive before judging who is dead.
        await self._heartbeat.beat_if_late()
        await take_over(self._jobs, stalled_after=self._options.stalled_after)

    async def _reconcile(self) -> None:
        remaining = await end_left(self._jobs, self._overdue)
        # Procrastinate gets until the next round to record that these have ended.
        self._overdue, self._over = self._over | remaining, set()
        await reconcile(self._jobs, every=self._options.reconcile_every)

    async def _drained(self, watch: PauseWatch) -> Pause | None:
        """Wait until no feedback is unfinished, in other workers either.

        If nothing runs and the pause is fatal, return that pause.
        """
        pause = _FIRST_LOOK
        while True:
            self._idle.clear()
            try:
                if not self._running and watch.now is not None and watch.now.fatal:
                    return watch.now if await self._jobs.unfinished() else None
                if not self._running and await self._is_done():
                    return None
            except SkillWorkerError as error:
                log.warning("drain.waiting", error=error.message)
            await _first(self._idle.wait(), asyncio.sleep(pause))
            pause = min(2 * pause, _LATER_LOOKS)
            if self._idle.is_set():
                # What the last job wrote is on its way when it ends, and the next job is most often
                # being fetched: look in a moment, and then less often.
                pause = _FIRST_LOOK
                await asyncio.sleep(pause)

    async def _is_done(self) -> bool:
        """Whether nothing is left to do; feedback of resting tenants is not started any more."""
        engine, resting = self._jobs.engine, await self._resting()
        if await self._jobs.unfinished(resting):
            engine.closed = False
            return False
        if not resting or (engine.closed and not engine.fetching and not self._running):
            return True
        engine.closed = True  # wait for a job that is just being fetched
        return False


async def _nobody() -> Collection[str]:
    return ()


async def _set_when_first(event: asyncio.Event, *waits: Awaitable[object]) -> None:
    await _first(*waits)
    event.set()


async def _first(*waits: Awaitable[object]) -> None:
    """Wait for the first of several awaitables and cancel the others."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end_tasks(tasks)

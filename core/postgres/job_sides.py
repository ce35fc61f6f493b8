"""What a worker does beside its jobs, for ever: signs of life, sweeps, looks whether to hold."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import structlog

from core.errors import SkillWorkerError
from core.models import Hold
from core.postgres.jobs import Jobs, engine_errors

log = structlog.get_logger(__name__)

AskHold = Callable[[], Awaitable[Hold | None]]


async def never() -> Hold | None:
    """Hold nothing back."""
    return None


class Heartbeat:
    """Signs of life: to the end of the last job, where the engine's own end before it waits."""

    def __init__(self, jobs: Jobs, every: float) -> None:
        self._jobs = jobs
        self._every = every
        self._last = time.monotonic()

    async def beat(self) -> None:
        """Give a sign of life, where the engine's worker is registered."""
        engine = self._jobs.engine
        if engine.worker_id is not None:
            with engine_errors():
                await engine.update_heartbeat(engine.worker_id)
            self._last = time.monotonic()

    async def beat_if_late(self) -> None:
        """Give a sign of life where the last is too old: as after the process was paused."""
        if time.monotonic() - self._last > 2 * self._every:
            await self.beat()


class Holding:
    """Holds the engine back while `ask` gives a reason to."""

    def __init__(self, jobs: Jobs, ask: AskHold) -> None:
        self.now: Hold | None = None
        self._jobs = jobs
        self._ask = ask

    async def look(self) -> None:
        """Look whether work is held back; where that cannot be seen, all stays as it is."""
        try:
            found = await self._ask()
        except SkillWorkerError as error:
            log.debug("hold.unknown", error=error.message)
            return
        self._jobs.engine.held = found is not None
        before, self.now = self.now, found
        if found is None and before is not None:
            log.warning("work.resumed", kind=before.kind)
        elif found is not None and (before is None or before.kind is not found.kind):
            log.warning("work.held", kind=found.kind, reason=found.reason, fatal=found.fatal)

"""The lock on a target: one change at a time prepares and applies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from core.domain.errors import TargetBusy
from core.domain.models import Change
from core.domain.ports import Sleep, TargetLocks

# A waiting change blocks a worker's slot, so the wait is short: a target locked for longer, by a
# model call or a dead run, is retried later as its own job.
WAIT_SECONDS = 10.0
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.3


@asynccontextmanager
async def locked(change: Change, target_locks: TargetLocks, sleep: Sleep) -> AsyncIterator[None]:
    """Lock the change's target for the block, unless the target is not known yet.

    The second change waits before it prepares, so that it builds on the first one's result and
    pays for no model call in vain. Raises TargetBusy, LeaseLost, Stale.
    """
    if not change.target_id:
        yield
        return
    await when_free(lambda: target_locks.acquire(change), sleep)
    try:
        yield
    finally:
        await target_locks.release(change.id)


async def when_free(attempt: Callable[[], Awaitable[None]], sleep: Sleep) -> bool:
    """Repeat `attempt` while it raises TargetBusy; return whether it had to wait.

    Raises TargetBusy after `WAIT_SECONDS`.
    """
    waited, pause = 0.0, FIRST_PAUSE
    while True:
        try:
            await attempt()
        except TargetBusy:
            if waited >= WAIT_SECONDS:
                raise
            await sleep(pause)
            waited, pause = waited + pause, min(LONGEST_PAUSE, pause * 2)
        else:
            return waited > 0

"""One change at a time on a target: waiting for it, holding it, letting it go."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from core.domain.errors import TargetBusy
from core.domain.models import Change
from core.domain.ports import Sleep, TargetLocks

# Who waits keeps a worker's slot from other work. What another holds for long, because it asks a
# model or has died, is come back to.
WAIT_SECONDS = 10.0
FIRST_PAUSE = 0.05
LONGEST_PAUSE = 0.3


@asynccontextmanager
async def held(change: Change, target_locks: TargetLocks, sleep: Sleep) -> AsyncIterator[None]:
    """Hold the change's target while the block runs, unless the target is not known yet.

    Whoever comes second waits before it prepares, so that it prepares on what the first has
    made, and no model call is paid for in vain. Raises TargetBusy, LeaseLost, Stale.
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
    """Repeat `attempt` while it raises TargetBusy; gives True where it had to wait.

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

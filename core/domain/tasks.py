"""Background tasks: repeated despite failures, and reliably cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import ParamSpec, TypeVar

import structlog

from core.domain.errors import SkillWorkerError

log = structlog.get_logger(__name__)

AGAIN_SECONDS = 0.5
LARGE_BYTES = 2**16
P = ParamSpec("P")
T = TypeVar("T")


async def aside(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `work` returns, run off the event loop if it is on many bytes.

    A skill may have 48 MiB: hashing and parsing it took seconds, in which nothing else of a worker
    ran, not even its heartbeat. For the usual few kilobytes a thread costs more than the work.
    """
    if size < LARGE_BYTES:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)


async def repeat(seconds: float, name: str, work: Callable[[], Awaitable[object]]) -> None:
    """Repeat `work` forever; a failure is logged and the next round tries again."""
    while True:
        try:
            await work()
        except SkillWorkerError as error:
            log.warning("side_task.failed", task=name, error=error.message, kind=error.kind)
        except Exception:  # a defect in a background task must not end the worker
            log.exception("side_task.broke", task=name)
        await asyncio.sleep(seconds)


async def end_tasks(tasks: Iterable[asyncio.Task[object]], again: float = AGAIN_SECONDS) -> None:
    """Cancel tasks every `again` seconds until all have ended; their results are dropped.

    Once is not enough: up to Python 3.11 `asyncio.wait_for`, with which psycopg's pool waits for a
    connection, swallows a cancellation that arrives together with the result. A task that loops
    forever would then never end.
    """
    ending = set(tasks)
    pending = ending
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=again)
    await asyncio.gather(*ending, return_exceptions=True)

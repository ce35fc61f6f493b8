"""Tasks: repeated despite failures, reliably cancelled, each for a tenant, for all or for none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

import structlog

from core.domain.errors import SkillWorkerError

log = structlog.get_logger(__name__)

AGAIN_SECONDS = 0.5
LARGE_BYTES = 2**16
P = ParamSpec("P")
T = TypeVar("T")


# No tenant has such a name: who has not said for whom it works is shown nothing.
NO_TENANT = "\x1f"
_TENANT: ContextVar[str | None] = ContextVar("_TENANT", default=NO_TENANT)


@contextmanager
def in_name_of(tenant_id: str) -> Iterator[None]:
    """Do the block, and the tasks it begins, in the name of a tenant.

    The database then shows nothing of any other tenant, and takes nothing for one.
    """
    with _acting(tenant_id):
        yield


@contextmanager
def over_all_tenants() -> Iterator[None]:
    """Do the block, and the tasks it begins, over all tenants.

    So work the queue, sweeps, figures, commands on the server, and a person without a tenant.
    """
    with _acting(None):
        yield


def as_far_as(tenant_id: str | None) -> AbstractContextManager[None]:
    """Return a block in the name of a tenant, or over all for whoever may see all: None."""
    return over_all_tenants() if tenant_id is None else in_name_of(tenant_id)


@contextmanager
def _acting(tenant_id: str | None) -> Iterator[None]:
    token = _TENANT.set(tenant_id)
    try:
        yield
    finally:
        _TENANT.reset(token)


def acting_tenant() -> str | None:
    """Return the tenant in whose name the current task works, None over all tenants.

    Where neither was said that is `NO_TENANT`.
    """
    return _TENANT.get()


async def aside(size: int, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what `work` returns, run off the event loop if it is on many bytes.

    A skill may have 48 MiB: hashing and parsing it took seconds, in which nothing else of a worker
    ran, not even its heartbeat. For the usual few kilobytes a thread costs more than the work.
    """
    if size < LARGE_BYTES:
        return work(*args, **kwargs)
    return await asyncio.to_thread(work, *args, **kwargs)


async def repeat(seconds: float, name: str, work: Callable[[], Awaitable[object]]) -> None:
    """Repeat `work` over all tenants forever; a failure is logged, and the next round tries."""
    while True:
        try:
            with over_all_tenants():
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

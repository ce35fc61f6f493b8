"""A worker's health: where it is read from, and the server that reports it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog

from core.adapters.postgres.figures import PostgresBacklog
from core.adapters.postgres.pool import probe_writes
from core.app.bootstrap.pods import mcp_servers
from core.app.bootstrap.stores import Stores, skill_token
from core.app.config_file import load_config
from core.app.run_summary import RunSummary
from core.app.settings import Settings
from core.domain.errors import CircuitOpen, ConfigurationError
from core.domain.models import PauseKind
from core.domain.ports import CircuitBreaker, FeedbackSource
from core.skill_api_client import open_skill_api

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from core.app.health.health import Health, Probe, Watched

log = structlog.get_logger(__name__)

USUAL_PORT = 8720
PROBE_SECONDS = 2.0


@dataclass(frozen=True)
class Served:
    """The health of a worker, and the address that serves it."""

    health: Health
    url: str


@asynccontextmanager
async def serve_health(
    settings: Settings, stop: asyncio.Event, around: Callable[[ASGIApp], ASGIApp] | None = None
) -> AsyncIterator[Served]:
    """Serve /healthz, /readyz and /metrics while the context lasts; `stop` ends readiness.

    `around` returns an app that serves more and includes these pages; it does its own access
    control. Raises ConfigurationError if the configured address is taken.
    """
    from core.adapters.embedded.http_guard import HttpGuard
    from core.app.health.app import create_app
    from core.app.health.health import Health

    health = Health(stopping=stop.is_set, clock=time.monotonic)
    pages = create_app(health)
    app = (
        around(pages)
        if around
        else HttpGuard(pages, host=settings.health_host, token=None, setting=None)
    )
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(health.pulse.beating())
        url = await _served(stack, app, settings, websockets=around is not None)
        log.info("server.started", url=url)
        yield Served(health, url)


async def _served(
    stack: AsyncExitStack, app: ASGIApp, settings: Settings, *, websockets: bool
) -> str:
    """Serve on the configured port; if there is none, on the usual one, or a free one."""
    from core.adapters.embedded.http_server import run_server

    async def on(port: int) -> str:
        server = run_server(app, settings.health_host, port, websockets=websockets)
        return await stack.enter_async_context(server)

    if settings.health_port is not None:
        return await on(settings.health_port)
    try:
        return await on(USUAL_PORT)
    except ConfigurationError:  # another worker has it
        return await on(0)


@asynccontextmanager
async def watched(
    stores: Stores,
    *,
    url: str,
    breaker: CircuitBreaker,
    sources: Mapping[str, FeedbackSource],
    summary: RunSummary,
) -> AsyncIterator[Watched]:
    """Yield what a worker's health is read from; `url` is the skill API's."""
    from core.app.health.health import Watched

    settings = stores.parts.settings

    async def pauses() -> Collection[PauseKind]:
        found = [await stores.intake.paused(), await breaker.current_pause()]
        return {pause.kind for pause in found if pause is not None}

    async def at_budget() -> int:
        return len(await stores.budgets.used_up())

    async with AsyncExitStack() as stack:
        probes: dict[str, Probe] = {
            "database": lambda: probe_writes(stores.pool, PROBE_SECONDS),
            "skill_api": await _skill_api(stack, stores, url),
            "model": lambda: _ask_breaker(breaker),
            **{name: source.ping for name, source in sources.items()},
        }
        if settings.builds_in_pods:
            probes["computer_use"] = await _pods(stack, settings, url)
        yield Watched(
            probes=probes,
            backlog=PostgresBacklog(stores.pool),
            pauses=pauses,
            running=lambda: summary.working,
            at_budget=at_budget,
        )


async def _ask_breaker(breaker: CircuitBreaker) -> None:
    """Raise if the circuit is open; the model is not called for this, since calls cost money."""
    pause = await breaker.current_pause()
    if pause is not None:
        raise CircuitOpen(pause.reason)


async def _skill_api(stack: AsyncExitStack, stores: Stores, url: str) -> Probe:
    """Return a probe with a client of its own, with a short timeout."""
    settings = stores.parts.settings
    if load_config(settings).stores.skills:

        async def list_none() -> None:
            async with asyncio.timeout(PROBE_SECONDS):
                await stores.skills.list("")

        return list_none
    opening = open_skill_api(url, skill_token(settings), PROBE_SECONDS)
    client = await stack.enter_async_context(opening)
    return client.ping


async def _pods(stack: AsyncExitStack, settings: Settings, skills_url: str) -> Probe:
    """Return a probe that keeps one session to the computer-use server open."""
    from core.mcp_client import COMPUTER_USE, open_mcp

    servers = mcp_servers(settings, skills_url)
    client = await stack.enter_async_context(open_mcp(servers, call_seconds=PROBE_SECONDS))

    async def ask() -> None:
        await client.tool_names(COMPUTER_USE)

    return ask

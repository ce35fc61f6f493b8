"""The embedded computer-use server: sandbox sessions over MCP (contracts, section 6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from core.adapters.embedded.computer_use_sessions import MAX_SESSIONS, Sessions
from core.adapters.embedded.sandbox import find_wall
from core.adapters.embedded.sandbox_wall import Limits, Wall

if TYPE_CHECKING:
    from starlette.applications import Starlette

TOKEN_SETTING = "COMPUTER_USE_MCP_TOKEN"  # noqa: S105 - the name of a setting

log = structlog.get_logger(__name__)


def create_computer_use_app(
    *, limits: Limits | None = None, wall: Wall | None = None, most_sessions: int = MAX_SESSIONS
) -> Starlette:
    """Build the app that serves MCP at `/mcp`; without a `wall` the best available is chosen.

    Sessions end with the app. It checks no token: put `HttpGuard` before it.
    """
    from starlette.applications import Starlette

    from core.adapters.embedded.computer_use_tools import make_server
    from core.adapters.embedded.mcp_http import mcp_lifespan, mcp_route

    sessions = Sessions(wall or find_wall(), limits or Limits(), most_sessions)
    server = make_server(sessions)
    _announce(sessions.wall)
    return Starlette(routes=[mcp_route(server)], lifespan=mcp_lifespan(server, sessions.close))


@asynccontextmanager
async def run_computer_use(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str,
    limits: Limits | None = None,
    wall: Wall | None = None,
) -> AsyncIterator[str]:
    """Serve while the context is open; yields the URL of the MCP endpoint.

    Raises ConfigurationError if the address is taken, or there is no token.
    """
    from core.adapters.embedded.http_guard import HttpGuard
    from core.adapters.embedded.http_server import run_server
    from core.adapters.embedded.mcp_http import MCP_PATH

    found = wall or await asyncio.to_thread(find_wall)
    app = create_computer_use_app(limits=limits, wall=found)
    guarded = HttpGuard(app, host=host, token=token, setting=TOKEN_SETTING)
    async with run_server(guarded, host, port) as url:
        yield f"{url}{MCP_PATH}"


def _announce(wall: Wall) -> None:
    if wall.is_boundary:
        log.info("sandbox.chosen", wall=wall.name, detail=wall.detail)
    else:
        log.warning("sandbox.weakened", wall=wall.name, detail=wall.detail)

"""MCP over HTTP for embedded servers: one JSON answer per call, no server-side stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP
    from starlette.applications import Starlette
    from starlette.routing import Route
    from starlette.types import ASGIApp, Receive, Scope, Send

MCP_PATH = "/mcp"
# No GET: it would keep one stream per client open, which we never use and every shutdown would wait
# for. The protocol provides 405 for that.
MCP_METHODS = ("POST", "DELETE")
_MAX_REQUEST_BYTES = 32 << 20


def make_mcp_server(name: str) -> FastMCP:
    """Build a server without tools, to be served by `mcp_route` and `mcp_lifespan`."""
    from mcp.server.fastmcp import FastMCP
    from mcp.server.transport_security import TransportSecuritySettings

    return FastMCP(
        name,
        streamable_http_path=MCP_PATH,
        json_response=True,
        max_request_body_size=_MAX_REQUEST_BYTES,
        # The guard checks Host and Origin: it knows the address we serve on.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


def mcp_route(server: FastMCP) -> Route:
    """Return the server's route."""
    from starlette.routing import Route

    [route] = server.streamable_http_app().routes
    assert isinstance(route, Route)
    return Route(MCP_PATH, endpoint=route.endpoint, methods=MCP_METHODS)


def mcp_lifespan(
    server: FastMCP, at_end: Callable[[], Awaitable[None]] | None = None
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Return the lifespan of an app with the server's route; `at_end` is awaited after it."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            async with server.session_manager.run():
                yield
        finally:
            if at_end:
                await at_end()

    return lifespan


class LateMcp:
    """An ASGI app that builds its server at the first call and ends it in `lifespan`."""

    def __init__(self, make: Callable[[], FastMCP]) -> None:
        self._make = make
        self._lock = asyncio.Lock()
        self._app: ASGIApp | None = None
        self._serving: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on."""
        async with self._lock:
            if self._app is None:
                self._app = await self._start()
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """End the server, if it was built, together with the app around it."""
        try:
            yield
        finally:
            self._stop.set()
            if self._serving:
                await self._serving

    async def _start(self) -> ASGIApp:
        server = await asyncio.to_thread(self._make)
        app: ASGIApp = mcp_route(server).endpoint
        ready = asyncio.Event()
        # In a task of its own: the server's task group must be left by the task that entered it.
        self._serving = asyncio.create_task(self._serve(server, ready))
        await ready.wait()
        return app

    async def _serve(self, server: FastMCP, ready: asyncio.Event) -> None:
        async with server.session_manager.run():
            ready.set()
            await self._stop.wait()

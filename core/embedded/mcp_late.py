"""An MCP endpoint that costs nothing until it is called: the SDK takes half a second to import."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from core.embedded.mcp_http import mcp_route

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send


class LateMcp:
    """An ASGI app; it makes its server at the first call, and ends it with `lifespan`."""

    def __init__(self, make: Callable[[], FastMCP]) -> None:
        self._make = make
        self._turn = asyncio.Lock()
        self._app: ASGIApp | None = None
        self._serving: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the call on."""
        async with self._turn:
            if self._app is None:
                self._app = await self._start()
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """End the server, if there is one, with the app around it."""
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
        # A task of its own, since the server's task group ends in the task that began it.
        self._serving = asyncio.create_task(self._serve(server, ready))
        await ready.wait()
        return app

    async def _serve(self, server: FastMCP, ready: asyncio.Event) -> None:
        async with server.session_manager.run():
            ready.set()
            await self._stop.wait()

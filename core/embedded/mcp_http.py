"""How embedded servers speak MCP: streamable HTTP, one JSON answer a call, no stream of our own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP
    from starlette.applications import Starlette
    from starlette.routing import Route

MCP_PATH = "/mcp"
# No GET: it would hold a stream open per client, which we never use and every shutdown waits for.
# The protocol has 405 for that.
MCP_METHODS = ("POST", "DELETE")
_MAX_REQUEST_BYTES = 32 << 20


def make_mcp_server(name: str) -> FastMCP:
    """Make a server without tools; serve it by `mcp_route` and `mcp_lifespan`."""
    from mcp.server.fastmcp import FastMCP
    from mcp.server.transport_security import TransportSecuritySettings

    return FastMCP(
        name,
        streamable_http_path=MCP_PATH,
        json_response=True,
        max_request_body_size=_MAX_REQUEST_BYTES,
        # Host and Origin are the guard's to check, which knows where we are served.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )


def mcp_route(server: FastMCP) -> Route:
    """Give the server's route."""
    from starlette.routing import Route

    [route] = server.streamable_http_app().routes
    assert isinstance(route, Route)
    return Route(MCP_PATH, endpoint=route.endpoint, methods=MCP_METHODS)


def mcp_lifespan(
    server: FastMCP, at_end: Callable[[], Awaitable[None]] | None = None
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    """Give the lifespan of an app that has the server's route; `at_end` is awaited after it."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        try:
            async with server.session_manager.run():
                yield
        finally:
            if at_end:
                await at_end()

    return lifespan

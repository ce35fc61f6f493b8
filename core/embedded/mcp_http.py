"""How embedded servers speak MCP: streamable HTTP, one JSON answer a call, no stream of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP
    from starlette.routing import Route

MCP_PATH = "/mcp"
_MAX_REQUEST_BYTES = 32 << 20


def make_mcp_server(name: str) -> FastMCP:
    """Make a server without tools; its `session_manager.run()` is to be open while it serves."""
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
    """Give the server's route. GET answers 405, as the protocol allows those who never call back.

    An open stream per client would hold up every shutdown.
    """
    from starlette.routing import Route

    [route] = server.streamable_http_app().routes
    assert isinstance(route, Route)
    return Route(MCP_PATH, endpoint=route.endpoint, methods=["POST", "DELETE"])

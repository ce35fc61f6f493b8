"""A plain MCP client for tests: one session a call, as the SDK speaks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult


@asynccontextmanager
async def mcp_session(url: str) -> AsyncIterator[ClientSession]:
    """Open a session; to be closed by the task that opened it, so no fixture may hold it."""
    async with (
        streamable_http_client(url) as (reader, writer, _),
        ClientSession(reader, writer) as session,
    ):
        await session.initialize()
        yield session


@dataclass(frozen=True)
class McpCaller:
    """Calls tools of one server."""

    url: str

    async def call_tool(self, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
        """Call, whatever comes of it."""
        async with mcp_session(self.url) as session:
            return await session.call_tool(tool, dict(arguments))

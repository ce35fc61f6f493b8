"""A plain MCP client for tests: one session per call, as the SDK does it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult


@asynccontextmanager
async def mcp_session(url: str, token: str = "") -> AsyncIterator[ClientSession]:
    """Open a session; the task that opened it must close it, so no fixture may own it."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(url, http_client=http) as (reader, writer, _),
        ClientSession(reader, writer) as session,
    ):
        await session.initialize()
        yield session


@dataclass(frozen=True)
class McpCaller:
    """Calls tools of one server."""

    url: str
    token: str = ""

    async def call_tool(self, tool: str, arguments: Mapping[str, object]) -> CallToolResult:
        """Call the tool, whatever the result."""
        async with mcp_session(self.url, self.token) as session:
            return await session.call_tool(tool, dict(arguments))

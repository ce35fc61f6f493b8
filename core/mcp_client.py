"""The claude-skills and computer-use MCP servers: their tools, pods, and documents of skills."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from core.adapters.mcp.pods import McpPods, McpSkillDocuments
from core.adapters.mcp.session import CLOSE_SECONDS, COMPUTER_USE, McpServer, McpSession
from core.domain.errors import ConfigurationError, NotFound, SkillWorkerError

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from langchain_mcp_adapters.interceptors import MCPToolCallRequest
    from mcp.types import CallToolResult

__all__ = ["COMPUTER_USE", "McpClient", "McpPods", "McpServer", "McpSkillDocuments", "open_mcp"]


@asynccontextmanager
async def open_mcp(
    servers: Sequence[McpServer], *, call_seconds: float
) -> AsyncIterator[McpClient]:
    """Give a client for these servers; no connection is made before the first use.

    `call_seconds` bounds the opening of a session, and each call, by itself.
    """
    client = McpClient(servers, call_seconds=call_seconds)
    try:
        yield client
    finally:
        await client.close()


class McpClient:
    """Keeps one MCP session open per server, and opens another when it broke.

    The servers are independent: what befalls one leaves the other's tools as they are.
    """

    def __init__(self, servers: Sequence[McpServer], *, call_seconds: float) -> None:
        """Raises ConfigurationError where two servers share a name."""
        self._servers = {server.name: server for server in servers}
        if len(self._servers) < len(servers):
            names = ", ".join(server.name for server in servers)
            raise ConfigurationError(
                f"two MCP servers share a name: {names}", hint="set MCP_SERVER_NAME to another"
            )
        self._call_seconds = call_seconds
        self._current: dict[str, McpSession] = {}
        self._keepers: set[asyncio.Task[None]] = set()

    async def get_mcp_tool_by_name_async(self, name: str) -> BaseTool:
        """Find a tool as `X`, `mcp_<server>_X` or `mcp_cursor-<server>_X`, on whichever server.

        Its `ainvoke` opens the session anew where that is needed, and raises PodCallFailed where
        the tool answers with an error. Raises NotFound, which names what there is; where a server
        is down, so that the tool may be there, that server's error.
        """
        pending = {asyncio.create_task(self._session(server)) for server in self._servers}
        there, down = list[str](), list[SkillWorkerError]()
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for opened in done:
                    error = opened.exception()
                    if isinstance(error, SkillWorkerError):
                        down.append(error)
                    elif tool := opened.result().find(name):
                        return tool
                    else:
                        there += [tool.name for tool in opened.result().tools]
        finally:
            for unneeded in pending:
                unneeded.cancel()
        if down:
            raise down[0]
        raise NotFound(f"no MCP tool {name}; there is: {', '.join(sorted(there)) or 'none'}")

    async def tool_names(self, server_name: str) -> Sequence[str]:
        """Give the names of a server's tools, sorted. Raises McpDown, ConfigurationError."""
        async with self.lease(server_name) as session:
            return sorted(tool.name for tool in session.tools)

    @asynccontextmanager
    async def lease(self, server_name: str) -> AsyncIterator[McpSession]:
        """Give the open session of a server, and keep it open as long as the context lasts.

        Raises McpDown, ConfigurationError (also where there is no such server).
        """
        session = await self._session(server_name)
        with session.held():
            yield session

    async def close(self) -> None:
        """Close all sessions."""
        for session in self._current.values():
            session.stop()
        if self._keepers:
            _, stuck = await asyncio.wait(self._keepers, timeout=2 * CLOSE_SECONDS)
            for keeper in stuck:
                keeper.cancel()

    async def _session(self, name: str) -> McpSession:
        if name not in self._servers:
            known = ", ".join(self._servers) or "none"
            raise ConfigurationError(f"there is no MCP server {name}; there is: {known}")
        session = self._current.get(name)
        if session is None or not (session.is_opening or await session.answers()):
            if self._current.get(name) is session:
                self._current[name] = self._start(self._servers[name])
            session = self._current[name]
        await session.opened()
        return session

    def _start(self, server: McpServer) -> McpSession:
        async def through(  # `handler` would use the session that the tool was found on
            request: MCPToolCallRequest,
            handler: object,  # noqa: ARG001
        ) -> CallToolResult:
            async with self.lease(server.name) as session:
                answer = await session.call(request.name, request.args)
                session.result(request.name, answer)
                return answer

        session = McpSession(server, call_seconds=self._call_seconds, interceptor=through)
        self._keepers.add(session.keeper)
        session.keeper.add_done_callback(self._keepers.discard)
        return session

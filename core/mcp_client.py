"""Client of the claude-skills and computer-use MCP servers: tools, pods, skill documents."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from core.adapters.mcp.pods import McpPods, McpSkillDocuments
from core.adapters.mcp.session import CLOSE_SECONDS, COMPUTER_USE, McpServer, McpSession
from core.domain.errors import ConfigurationError, Forbidden, NotFound, SkillWorkerError
from core.domain.messages import Message
from core.domain.models.access import MarkedTool, ToolMark

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from langchain_mcp_adapters.interceptors import MCPToolCallRequest
    from mcp.types import CallToolResult

__all__ = ["COMPUTER_USE", "McpClient", "McpPods", "McpServer", "McpSkillDocuments", "open_mcp"]


@asynccontextmanager
async def open_mcp(
    servers: Sequence[McpServer], *, call_seconds: float
) -> AsyncIterator[McpClient]:
    """Yield a client for these servers; it connects on first use.

    `call_seconds` bounds the opening of a session and each call separately.
    """
    client = McpClient(servers, call_seconds=call_seconds)
    try:
        yield client
    finally:
        await client.close()


class McpClient:
    """Keep one MCP session open per server, and reopen it when it breaks.

    The servers are independent: a failure of one leaves the tools of the other available.
    """

    def __init__(self, servers: Sequence[McpServer], *, call_seconds: float) -> None:
        """Raise ConfigurationError if two servers share a name."""
        self._servers = {server.name: server for server in servers}
        if len(self._servers) < len(servers):
            names = ", ".join(server.name for server in servers)
            raise ConfigurationError(
                Message("mcp.one_name", names=names),
                hint=Message("mcp.hint_name"),
            )
        self._call_seconds = call_seconds
        self._current: dict[str, McpSession] = {}
        self._keepers: set[asyncio.Task[None]] = set()

    async def get_mcp_tool_by_name_async(self, name: str) -> BaseTool:
        """Find a tool as `X`, `mcp_<server>_X` or `mcp_cursor-<server>_X`, on whichever server.

        Its `ainvoke` reopens the session if needed, and raises PodCallFailed if the tool answers
        with an error. Raises Forbidden if it is marked as destructive: what is found here may be
        bound to a model. Raises NotFound, naming the tools there are; or the error of a server that
        is down, since it may have the tool.
        """
        # Concurrently: a slow or dead server must not delay a tool that another one has.
        pending = {asyncio.create_task(self._session(server)) for server in self._servers}
        available, down = list[str](), list[SkillWorkerError]()
        try:
            while pending:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                for opened in done:
                    error = opened.exception()
                    if isinstance(error, SkillWorkerError):
                        down.append(error)
                    elif tool := opened.result().find(name):
                        return _bindable(opened.result(), tool)
                    else:
                        available += [tool.name for tool in opened.result().tools]
        finally:
            for unneeded in pending:
                unneeded.cancel()
        if down:
            raise down[0]
        raise NotFound(
            Message(
                "mcp.no_tool", name=name, known=", ".join(sorted(available)) or Message("list.none")
            )
        )

    async def tool_names(self, server_name: str) -> Sequence[str]:
        """Return the names of a server's tools, sorted. Raises McpDown, ConfigurationError."""
        async with self.lease(server_name) as session:
            return sorted(tool.name for tool in session.tools)

    async def marked_tools(self, server_name: str) -> Sequence[MarkedTool]:
        """Return a server's tools by name, with their marks. Raises McpDown, ConfigurationError."""
        async with self.lease(server_name) as session:
            tools = sorted(session.tools, key=lambda tool: tool.name)
            return [MarkedTool(name=tool.name, mark=session.mark_of(tool)) for tool in tools]

    @asynccontextmanager
    async def lease(self, server_name: str) -> AsyncIterator[McpSession]:
        """Yield the open session of a server, which stays open for the duration of the context.

        Raises McpDown, ConfigurationError (also if there is no such server).
        """
        session = await self._session(server_name)
        with session.in_use():
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
            known = ", ".join(self._servers) or Message("list.none")
            raise ConfigurationError(Message("mcp.no_server", name=name, known=known))
        session = self._current.get(name)
        if session is None or not (session.is_opening or await session.answers()):
            if self._current.get(name) is session:
                self._current[name] = self._start(self._servers[name])
            session = self._current[name]
        await session.opened()
        return session

    def _start(self, server: McpServer) -> McpSession:
        async def through(  # `handler` would call the session the tool was found on
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


def _bindable(session: McpSession, tool: BaseTool) -> BaseTool:
    """Return a tool that a model may be given. Raises Forbidden."""
    if session.mark_of(tool) is ToolMark.DESTRUCTIVE:
        raise Forbidden(
            Message("mcp.destructive", name=tool.name), hint=Message("mcp.hint_destructive")
        )
    return tool

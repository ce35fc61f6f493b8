"""One MCP session, kept open by its own task and shared by all callers of the server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx
from pydantic import JsonValue

from core.adapters.mcp.answers import ToolAnswer, read_answer
from core.adapters.mcp.errors import ends_session, excerpt, refused, translate
from core.domain import tracing
from core.domain.errors import (
    ConfigurationError,
    McpDown,
    NotFound,
    PodCallFailed,
    SkillWorkerError,
)
from core.domain.http_origin import is_loopback, verification
from core.domain.messages import Message
from core.domain.models.access import ToolMark

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from langchain_mcp_adapters.interceptors import ToolCallInterceptor
    from langchain_mcp_adapters.sessions import Connection
    from mcp import ClientSession
    from mcp.types import CallToolResult

COMPUTER_USE = "computer-use"


@dataclass(frozen=True)
class McpServer:
    """A server as configured: an address, or a command that is started and spoken to by stdio.

    `token` is sent as a bearer token. `sse` says what the address otherwise tells. `marks` are
    those of tools, by their names, that override what the server says of them.
    """

    name: str
    url: str = ""
    token: str | None = field(default=None, repr=False)
    more_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    sse: bool | None = None
    command: tuple[str, ...] = field(default=(), repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    folder: str | None = None
    marks: Mapping[str, ToolMark] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises ConfigurationError if there is no command, and the address is no http URL."""
        if self.command:
            return
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ConfigurationError(
                Message("mcp.address", url=self.url),
                hint=Message("mcp.hint_address"),
            )

    @property
    def is_sse(self) -> bool:
        """Whether the address implies SSE; everything else is streamable HTTP."""
        implied = urlsplit(self.url).path.rstrip("/").endswith("/sse")
        return implied if self.sse is None else self.sse

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, which no proxy of the environment can reach."""
        return is_loopback(urlsplit(self.url).hostname or "")

    @property
    def headers(self) -> dict[str, str]:
        """The headers of each request."""
        token = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return {**self.more_headers, **token}

    @property
    def address(self) -> str:
        """The address without credentials: httpx would send those in place of the token."""
        parts = urlsplit(self.url)
        bare = parts._replace(netloc=parts.netloc.rpartition("@")[2])
        has_own = any(name.lower() == "authorization" for name in self.headers)
        return urlunsplit(bare) if has_own else self.url

    @property
    def shown(self) -> str:
        """Name and address for error messages: without a user, a password, a query or arguments."""
        if self.command:
            return f"MCP server {self.name} ({self.command[0]})"
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return f"MCP server {self.name} ({urlunsplit((parts.scheme, host, parts.path, '', ''))})"


CONNECT_SECONDS = 10.0
_EVENT_STREAM = "text/event-stream"
Report = Callable[[SkillWorkerError], None]


class Wire:
    """Makes the HTTP client of one session and reports what ends the session.

    Calls are bounded by their callers, not here: a read timeout here would end the session of all
    calls when one of them is slow.
    """

    def __init__(self, server: McpServer, report: Report) -> None:
        """`report` is called with each failure on which the SDK would leave the caller waiting."""
        self._server = server
        self._report = report

    def client(
        self,
        headers: dict[str, str] | None = None,
        timeout: httpx.Timeout | None = None,  # noqa: ARG002  the SDK's default does not suit us
        auth: httpx.Auth | None = None,
    ) -> httpx.AsyncClient:
        """Build a client, with the signature that the SDK expects of a factory."""
        return httpx.AsyncClient(
            headers=headers,
            auth=auth,
            timeout=httpx.Timeout(CONNECT_SECONDS, read=None, pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=32),
            trust_env=not self._server.is_local,
            verify=verification(self._server.url),
            event_hooks={"request": [_with_trace], "response": [self._see]},
        )

    async def _see(self, response: httpx.Response) -> None:
        method = response.request.method
        if method == "DELETE" or (method == "GET" and not self._server.is_sse):
            return  # may fail without harm: the goodbye, and a stream that servers need not offer
        if problem := await self._problem(response):
            self._report(problem)
            raise problem
        if _content_type(response).startswith(_EVENT_STREAM):
            response.stream = _AnswerStream(
                response.stream, self._cut, resumes=not self._server.is_sse
            )

    def _cut(self, why: str) -> None:
        where = self._server.shown
        self._report(McpDown(Message("mcp.broke_off", where=where, why=why)))

    async def _problem(self, response: httpx.Response) -> SkillWorkerError | None:
        status = response.status_code
        is_unknown_session = status == httpx.codes.NOT_FOUND and not self._server.is_sse
        # The SDK reports a streamable 404 itself, as a session that was terminated.
        if 300 <= status < 400 or is_unknown_session:
            return None
        if status >= 400:
            said = await _beginning(response)
            return refused(status, self._server.shown, said, response.headers)
        if "html" in _content_type(response):
            said = await _beginning(response)
            return McpDown(
                Message("mcp.html", where=self._server.shown, why=said),
                hint=Message("mcp.hint_endpoint"),
            )
        return None


async def _with_trace(request: httpx.Request) -> None:
    """Send the trace context of a message as headers too: a session serves calls of many traces."""
    if request.method != "POST" or not tracing.is_on() or b'"traceparent"' not in request.content:
        return
    meta = json.loads(request.content).get("params", {}).get("_meta", {})
    request.headers.update({name: meta[name] for name in tracing.HEADERS if name in meta})


class _AnswerStream(httpx.AsyncByteStream):
    """The events of one answer, or over SSE of all; a reader that sees its end saw it too early."""

    def __init__(self, inner: object, cut: Callable[[str], None], *, resumes: bool) -> None:
        """`resumes`: the SDK requests what followed the last event that had an id."""
        assert isinstance(inner, httpx.AsyncByteStream)
        self._inner = inner
        self._cut = cut
        self._resumes = resumes
        self._has_id = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._inner:
                self._has_id |= chunk.startswith(b"id:") or b"\nid:" in chunk
                yield chunk
        except httpx.HTTPError as error:
            self._ended(str(error) or type(error).__name__)
            raise
        self._ended(Message("mcp.stream_ended"))

    def _ended(self, why: str) -> None:
        if not (self._resumes and self._has_id):
            self._cut(why)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _content_type(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", "")).lower()


async def _beginning(response: httpx.Response) -> str:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) >= 1000:
            break
    return excerpt(body[:4000].decode("utf-8", "replace"))


CLOSE_SECONDS = 5.0
PING_SECONDS = 5.0
CONCURRENT_CALLS = 8  # per session; more cost CPU time without a gain. The rest wait, untimed.
_T = TypeVar("_T")


class McpSession:
    """A session and the tools it offers.

    Its task group must be left by the task that entered it, and dies with its first failed request.
    So a keeper task owns it, and each call runs in its own task, racing `_ended`.
    """

    def __init__(
        self, server: McpServer, *, call_seconds: float, interceptor: ToolCallInterceptor
    ) -> None:
        """Start to open; `call_seconds` limits that, and each call. Needs a running event loop."""
        self._where = server.shown
        self._server = server
        self._call_seconds = call_seconds
        self._interceptor = interceptor
        self._users = 0
        self._is_retired = False
        self._room = asyncio.Semaphore(CONCURRENT_CALLS)
        self._stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[ClientSession] = loop.create_future()
        self._ended: asyncio.Future[SkillWorkerError] = loop.create_future()
        self._last_error: BaseException | None = None
        self._tools: dict[str, BaseTool] = {}
        self.keeper = asyncio.create_task(self._keep())
        self.keeper.add_done_callback(self._keeper_done)

    @property
    def is_usable(self) -> bool:
        """Whether calls may start: false once it has ended or timed out, which makes it suspect."""
        return not (self._is_retired or self._ended.done())

    @property
    def is_opening(self) -> bool:
        """Whether opening is still in progress."""
        return not (self._opened.done() or self._ended.done())

    @property
    def tools(self) -> Sequence[BaseTool]:
        """The tools of the server, once open."""
        return tuple(self._tools.values())

    def find(self, name: str) -> BaseTool | None:
        """Return the tool of that name, or of one of its other forms (contracts, section 6)."""
        server = self._server.name
        forms = (name, f"mcp_{server}_{name}", f"mcp_cursor-{server}_{name}")
        return next((self._tools[form] for form in forms if form in self._tools), None)

    def mark_of(self, tool: BaseTool) -> ToolMark:
        """Return what a tool does at worst, as configured or as its server says."""
        for name, mark in self._server.marks.items():
            if self.find(name) is tool:
                return mark
        return ToolMark.of(tool.metadata or {})

    async def opened(self) -> None:
        """Wait until it is open. Raises McpDown, ConfigurationError."""
        either: set[asyncio.Future[object]] = {self._opened, self._ended}  # type: ignore[arg-type]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        self._check()

    async def answers(self) -> bool:
        """Whether the server still knows this session."""
        if not (self._opened.done() and self.is_usable):
            return False
        ping = asyncio.create_task(self._opened.result().send_ping())
        if not await self._finished(ping, min(PING_SECONDS, self._call_seconds)):
            self.retire()  # others may be in the middle of something slow
            return False
        # Any answer will do, even that it knows no pings.
        if ping.cancelled() or ((error := ping.exception()) and ends_session(error)):
            self.stop()
        return self.is_usable

    async def call(self, tool: str, arguments: Mapping[str, JsonValue]) -> CallToolResult:
        """Call a tool by the server's own name for it; error answers are returned too.

        Raises McpDown (no answer in time, or the session broke), PodCallFailed, ConfigurationError.
        """
        async with self._room:
            self._check()
            meta = {**tracing.outgoing()} or None
            calling = self._opened.result().call_tool(tool, dict(arguments), meta=meta)
            task = asyncio.create_task(calling)
            if await self._finished(task, self._call_seconds):
                return await self._outcome(task)
        self._check()
        # The server may be stuck, and its late answer has no taker: others get a new session.
        self.retire()
        raise McpDown(
            Message("mcp.tool_slow", where=self._where, tool=tool, seconds=self._call_seconds)
        )

    async def ask(self, name: str, arguments: Mapping[str, JsonValue]) -> ToolAnswer:
        """Call a tool by any of its names and return its successful answer.

        Raises NotFound if there is no such tool, PodCallFailed if it answers with an error.
        """
        tool = self.find(name)
        if tool is None:
            has = ", ".join(sorted(self._tools)) or "none"
            raise NotFound(Message("mcp.lacks_tool", where=self._where, name=name, known=has))
        return self.result(name, await self.call(tool.name, arguments))

    def result(self, name: str, answer: CallToolResult) -> ToolAnswer:
        """Parse a tool's answer. Raises PodCallFailed if it is marked as an error."""
        found = read_answer(answer)
        if answer.isError:
            raise PodCallFailed(
                Message("mcp.tool_failed", where=self._where, name=name, why=excerpt(found.text))
            )
        return found

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """Prevent it from closing inside the block, even if it is retired meanwhile."""
        self._users += 1
        try:
            yield
        finally:
            self._users -= 1
            self._stop_unless_used()

    def retire(self) -> None:
        """Accept no new users, and close it when the last one has left."""
        self._is_retired = True
        self._stop_unless_used()

    def stop(self) -> None:
        """Close it, whoever uses it; `keeper` ends within CLOSE_SECONDS."""
        self._end(McpDown(Message("mcp.session_closed", where=self._where)))

    async def _finished(self, task: asyncio.Task[_T], seconds: float) -> bool:
        """Wait for a task, the session's end, or the timeout; the task is over then."""
        task.add_done_callback(_retrieve_exception)
        either: set[asyncio.Future[object]] = {task, self._ended}  # type: ignore[arg-type]
        try:
            await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            return task.done()
        finally:
            task.cancel()

    async def _outcome(self, task: asyncio.Task[CallToolResult]) -> CallToolResult:
        error = asyncio.CancelledError() if task.cancelled() else task.exception()
        if error is None:
            return task.result()
        if task.cancelled() or ends_session(error):
            # Only after the keeper has left the session is it known what broke it.
            self._last_error = error
            self._stop.set()
            await asyncio.wait({self.keeper}, timeout=2 * CLOSE_SECONDS)
            self._check()
        raise translate(error, self._where) from error

    async def _keep(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._call_seconds) as limit, self._connected() as session:
                # The timeout covers opening and closing, not the life of the session.
                limit.reschedule(None)
                self._opened.set_result(session)
                await self._stop.wait()
                limit.reschedule(loop.time() + CLOSE_SECONDS)
        except TimeoutError as error:
            raise McpDown(
                Message("mcp.slow", where=self._where, seconds=self._call_seconds)
            ) from error

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[ClientSession]:
        from langchain_mcp_adapters.client import MultiServerMCPClient
        from langchain_mcp_adapters.tools import load_mcp_tools

        name = self._server.name
        client = MultiServerMCPClient({name: self._connection()})
        async with client.session(name) as session:
            tools = await load_mcp_tools(
                session,
                server_name=name,
                tool_interceptors=[self._interceptor],
                handle_tool_errors=False,
            )
            self._tools = {tool.name: tool for tool in tools}
            yield session

    def _connection(self) -> Connection:
        from langchain_mcp_adapters.sessions import SSEConnection, StreamableHttpConnection

        more = {"message_handler": self._see}
        if self._server.command:
            return _process(self._server, more)
        url, headers = self._server.address, self._server.headers
        factory = Wire(self._server, self._end).client
        if self._server.is_sse:
            return SSEConnection(
                transport="sse",
                url=url,
                headers=headers,
                httpx_client_factory=factory,
                session_kwargs=more,
            )
        return StreamableHttpConnection(
            transport="streamable_http",
            url=url,
            headers=headers,
            httpx_client_factory=factory,
            session_kwargs=more,
        )

    async def _see(self, message: object) -> None:
        """Receive messages outside of answers: an exception is an answer that cannot be parsed."""
        # A RuntimeError is an answer whose caller has gone.
        if isinstance(message, Exception) and not isinstance(message, RuntimeError):
            self._end(translate(message, self._where))

    def _keeper_done(self, keeper: asyncio.Task[None]) -> None:
        error = None if keeper.cancelled() else keeper.exception()
        self._end(translate(error or self._last_error, self._where))

    def _end(self, reason: SkillWorkerError) -> None:
        if not self._ended.done():
            self._ended.set_result(reason)
        if self._opened.done():
            self._stop.set()
        else:
            # Still opening: nothing waits for `_stop` yet.
            self.keeper.cancel()

    def _stop_unless_used(self) -> None:
        if self._is_retired and not self._users:
            self.stop()

    def _check(self) -> None:
        if self._ended.done():
            reason = self._ended.result()
            # A copy for each caller: one exception raised in several tasks mixes up their
            # tracebacks.
            raise copy(reason) from reason


def _process(server: McpServer, more: Mapping[str, object]) -> Connection:
    """Return the connection to a process; of this one's environment it sees what is harmless."""
    from langchain_mcp_adapters.sessions import StdioConnection

    command, *arguments = server.command
    return StdioConnection(
        transport="stdio",
        command=command,
        args=arguments,
        env=dict(server.environment),
        cwd=server.folder,
        session_kwargs=dict(more),
    )


def _retrieve_exception(task: asyncio.Task[_T]) -> None:
    """Retrieve a task's exception, so that asyncio does not warn that it never was."""
    if not task.cancelled():
        task.exception()


class Sessions(Protocol):
    """The owner of sessions: `mcp_client.McpClient`."""

    def lease(self, server_name: str) -> AbstractAsyncContextManager[McpSession]:
        """Return the open session of a server. Raises McpDown, ConfigurationError."""

"""An MCP server over real HTTP on loopback that fails on demand, dies abruptly, and restarts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from mcp.server.lowlevel import Server
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core.adapters.embedded.http_server import run_server

HTTP_STATUS = {"unauthorized": 401, "expired": 404, "unavailable": 503, "too_large": 413}


class McpHttp:
    """Serves `server`; `fault(tool)` names what goes wrong on the wire with a call, or is empty.

    Faults of the wire: the keys of HTTP_STATUS, `html`, `garbage` (JSON that is no answer), `cut`
    (in the middle of the answer), `silent` (the stream ends without one), `restart`.
    """

    def __init__(self, *, sse: bool = False, token: str | None = None, json: bool = False) -> None:
        self.sse = sse
        self.token = token
        self.json = json
        self.port = 0
        self.methods: list[str] = []
        self._dying = asyncio.Event()
        self._life: asyncio.Task[None] | None = None
        self._again: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{'sse' if self.sse else 'mcp'}"

    @property
    def initialized(self) -> int:
        """Return how often a client opened a session."""
        return self.methods.count("initialize")

    def build(self) -> Server[object, object]:
        raise NotImplementedError

    def fault(self, tool: str) -> str:
        return ""

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[McpHttp]:
        await self.start()
        try:
            yield self
        finally:
            await self.stop()

    async def start(self) -> None:
        """Start on the same port as before, without memory of earlier sessions."""
        self._dying = asyncio.Event()
        up: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._life = asyncio.create_task(self._live(up))
        self.port = urlsplit(await up).port or 0

    async def stop(self) -> None:
        """Die at once: every answer in progress breaks off, and nobody listens on the port."""
        self._dying.set()
        if self._life is not None:
            await self._life
            self._life = None

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def settled(self) -> None:
        """Wait until a restart that a call caused is over."""
        if self._again is not None:
            await self._again

    async def _live(self, up: asyncio.Future[str]) -> None:
        app, dying = self.build(), self._dying
        if self.sse:
            async with run_server(self._watched(_over_sse(app), dying), port=self.port) as url:
                up.set_result(url)
                await dying.wait()
            return
        manager = StreamableHTTPSessionManager(app, json_response=self.json)
        async with (
            manager.run(),
            run_server(self._watched(manager.handle_request, dying), port=self.port) as url,
        ):
            up.set_result(url)
            await dying.wait()

    def _watched(self, inner: ASGIApp, dying: asyncio.Event) -> ASGIApp:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                return
            body = await _body(receive) if scope["method"] == "POST" else b""
            headers = dict(scope["headers"])
            allowed = f"Bearer {self.token}".encode() if self.token else None
            if allowed and headers.get(b"authorization") != allowed:
                await _answer(send, 401, b"text/plain", b"who are you?")
            elif not await self._fails(self._see(body), send):
                await _until(dying, inner, scope, _replay(body, receive), send)

        return app

    def _see(self, body: bytes) -> str:
        """Record a message and return the wire fault that its call meets."""
        message = json.loads(body or b"{}")
        method = str(message.get("method", ""))
        if method:
            self.methods.append(method)
        return self.fault(str(message["params"]["name"])) if method == "tools/call" else ""

    async def _fails(self, fault: str, send: Send) -> bool:
        if fault in HTTP_STATUS:
            await _answer(send, HTTP_STATUS[fault], b"text/plain", f"{fault} 오류".encode())
        elif fault == "html":
            await _answer(send, 200, b"text/html", b"<html><body>Sign in</body></html>")
        elif fault == "garbage":
            await _answer(send, 200, b"application/json", b'{"hello": "world"}')
        elif fault in ("cut", "silent"):
            await _begin(send, 200, b"text/event-stream")
            await send({"type": "http.response.body", "body": b": wait\r\n\r\n", "more_body": True})
            if fault == "cut":
                raise ConnectionAbortedError
            await send({"type": "http.response.body", "body": b""})
        elif fault == "restart":
            self._again = asyncio.create_task(self.restart())
            await self._dying.wait()
            await _break_off(send)
        else:
            return False
        return True


def _over_sse(server: Server[object, object]) -> ASGIApp:
    transport = SseServerTransport("/messages/")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] == "POST":
            await transport.handle_post_message(scope, receive, send)
            return
        async with transport.connect_sse(scope, receive, send) as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())

    return app


async def _until(
    dying: asyncio.Event, inner: ASGIApp, scope: Scope, receive: Receive, send: Send
) -> None:
    """Serve; once the server dies, the app sees its client leave, and the client gets nothing.

    Unlike a cancellation, that lets the SDK close its streams.
    """
    death = asyncio.create_task(dying.wait())

    async def receive_or_die() -> Message:
        coming = asyncio.ensure_future(receive())
        await asyncio.wait({coming, death}, return_when=asyncio.FIRST_COMPLETED)
        if coming.done():
            return coming.result()
        coming.cancel()
        return {"type": "http.disconnect"}

    has_begun = False

    async def send_unless_dead(message: Message) -> None:
        nonlocal has_begun
        if not dying.is_set():
            has_begun = True
            await send(message)

    task = asyncio.ensure_future(inner(scope, receive_or_die, send_unless_dead))
    try:
        await asyncio.wait({task, death}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            await asyncio.wait({task}, timeout=1)
            await _break_off(send, begun=has_begun)
        task.result()
    finally:
        task.cancel()
        death.cancel()
        await asyncio.wait({task})


async def _body(receive: Receive) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = bool(message.get("more_body"))
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


async def _begin(send: Send, status: int, kind: bytes) -> None:
    headers = [(b"content-type", kind)]
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _break_off(send: Send, *, begun: bool = False) -> None:
    """Have the connection closed in the middle of an answer, since nothing else closes it."""
    if not begun:
        await _begin(send, 200, b"text/event-stream")
    raise ConnectionAbortedError


async def _answer(send: Send, status: int, kind: bytes, body: bytes) -> None:
    await _begin(send, status, kind)
    await send({"type": "http.response.body", "body": body})


def count_faults(faults: Mapping[str, str], calls: list[str], tool: str) -> str:
    """Return the fault of this call: `faults` has `tool` for each, `tool:2` for the second."""
    return faults.get(f"{tool}:{calls.count(tool)}", faults.get(tool, ""))

"""Transports: streamable HTTP for an app that has authenticated its callers, and stdio."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import cast

import anyio
import structlog
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp, Scope

from core.app.program import App
from core.entrypoints.mcp_knowledge.caller import Caller
from core.entrypoints.mcp_knowledge.gate import WhoAsks
from core.entrypoints.mcp_knowledge.server import KnowledgeServer
from core.entrypoints.mcp_knowledge.watching import KnowledgeChanges, Watcher

log = structlog.get_logger(__name__)

MOST_BODY = 2**20
MOST_LINE = 2**21  # bytes of a message over stdio
MOST_SESSIONS = 2_000
CHUNK = 2**16
LAST_ANSWERS = 10.0  # seconds that what was asked may take after the end of stdin


def make_server(app: App, who: WhoAsks, tenant_id: str | None = None) -> KnowledgeServer:
    """Return a server; it follows the events of one tenant, or of all."""
    changes = KnowledgeChanges(app.stores.feed, app.stores.changes, tenant_id)

    async def watch(caller: Caller) -> AbstractAsyncContextManager[Watcher]:
        with caller.knowledge() as known:
            agent = await known.agent(caller.agent_id)
        return changes.watching(agent.tenant_id, agent.id)

    return KnowledgeServer(who, watch)


@asynccontextmanager
async def over_http(app: App, who: WhoAsks) -> AsyncIterator[ASGIApp]:
    """Yield an ASGI app that serves streamable HTTP, with sessions, while the context lasts."""
    manager = StreamableHTTPSessionManager(
        make_server(app, who),
        json_response=True,
        # The guard in front checks Host and Origin: it knows the address we serve on.
        security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=MOST_BODY,
        max_sessions=MOST_SESSIONS,
    )
    logger = logging.getLogger("mcp.server.streamable_http")
    logger.addFilter(_is_failure)
    try:
        async with manager.run():
            yield manager.handle_request
    finally:
        logger.removeFilter(_is_failure)


def _is_failure(record: logging.LogRecord) -> bool:
    """Whether a record of the SDK tells of more than a client that has left, which it does too."""
    return not (record.exc_info and isinstance(record.exc_info[1], anyio.ClosedResourceError))


def owned(scope: Scope, owner: str, subject: str) -> Scope:
    """Return a call's scope with its owner: a session answers only the one that opened it."""
    token = AccessToken(token="", client_id=owner, scopes=[], subject=subject)
    return {**scope, "user": AuthenticatedUser(token)}


async def over_stdio(app: App, caller: Caller, stop: asyncio.Event) -> None:
    """Serve one client over stdin and stdout until it leaves or `stop` is set.

    Whatever else this process writes to stdout goes to stderr meanwhile.
    """
    server = make_server(app, lambda _request: caller, caller.session.principal.tenant_id)
    with _own_stdout() as number:
        asked = _Asked()
        file = anyio.wrap_file(os.fdopen(number, "w", encoding="utf-8", newline="\n"))
        out = cast("anyio.AsyncFile[str]", _Answers(file, asked))
        lines = cast("anyio.AsyncFile[str]", _Lines(asked))
        serving = asyncio.ensure_future(_serve(server, lines, out))
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        serving.cancel()
        await asyncio.wait({serving})
        if not serving.cancelled():
            serving.result()


async def _serve(
    server: KnowledgeServer, lines: anyio.AsyncFile[str], out: anyio.AsyncFile[str]
) -> None:
    try:
        async with stdio_server(lines, out) as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())
    except* BrokenPipeError:
        log.info("mcp.client_left")


@contextmanager
def _own_stdout() -> Iterator[int]:
    """Yield a descriptor of stdout that nobody else writes to."""
    number = os.dup(1)
    os.dup2(2, 1)
    try:
        yield number
    finally:
        os.dup2(number, 1)


class _Asked:
    """The requests that wait for an answer: at the end of stdin the SDK would drop them."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._none = asyncio.Event()
        self._none.set()

    def see(self, line: str) -> None:
        """Note the request that a line from the client is, if it is one."""
        message = _message(line)
        if "method" in message and "id" in message:
            self._ids.add(str(message["id"]))
            self._none.clear()

    def answer(self, line: str) -> None:
        """Note the answer that a line to the client is, if it is one."""
        message = _message(line)
        if "method" not in message:
            self._ids.discard(str(message.get("id")))
        if not self._ids:
            self._none.set()

    async def none(self) -> None:
        """Return when all are answered, or after the seconds that a client may expect us to."""
        try:
            await asyncio.wait_for(self._none.wait(), LAST_ANSWERS)
        except TimeoutError:
            log.warning("mcp.unanswered", n=len(self._ids), seconds=LAST_ANSWERS)


def _message(line: str) -> Mapping[str, object]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


class _Answers:
    """The file that answers are written to, one at a time."""

    def __init__(self, file: anyio.AsyncFile[str], asked: _Asked) -> None:
        self._file, self._asked = file, asked
        self._last = ""

    async def write(self, text: str) -> None:
        self._last = text
        await self._file.write(text)

    async def flush(self) -> None:
        await self._file.flush()
        self._asked.answer(self._last)


class _Lines:
    """The lines of stdin, from a thread that no stop waits for.

    It reads the descriptor itself: a thread inside Python's buffer would hold its lock at exit.
    """

    def __init__(self, asked: _Asked) -> None:
        self._asked = asked
        self._parts: asyncio.Queue[bytes] = asyncio.Queue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, name="stdin", daemon=True).start()

    def _read(self) -> None:
        part = b"begun"
        while part:
            try:
                part = os.read(0, CHUNK)
            except OSError:
                part = b""
            try:
                self._loop.call_soon_threadsafe(self._parts.put_nowait, part)
            except RuntimeError:  # the loop is closed
                return

    async def __aiter__(self) -> AsyncIterator[str]:
        """Yield line by line, the last also without its end; one that is too long is passed over.

        After the last line it ends when what was asked is answered.
        """
        rest, is_over = b"", False
        while part := await self._parts.get():
            *whole, rest = (rest + part).split(b"\n")
            for line in whole:
                if not is_over and line.strip():
                    yield self._seen(line)
                is_over = False
            if len(rest) > MOST_LINE:
                log.warning("mcp.too_long", most=MOST_LINE)
                rest, is_over = b"", True
        if rest.strip() and not is_over:
            yield self._seen(rest)
        await self._asked.none()

    def _seen(self, line: bytes) -> str:
        text = line.decode("utf-8", "replace")
        self._asked.see(text)
        return text

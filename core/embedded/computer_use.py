"""The embedded computer-use server: sandbox sessions over MCP (contracts, section 6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING

import structlog

from core.embedded.sandbox import Sandbox, find_wall, open_sandbox
from core.embedded.sandbox_wall import Limits, Wall
from core.errors import PodCallFailed

if TYPE_CHECKING:
    from starlette.applications import Starlette

MAX_SESSIONS = 16
TOKEN_SETTING = "COMPUTER_USE_MCP_TOKEN"  # noqa: S105 - the name of a setting

log = structlog.get_logger(__name__)


@dataclass
class _Session:
    sandbox: Sandbox
    resources: AsyncExitStack
    expiry: asyncio.TimerHandle


@dataclass
class Sessions:
    """The sandboxes that are open, by their ids. Methods raise PodCallFailed."""

    wall: Wall
    limits: Limits
    most: int = MAX_SESSIONS
    new_id: Callable[[], str] = lambda: token_hex(16)
    _open: dict[str, _Session] = field(default_factory=dict)
    _starting: int = 0
    _ending: set[asyncio.Task[None]] = field(default_factory=set)

    async def create(self, ttl: int) -> str:
        """Start a sandbox that lives at most `ttl` seconds; gives its id."""
        if len(self._open) + self._starting >= self.most:
            raise PodCallFailed(f"{self.most} sessions are open, and there may be no more")
        resources = AsyncExitStack()
        self._starting += 1
        try:
            sandbox = await resources.enter_async_context(open_sandbox(self.wall, self.limits))
        finally:
            self._starting -= 1
        session_id = self.new_id()
        expiry = asyncio.get_running_loop().call_later(ttl, self._expire, session_id)
        self._open[session_id] = _Session(sandbox, resources, expiry)
        return session_id

    def get(self, session_id: str) -> Sandbox:
        """Give the sandbox of a session."""
        return self._session(session_id).sandbox

    async def delete(self, session_id: str) -> None:
        """End a session, and kill all that runs in it."""
        await self._take(session_id).resources.aclose()

    async def close(self) -> None:
        """End all sessions."""
        for session_id in tuple(self._open):
            await self.delete(session_id)
        await asyncio.gather(*self._ending)

    def _session(self, session_id: str) -> _Session:
        if session_id not in self._open:
            raise PodCallFailed(
                f"there is no session {session_id!r}: it was deleted, is past its ttl, or never was"
            )
        return self._open[session_id]

    def _take(self, session_id: str) -> _Session:
        session = self._session(session_id)
        del self._open[session_id]
        session.expiry.cancel()
        return session

    def _expire(self, session_id: str) -> None:
        log.info("session.expired", session_id=session_id)
        ending = asyncio.ensure_future(self._take(session_id).resources.aclose())
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)


def create_computer_use_app(
    *, limits: Limits | None = None, wall: Wall | None = None, most_sessions: int = MAX_SESSIONS
) -> Starlette:
    """Make the app that speaks MCP at `/mcp`; without a `wall` the best one is looked for.

    Sessions end with the app. It is unguarded: put `HttpGuard` before it.
    """
    from starlette.applications import Starlette

    from core.embedded.computer_use_tools import make_server
    from core.embedded.mcp_http import mcp_lifespan, mcp_route

    sessions = Sessions(wall or find_wall(), limits or Limits(), most_sessions)
    server = make_server(sessions)
    _announce(sessions.wall)
    return Starlette(routes=[mcp_route(server)], lifespan=mcp_lifespan(server, sessions.close))


@asynccontextmanager
async def run_computer_use(
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    token: str | None = None,
    limits: Limits | None = None,
    wall: Wall | None = None,
) -> AsyncIterator[str]:
    """Serve while the context is open; gives the URL of the MCP endpoint.

    Raises ConfigurationError where the address cannot be had, or is open to all without a token.
    """
    from core.embedded.http_guard import HttpGuard
    from core.embedded.http_server import run_server
    from core.embedded.mcp_http import MCP_PATH

    found = wall or await asyncio.to_thread(find_wall)
    app = create_computer_use_app(limits=limits, wall=found)
    guarded = HttpGuard(app, host=host, token=token, setting=TOKEN_SETTING)
    async with run_server(guarded, host, port) as url:
        yield f"{url}{MCP_PATH}"


def _announce(wall: Wall) -> None:
    if wall.is_boundary:
        log.info("sandbox.chosen", wall=wall.name, detail=wall.detail)
    else:
        log.warning("sandbox.weakened", wall=wall.name, detail=wall.detail)

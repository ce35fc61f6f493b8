"""The open sandboxes of the computer-use server, by session id."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from secrets import token_hex

import structlog

from core.adapters.embedded.sandbox import Sandbox, open_sandbox
from core.adapters.embedded.sandbox_wall import Limits, Wall
from core.domain.errors import PodCallFailed
from core.domain.messages import Message

MAX_SESSIONS = 16

log = structlog.get_logger(__name__)


@dataclass
class _Session:
    sandbox: Sandbox
    resources: AsyncExitStack
    expiry: asyncio.TimerHandle


@dataclass
class Sessions:
    """The open sandboxes by id. Methods raise PodCallFailed."""

    wall: Wall
    limits: Limits
    most: int = MAX_SESSIONS
    new_id: Callable[[], str] = lambda: token_hex(16)
    _open: dict[str, _Session] = field(default_factory=dict)
    _starting: int = 0
    _ending: set[asyncio.Task[None]] = field(default_factory=set)

    async def create(self, ttl: int) -> str:
        """Start a sandbox that lives at most `ttl` seconds; returns its id."""
        if len(self._open) + self._starting >= self.most:
            raise PodCallFailed(Message("sandbox.sessions", most=self.most))
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
        """Return the sandbox of a session."""
        return self._session(session_id).sandbox

    async def delete(self, session_id: str) -> None:
        """End a session, killing everything that runs in it."""
        await self._take(session_id).resources.aclose()

    async def close(self) -> None:
        """End all sessions."""
        for session_id in tuple(self._open):
            await self.delete(session_id)
        await asyncio.gather(*self._ending)

    def _session(self, session_id: str) -> _Session:
        if session_id not in self._open:
            raise PodCallFailed(Message("sandbox.no_session", id=session_id))
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

"""The guard before a small app that says who called it, over tokens in memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import cast

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from core.app.program import App
from core.domain.errors import DatabaseDown
from core.domain.models.access import AccessToken, Limits, Role
from core.domain.observers import nobody
from core.domain.ports import NewId, Observer, Tokens
from core.entrypoints.api.entry import Entry
from core.entrypoints.api.entry_page import ENTER, LEAVE, SIGN_IN, SIGNED_IN
from core.entrypoints.api.guard import SESSION_COOKIE, Guard
from core.entrypoints.api.limits import Limiter
from core.entrypoints.api.oidc import Provider
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.sessions import PRINCIPAL
from core.entrypoints.auth import SESSION_LIFE, Access, Grant, Made
from core.testing.access import MemoryAnswers, MemoryTokens
from core.testing.determinism import counting_ids

HERE = "http://127.0.0.1:8720"
UNKNOWN = "swk_" + "A1-_" * 10 + "xyz"  # well-formed, but nobody's
PAGE = {"accept": "text/html,application/xhtml+xml"}


class FailingTokens(MemoryTokens):
    """Tokens in a database that is down while `down` is set; `finds` counts the look-ups."""

    down = False
    finds = 0

    async def find(self, hash_: str) -> AccessToken | None:
        """Find as usual, or fail. Raises DatabaseDown."""
        self.finds += 1
        if self.down:
            raise DatabaseDown("PostgreSQL does not answer", retry_after=2)
        return await super().find(hash_)


@dataclass
class Ports:
    """The parts of an opened program that the guard needs."""

    tokens: Tokens
    answers: MemoryAnswers = field(default_factory=MemoryAnswers)
    new_id: NewId = field(default_factory=lambda: counting_ids("id"))
    observe: Observer = nobody

    @property
    def stores(self) -> Ports:
        """The stores of the program, of which it has no more than these."""
        return self


@dataclass
class World:
    """A guarded app and its tokens; `now` is the time by which they expire."""

    host: str = "127.0.0.1"
    hosts: Collection[str] = ()
    console: bool = True
    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    provider: Provider | None = None
    person_life: timedelta = SESSION_LIFE
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        """Open it."""
        self.tokens = FailingTokens(lambda: self.now)
        self.ports = Ports(self.tokens)
        self.delays: list[float] = []
        limiter = Limiter(self.limits, lambda: self.now.timestamp(), self._delay)
        self.opened = Opened(lambda: self.now, limiter, self.person_life)
        self.opened.app = cast("App", self.ports)
        self.access = Access(self.tokens, self.ports.new_id, lambda: self.now)
        self.app: ASGIApp = Guard(
            self._inner(), self.opened, host=self.host, hosts=self.hosts, console=self.console
        )

    async def _delay(self, seconds: float) -> None:
        self.delays.append(seconds)

    def client(self, base: str = HERE, **headers: str) -> httpx.AsyncClient:
        """Return a client that sends these headers with each call."""
        transport = httpx.ASGITransport(self.app)
        return httpx.AsyncClient(transport=transport, base_url=base, headers=headers)

    def sockets(self, **headers: str) -> TestClient:
        """Return a client for websockets."""
        return TestClient(self.app, base_url=HERE, headers=headers)

    async def token(self, tenant_id: str | None = "acme", days: int | None = None) -> Made:
        """Create a token that may read."""
        life = None if days is None else timedelta(days=days)
        return await self.access.add(
            Grant(name="ci", tenant_id=tenant_id, roles=(Role.READ,)), life
        )

    def _inner(self) -> Starlette:
        entry = Entry(self.opened, self.provider)
        both = ["GET", "POST"]
        return Starlette(
            routes=[
                Route(ENTER, entry.enter, methods=[*both, "HEAD"]),
                Route(LEAVE, entry.leave, methods=both),
                Route(SIGN_IN, entry.sign_in),
                Route(SIGNED_IN, entry.signed_in),
                WebSocketRoute("/{path:path}", _talk),
                Route("/{path:path}", _who, methods=[*both, "OPTIONS", "DELETE"]),
            ]
        )


def bearer(made: Made) -> str:
    """Return the header that carries a token."""
    return f"Bearer {made.secret.get_secret_value()}"


def cookie(made: Made) -> str:
    """Return the header that carries a session."""
    return f"{SESSION_COOKIE}={made.secret.get_secret_value()}"


async def _who(request: Request) -> JSONResponse | PlainTextResponse:
    who = getattr(request.state, PRINCIPAL, None)
    return PlainTextResponse("nobody") if who is None else JSONResponse(who.model_dump(mode="json"))


async def _talk(socket: WebSocket) -> None:
    await socket.accept()
    async for text in socket.iter_text():
        await socket.send_text(f"{getattr(socket.state, PRINCIPAL).name}: {text}")

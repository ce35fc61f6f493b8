"""What a worker serves beside its health: the API, MCP, the console, and the guard around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from fastapi import FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from core.app.program import App
from core.domain.errors import ConfigurationError
from core.domain.http_origin import is_loopback
from core.domain.messages import Message
from core.domain.models.access import Limits
from core.entrypoints.api.app import create_api
from core.entrypoints.api.entry import Entry
from core.entrypoints.api.entry_page import CONSOLE, ENTER, LEAVE, SIGN_IN, SIGNED_IN
from core.entrypoints.api.guard import HEALTH, Guard
from core.entrypoints.api.idempotency import Idempotency, document
from core.entrypoints.api.limits import Limiter
from core.entrypoints.api.mcp import MCP, DefaultAgent, McpOfAgents
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.recorded import Recorded
from core.entrypoints.auth import SESSION_LIFE, Access, ensure_token

if TYPE_CHECKING:  # its packages are an extra
    from core.entrypoints.api.oidc import Provider

SETTLE_SECONDS = 2.0  # how long a stop waits for answers that are to be on record
Mount: TypeAlias = Callable[[FastAPI, Opened, Path], None]


class Serving:
    """The API on `host`, and the console if there is one to mount.

    `hosts` are further names that it is called by; `provider` is where people sign in.
    Until the program is opened no token can be checked: all but the health pages and the sign-in
    pages answer 503.
    """

    def __init__(
        self,
        *,
        host: str,
        hosts: Collection[str],
        home: Path,
        mount: Mount | None,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        provider: Provider | None = None,
        agents: DefaultAgent = DefaultAgent(),  # noqa: B008 - frozen
    ) -> None:
        self._host, self._hosts, self._home = host, hosts, home
        life = provider.config.session_hours if provider else None
        self._opened = Opened(
            limiter=Limiter(limits), person_life=timedelta(hours=life) if life else SESSION_LIFE
        )
        self._provider = provider
        self._mcp = McpOfAgents(self._opened, agents)
        self._api = create_api(self._opened)
        document(self._api)
        self._has_console = mount is not None
        if mount is not None:
            mount(self._api, self._opened, home)

    def around(self, health: ASGIApp) -> ASGIApp:
        """Return one guarded app of the health pages, the API, MCP and the console."""
        return self._guarded(health, Idempotency(self._api, self._opened))

    def around_agents(self, health: ASGIApp) -> ASGIApp:
        """Return one guarded app of the health pages and MCP alone."""
        return self._guarded(health, Starlette())

    def _guarded(self, health: ASGIApp, otherwise: ASGIApp) -> ASGIApp:
        ways: dict[str, ASGIApp] = {**dict.fromkeys(HEALTH, health), MCP: self._mcp}
        if self._has_console:
            ways |= dict.fromkeys(("/", CONSOLE, ENTER, LEAVE, SIGN_IN, SIGNED_IN), self._ways_in())
        app = _by_path(ways, otherwise)
        guard = Guard(
            app, self._opened, host=self._host, hosts=self._hosts, console=self._has_console
        )
        return Recorded(guard, self._opened, self._api.openapi()["paths"])

    @asynccontextmanager
    async def opened_to(self, app: App) -> AsyncIterator[Path | None]:
        """Admit callers to `app`; yields the file of the first token if one was created.

        Raises ConfigurationError if others could get in by a token that nobody chose to create.
        """
        access = Access(app.stores.tokens, app.new_id)
        if not is_loopback(self._host):
            await _see_on_purpose(access, self._host)
        made = await ensure_token(access, self._home)
        async with self._opened.calls.stored_in(app.stores.calls), self._mcp.opened_to():
            self._opened.app = app
            try:
                yield made
            finally:
                self._opened.close()
                await self._opened.settled(SETTLE_SECONDS)

    def _ways_in(self) -> Starlette:
        entry = Entry(self._opened, self._provider)
        both = ["GET", "HEAD", "POST"]
        return Starlette(
            routes=[
                Route(ENTER, entry.enter, methods=both),
                Route(LEAVE, entry.leave, methods=both),
                Route(SIGN_IN, entry.sign_in, methods=["GET"]),
                Route(SIGNED_IN, entry.signed_in, methods=["GET"]),
                Route("/", _to_console),
                Route(CONSOLE, _to_console),
            ]
        )


async def _to_console(_: Request) -> RedirectResponse:
    return RedirectResponse(f"{CONSOLE}/", 303)


async def _see_on_purpose(access: Access, host: str) -> None:
    if not any(token.on_purpose for token in await access.tokens.list()):
        raise ConfigurationError(
            Message("serve.no_token", host=host),
            hint=Message("serve.hint_token"),
        )


def _by_path(ways: dict[str, ASGIApp], otherwise: ASGIApp) -> ASGIApp:
    """Return an app that dispatches by path; all else, lifespan events too, is `otherwise`'s."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        found = ways.get(scope["path"]) if scope["type"] == "http" else None
        await (found or otherwise)(scope, receive, send)

    return app

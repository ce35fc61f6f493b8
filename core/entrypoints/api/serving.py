"""What a worker serves beside its health: the API, the console, and the guard around both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

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
from core.entrypoints.api.app import create_api
from core.entrypoints.api.entry import Entry
from core.entrypoints.api.entry_page import CONSOLE, ENTER, LEAVE
from core.entrypoints.api.guard import HEALTH, Guard
from core.entrypoints.api.idempotency import Idempotency, document
from core.entrypoints.api.opened import Opened
from core.entrypoints.auth import Access, ensure_token

Mount: TypeAlias = Callable[[FastAPI, Opened, Path], None]


class Serving:
    """The API on `host`, and the console if there is one to mount.

    `hosts` are further names that it is called by. Until the program is opened no token can be
    checked: all but the health pages and the sign-in pages answer 503.
    """

    def __init__(self, *, host: str, hosts: Collection[str], home: Path, mount: Mount | None):
        self._host, self._hosts, self._home = host, hosts, home
        self._opened = Opened()
        self._api = create_api(self._opened)
        document(self._api)
        self._has_console = mount is not None
        if mount is not None:
            mount(self._api, self._opened, home)

    def around(self, health: ASGIApp) -> ASGIApp:
        """Return one guarded app of the health pages, the API and the console."""
        ways: dict[str, ASGIApp] = dict.fromkeys(HEALTH, health)
        if self._has_console:
            ways |= dict.fromkeys(("/", CONSOLE, ENTER, LEAVE), self._ways_in())
        app = _by_path(ways, Idempotency(self._api, self._opened))
        return Guard(
            app, self._opened, host=self._host, hosts=self._hosts, console=self._has_console
        )

    @asynccontextmanager
    async def opened_to(self, app: App) -> AsyncIterator[Path | None]:
        """Admit callers to `app`; yields the file of the first token if one was created.

        Raises ConfigurationError if others could get in by a token that nobody chose to create.
        """
        access = Access(app.stores.tokens, app.new_id)
        if not is_loopback(self._host):
            await _see_on_purpose(access, self._host)
        made = await ensure_token(access, self._home)
        self._opened.app = app
        try:
            yield made
        finally:
            self._opened.close()

    def _ways_in(self) -> Starlette:
        entry = Entry(self._opened)
        both = ["GET", "HEAD", "POST"]
        return Starlette(
            routes=[
                Route(ENTER, entry.enter, methods=both),
                Route(LEAVE, entry.leave, methods=both),
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

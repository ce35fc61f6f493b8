"""The real API over an opened program, called as a given principal, without the guard."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import httpx
from fastapi import FastAPI
from pydantic import SecretStr
from starlette.types import ASGIApp, Receive, Scope, Send

from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.models import Agent
from core.domain.models.access import Principal, Role
from core.entrypoints.api.app import create_api
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.sessions import PRINCIPAL

EVERYTHING = Principal(token_id="1", name="kim", roles=frozenset(Role))
JSON = "application/json"
AGENTS = (
    Agent(id="a", tenant_id="t", name="A"),
    Agent(id="b", tenant_id="t", name="B"),
    Agent(id="c", tenant_id="u", name="C"),
)


class As:
    """Stores a principal where the guard would; None: nobody."""

    def __init__(self, app: ASGIApp, who: Principal | None) -> None:
        self._app, self._who = app, who

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on."""
        if self._who is not None and scope["type"] == "http":
            scope["state"] = {**scope.get("state", {}), PRINCIPAL: self._who}
        await self._app(scope, receive, send)


# Those not in use: building one takes a third of a second, for its OpenAPI document.
_built: list[FastAPI] = []


class Api:
    """Calls of the API, each as some principal."""

    def __init__(self, app: App, api: FastAPI) -> None:
        self.app = app
        self.api = api

    def client(self, who: Principal | None = EVERYTHING) -> httpx.AsyncClient:
        """Return a client that calls as `who`."""
        transport = httpx.ASGITransport(As(self.api, who), raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://api")

    async def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        who: Principal | None = EVERYTHING,
        **given: object,
    ) -> httpx.Response:
        """Call once; `body` goes as JSON."""
        async with self.client(who) as client:
            if body is not None:
                given |= {"content": json.dumps(body), "headers": {"Content-Type": JSON}}
            return await client.request(method, path, **given)  # type: ignore[arg-type]


def one_of(tenant_id: str | None, *roles: Role) -> Principal:
    """Return a principal of a tenant, with these roles or all."""
    return Principal(
        token_id="2", name="lee", tenant_id=tenant_id, roles=frozenset(roles or tuple(Role))
    )


def settings_of(database: str, home: Path, **given: object) -> Settings:
    """Return the settings of a worker on a test's own database, without a model."""
    return load_settings({"skill_worker_home": home, **given}, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )


@asynccontextmanager
async def opened_api(database: str, home: Path, **given: object) -> AsyncIterator[Api]:
    """Open the program on a database that contains some agents."""
    async with open_app(settings_of(database, home, **given)) as app:
        for agent in AGENTS:
            await app.stores.agents.save(agent)
        with built_api(app) as api:
            yield Api(app, api)


@contextmanager
def built_api(app: App) -> Iterator[FastAPI]:
    """Yield the API of an opened program, without its guard."""
    api = _built.pop() if _built else create_api(Opened())
    opened = api.state.opened = Opened()
    opened.app = app
    try:
        yield api
    finally:
        _built.append(api)

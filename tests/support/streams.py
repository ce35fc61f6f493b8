"""The API on a real socket, called as the tenant in a header, and its streams line by line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from core.adapters.embedded.http_server import run_server
from core.app.program import App
from core.domain.models.access import Principal, Role
from tests.support.api import built_api
from tests.support.waiting import AT_LAST


@dataclass
class Heard:
    """One event as received over the wire."""

    event: str = ""
    id: str = ""
    data: dict[str, Any] = field(default_factory=dict)


@asynccontextmanager
async def served(app: App, *, roles: tuple[Role, ...] = (Role.READ,)) -> AsyncIterator[str]:
    """Serve the API; the header `x-tenant` selects the token's tenant, without it all."""

    async def with_principal(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            tenant = dict(scope["headers"]).get(b"x-tenant", b"").decode() or None
            who = Principal(token_id="x", name="somebody", tenant_id=tenant, roles=frozenset(roles))
            scope["state"] = {**scope.get("state", {}), "principal": who}
        await api(scope, receive, send)

    with built_api(app) as api:
        async with run_server(with_principal) as url:
            yield url


@asynccontextmanager
async def listening(
    url: str, *, last: str | None = None, tenant: str | None = None
) -> AsyncIterator[AsyncIterator[Heard]]:
    """Open a stream, and yield its events."""
    headers = {"Last-Event-ID": last} if last is not None else {}
    headers |= {"x-tenant": tenant} if tenant else {}
    async with (
        httpx.AsyncClient(timeout=AT_LAST) as client,
        client.stream("GET", url, headers=headers) as answer,
    ):
        assert answer.status_code == 200, await answer.aread()
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _heard(answer)


async def _heard(answer: httpx.Response) -> AsyncIterator[Heard]:
    now = Heard()
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if not line and (now.event or now.id):
            yield now
            now = Heard()
        elif name == "event":
            now.event = value
        elif name == "id":
            now.id = value
        elif name == "data":
            now.data = json.loads(value)


async def take(stream: AsyncIterator[Heard], number: int) -> list[Heard]:
    """Return the next few events, within a minute."""
    async with asyncio.timeout(AT_LAST):
        return [await anext(stream) for _ in range(number)]

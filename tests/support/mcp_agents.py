"""What agents know, served over MCP on a real port, and clients that use it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx
from mcp import ClientSession, types
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette

from core.adapters.embedded.http_server import run_server
from core.app.program import App, open_app
from core.domain.models.access import Limits, Role
from core.domain.models.uses import OutcomeReport, Use
from core.domain.ports import NoUses
from core.entrypoints.api.serving import Serving
from core.entrypoints.auth import Access, Grant
from tests.support.api import AGENTS, settings_of

HOST = "127.0.0.1"
BEGIN = {
    "protocolVersion": types.LATEST_PROTOCOL_VERSION,
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@dataclass
class NotedUses(NoUses):
    """The port `Uses`, in memory."""

    uses: list[Use] = field(default_factory=list)
    outcomes: list[OutcomeReport] = field(default_factory=list)

    def note(self, uses: Sequence[Use]) -> None:
        """Note uses."""
        self.uses += uses

    async def report(self, outcome: OutcomeReport) -> Sequence[str]:
        """Note an outcome."""
        self.outcomes.append(outcome)
        return ()


@dataclass
class Knowing:
    """A server with the agents `a` and `b` of tenant `t`, and `c` of `u`."""

    app: App
    url: str
    noted: NotedUses

    async def token(self, grant: Grant) -> str:
        """Create a token; return its secret."""
        made = await Access(self.app.stores.tokens, self.app.new_id).add(grant)
        return made.secret.get_secret_value()

    async def of_agent(self, agent: str, tenant: str, *more: Role) -> str:
        """Create a token of an agent that reads."""
        name = self.app.new_id()
        return await self.token(
            Grant(name=name, tenant_id=tenant, agent_id=agent, roles=(Role.READ, *more))
        )

    @asynccontextmanager
    async def raw(self, token: str) -> AsyncIterator[httpx.AsyncClient]:
        """Open a plain HTTP client with a token."""
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
        }
        async with httpx.AsyncClient(headers=headers, base_url=self.url, timeout=60) as client:
            yield client


@asynccontextmanager
async def knowing(
    database: str,
    home: Path,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    **given: object,
) -> AsyncIterator[Knowing]:
    """Serve until the context is left; with `offline` the worker has the stand-in model."""
    offline = bool(given.pop("offline", False))
    settings = settings_of(database, home, **given)
    serving = Serving(host=HOST, hosts=(), home=home, mount=None, limits=limits)
    async with open_app(settings, model=offline, offline=offline) as opened:
        noted = NotedUses()
        app = replace(opened, uses=noted)
        async with serving.opened_to(app), run_server(serving.around(Starlette()), HOST) as url:
            for agent in AGENTS:
                await app.stores.agents.save(agent)
            yield Knowing(app, url, noted)


@dataclass
class Client:
    """A session of the official client, and what it was told."""

    session: ClientSession
    told: asyncio.Queue[types.ServerNotification]

    async def call(self, tool: str, **given: object) -> dict[str, object]:
        """Call a tool; return its answer, or the error in it."""
        answer = (await self.session.call_tool(tool, given)).structuredContent
        assert answer is not None
        return answer

    async def found(self, query: str) -> list[str]:
        """Return the texts of the memories found."""
        answer = await self.call("search_memories", query=query)
        items = answer["items"]
        assert isinstance(items, list)
        return [str(item["content"]) for item in items]

    async def changed(self, uri: str | None = None) -> None:
        """Wait until the client is told that a list has changed, or a resource."""
        while True:
            notice = (await self.told.get()).root
            if uri is None and isinstance(notice, types.ResourceListChangedNotification):
                return
            is_update = isinstance(notice, types.ResourceUpdatedNotification)
            if is_update and str(notice.params.uri) == uri:
                return

    async def next_changed(self) -> str:
        """Wait until the client is told that a resource has changed; return which."""
        while True:
            notice = (await self.told.get()).root
            if isinstance(notice, types.ResourceUpdatedNotification):
                return str(notice.params.uri)


@asynccontextmanager
async def client(url: str, token: str) -> AsyncIterator[Client]:
    """Connect the official client over streamable HTTP; it has been told of nothing yet."""
    told: asyncio.Queue[types.ServerNotification] = asyncio.Queue()

    async def hear(message: object) -> None:
        if isinstance(message, types.ServerNotification):
            told.put_nowait(message)

    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(f"{url}/mcp", http_client=http) as (reader, writer, _),
        ClientSession(reader, writer, message_handler=hear) as session,
    ):
        await session.initialize()
        yield Client(session, told)

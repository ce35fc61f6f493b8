"""MCP at `/mcp`, on the API's port: whose token it is says whose knowledge is used."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from core.app.program import App
from core.domain.errors import SkillWorkerError
from core.domain.models.access import Principal
from core.domain.models.audit import Via
from core.domain.tasks import end_tasks, over_all_tenants
from core.entrypoints.api.opened import Opened
from core.entrypoints.api.problems import answer_error
from core.entrypoints.api.sessions import PRINCIPAL
from core.entrypoints.mcp_knowledge.caller import Caller
from core.entrypoints.service.session import Session

if TYPE_CHECKING:  # its SDK is loaded with the first call
    from starlette.requests import Request

MCP = "/mcp"
_CALLER = "mcp_caller"  # where in `scope["state"]` the caller is
_SESSION = "mcp-session-id"


@dataclass(frozen=True)
class DefaultAgent:
    """Whose knowledge is used where a call names nobody."""

    agent_id: str | None = None
    tenant_id: str | None = None


class McpOfAgents:
    """An ASGI app behind the guard; the server is built at the first call.

    A token that is no agent's own names the agent: `?agent=A`, with `tenant` where it has none, or
    the headers `X-Agent` and `X-Tenant`; `user` or `X-User` is the end user that is served.
    """

    def __init__(self, opened: Opened, default: DefaultAgent = DefaultAgent()) -> None:
        self._opened, self._default = opened, default
        self._lock = asyncio.Lock()
        self._app: ASGIApp | None = None
        self._serving: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a call."""
        try:
            caller = self._caller(scope)
            whose, is_new = caller.session.principal, _SESSION not in Headers(scope=scope)
            if is_new:
                with caller.knowledge() as known:
                    await known.agent(caller.agent_id)
            serve = await self._server()
            leave = self._opened.limiter.session(whose.token_id) if is_new else _nothing
        except SkillWorkerError as error:
            await answer_error(error)(scope, receive, send)
            return
        from core.entrypoints.mcp_knowledge.server import until_its_end
        from core.entrypoints.mcp_knowledge.serving import owned

        state = {**scope.get("state", {}), _CALLER: caller}
        subject = "\0".join((caller.tenant_id or "", caller.agent_id or "", caller.user or ""))
        with until_its_end(leave):
            await serve(owned({**scope, "state": state}, whose.token_id, subject), receive, send)

    @asynccontextmanager
    async def opened_to(self) -> AsyncIterator[None]:
        """End the server together with the context, if it was built."""
        try:
            yield
        finally:
            serving, self._serving, self._app = self._serving, None, None
            if serving is not None:
                await end_tasks([serving])

    def _caller(self, scope: Scope) -> Caller:
        principal = scope["state"][PRINCIPAL]
        assert isinstance(principal, Principal)
        headers = Headers(scope=scope)
        query = parse_qs(scope["query_string"].decode("latin-1"))

        def named(name: str) -> str | None:
            given = query.get(name) or headers.getlist(f"x-{name}")
            return given[0] if given and given[0] else None

        session = Session(
            self._opened(),
            principal,
            about=scope.setdefault("state", {}),
            calls=self._opened.calls,
            via=Via.API,
        )
        return Caller(
            session,
            agent_id=named("agent") or principal.agent_id or self._default.agent_id,
            tenant_id=named("tenant") or principal.tenant_id or self._default.tenant_id,
            user=named("user"),
        )

    async def _server(self) -> ASGIApp:
        async with self._lock:
            if self._app is None:
                await asyncio.to_thread(import_module, "core.entrypoints.mcp_knowledge.serving")
                ready: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()
                # In a task of its own: the task that entered its task group has to leave it.
                with over_all_tenants():
                    serving = _serve(self._opened(), ready)
                    self._serving = asyncio.create_task(serving, name="mcp")
                self._app = await ready
            return self._app


def _nothing() -> None:
    """Do nothing: the session has begun before."""


async def _serve(app: App, ready: asyncio.Future[ASGIApp]) -> None:
    from core.entrypoints.mcp_knowledge.serving import over_http

    async with over_http(app, _of_request) as serve:
        ready.set_result(serve)
        await asyncio.get_running_loop().create_future()


def _of_request(request: Request | None) -> Caller:
    assert request is not None
    caller: Caller = request.scope["state"][_CALLER]
    return caller

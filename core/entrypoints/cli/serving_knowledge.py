"""What `serve knowledge` runs: the MCP server for agents, over stdio or on a port of its own."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.entrypoints.cli.options import who
from core.entrypoints.cli.output import talk

if TYPE_CHECKING:
    from core.app.settings import Settings


@dataclass(frozen=True)
class StdioAgent:
    """The agent whose knowledge one client uses, and what it may besides."""

    agent_id: str
    tenant_id: str | None = None
    user: str | None = None
    may_submit: bool = False


async def serve_stdio(settings: Settings, stop: asyncio.Event, whose: StdioAgent) -> None:
    """Serve one client. Raises NotFound, WrongCall if several tenants have such an agent."""
    from core.app import program
    from core.domain.models.access import Principal, Role
    from core.domain.models.audit import Via
    from core.entrypoints.call_record import CallRecord
    from core.entrypoints.cli.knowledge.tenants import known_agent
    from core.entrypoints.mcp_knowledge.caller import Caller
    from core.entrypoints.mcp_knowledge.serving import over_stdio
    from core.entrypoints.service.session import Session

    async with program.open_over_tenants(settings) as app:
        tenant = (await known_agent(app, whose.agent_id, whose.tenant_id)).tenant_id
        roles = (Role.READ, Role.SUBMIT) if whose.may_submit else (Role.READ,)
        principal = Principal(
            token_id="stdio",  # noqa: S106 - there is none
            name=who(),
            tenant_id=tenant,
            agent_id=whose.agent_id,
            roles=frozenset(roles),
        )
        calls = CallRecord()
        session = Session(app, principal, calls=calls, via=Via.CLI)
        caller = Caller(session, whose.agent_id, tenant, whose.user)
        async with calls.stored_in(app.stores.calls):
            await over_stdio(app, caller, stop)


async def serve_http(
    settings: Settings, stop: asyncio.Event, agent_id: str | None, tenant_id: str | None
) -> None:
    """Serve streamable HTTP at /mcp, to callers with a token. Raises ConfigurationError."""
    from core.app import bootstrap, program
    from core.app.config_file import load_config
    from core.entrypoints.api.mcp import DefaultAgent
    from core.entrypoints.api.serving import Serving

    serving = Serving(
        host=settings.health_host,
        hosts=settings.api_hosts.split(",") if settings.api_hosts else (),
        home=settings.skill_worker_home,
        mount=None,
        limits=load_config(settings).limits,
        agents=DefaultAgent(agent_id, tenant_id),
    )
    async with (
        bootstrap.serve_health(settings, stop, serving.around_agents) as served,
        program.open_app(settings, health=served.health) as app,
        serving.opened_to(app) as token_file,
    ):
        if token_file is not None:
            talk(f"A first token, for everything, is in {token_file}.")
        talk(f"MCP for agents: {served.url}/mcp")
        await stop.wait()

"""Whose knowledge is asked for: an agent within the tenant, and skills as others left them."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.errors import DependencyDown, NotFound
from core.domain.messages import Message
from core.domain.models import Agent
from core.entrypoints.service.session import Session


async def own_agent(session: Session, agent_id: str, tenant_id: str | None) -> Agent:
    """Return an agent of the tenant, or of any that the session may see. Raises NotFound."""
    agent = await session.own(session.stores.agents.get(agent_id), "agent", agent_id)
    if tenant_id not in {None, agent.tenant_id}:
        raise NotFound(Message("no.agent_of_tenant", tenant=tenant_id, agent=agent_id))
    return agent


async def follow_skills(session: Session, tenant_id: str | None) -> tuple[str, ...]:
    """Discover skills that others wrote, in one tenant or all that have agents; return warnings."""
    try:
        for tenant in await _tenants(session, tenant_id):
            await session.stores.search.refresh(tenant)
    except DependencyDown as error:
        return (Message("search.skills_stale", why=error.message),)
    return ()


async def _tenants(session: Session, tenant_id: str | None) -> Sequence[str]:
    if tenant_id is not None:
        return [tenant_id]
    return sorted({agent.tenant_id for agent in await session.stores.agents.list()})

"""Whose knowledge is asked for: an agent within the tenant, and skills as others left them."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.errors import DependencyDown, InvalidInput, NotFound
from core.domain.messages import Message
from core.domain.models import Agent
from core.entrypoints.service.session import Session


async def own_agent(session: Session, agent_id: str, tenant_id: str | None) -> Agent:
    """Return an agent of the tenant, or of the only one that the session may see it in.

    Raises NotFound; InvalidInput if several tenants have such an agent and none is named, and for
    the worker's own id, under which nobody can work.
    """
    tenant = session.tenant(tenant_id)
    if tenant is not None:
        return await session.own(session.stores.agents.get(tenant, agent_id), "agent", agent_id)
    found = await session.stores.agents.of_id(agent_id)
    if not found:
        raise NotFound(Message("no.thing", what=Message("thing.agent"), id=agent_id))
    if len(found) > 1:
        tenants = ", ".join(repr(agent.tenant_id) for agent in found)
        raise InvalidInput(
            Message("agents.of_several", id=agent_id, tenants=tenants),
            hint=Message("access.say_tenant"),
        )
    return found[0]


async def agent_in_use(session: Session, agent_id: str | None, tenant_id: str | None) -> Agent:
    """Return the agent whose knowledge is used: the principal itself, or else the one named.

    Raises NotFound on another agent's than the principal's own; InvalidInput if none is named.
    """
    own = session.principal.agent_id
    if own is not None and agent_id not in {None, own}:
        raise NotFound(Message("no.thing", what=Message("thing.agent"), id=agent_id))
    wanted = own or agent_id
    if wanted is None:
        raise InvalidInput(Message("access.agent_missing"), hint=Message("access.say_agent"))
    return await own_agent(session, wanted, tenant_id)


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

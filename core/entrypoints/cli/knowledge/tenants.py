"""Which tenant's knowledge a command is about, and discovery of skills that others wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.errors import DependencyDown, NotFound
from core.domain.messages import Message
from core.domain.models.feedback import is_reserved
from core.entrypoints.cli.exits import WrongCall
from core.entrypoints.cli.output import talk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.app.program import App
    from core.domain.models import Agent

_LISTED = 20


async def only_tenant(opened: App) -> str:
    """Return the only tenant there is. Raises WrongCall if there are none or several."""
    tenants = sorted({agent.tenant_id for agent in await opened.stores.agents.list()})
    if not tenants:
        raise WrongCall(Message("cli.no_tenant"), hint=Message("cli.hint_tenant"))
    if len(tenants) > 1:
        more = Message("edit.and_more", n=len(tenants) - _LISTED) if len(tenants) > _LISTED else ""
        raise WrongCall(
            Message("cli.several_tenants", tenants=", ".join(tenants[:_LISTED]), more=more),
            hint=Message("cli.hint_tenant"),
        )
    return tenants[0]


async def known_tenant(opened: App, tenant: str) -> str:
    """Return the tenant's id if anything of it is known: an agent, feedback, knowledge.

    Raises NotFound: a mistyped name must not look like an empty tenant.
    """
    from core.domain.models import FeedbackFilter

    if await opened.stores.agents.list(tenant):
        return tenant
    its = FeedbackFilter(tenant_id=tenant)
    feedback, _ = await opened.stores.reader.feedback(its, limit=1, cursor=None)
    if not feedback:
        await refresh_skills(opened, [tenant])
        if not await opened.stores.knowledge.list(tenant_id=tenant, agent_id=None, kind=None):
            raise NotFound(Message("cli.tenant_unknown", tenant=tenant), hint=Message("see.agents"))
    return tenant


async def see_tenant(opened: App, tenant: str | None) -> None:
    """Raise NotFound if a tenant is named of which nothing is known."""
    if tenant is not None:
        await known_tenant(opened, tenant)


async def see_feedback(opened: App, feedback_id: str | None) -> None:
    """Raise NotFound if feedback is named that is not there."""
    if feedback_id is not None:
        await opened.stores.inbox.get(feedback_id)


async def known_owner(opened: App, tenant: str | None, agent_id: str | None) -> str | None:
    """Return the tenant that is meant: the one named, else the agent's; None if neither is named.

    Raises NotFound if one does not exist, WrongCall if several tenants have such an agent.
    """
    if tenant is not None:
        await known_tenant(opened, tenant)
    if agent_id is None or is_reserved(agent_id):
        return tenant
    return (await known_agent(opened, agent_id, tenant)).tenant_id


async def known_agent(opened: App, agent_id: str, tenant: str | None) -> Agent:
    """Return the agent of that id, the tenant's if one is named.

    Raises NotFound, WrongCall if no tenant is named and several have such an agent; InvalidInput
    for the worker's own id, under which nobody can work.
    """
    found = {agent.tenant_id: agent for agent in await opened.stores.agents.of_id(agent_id)}
    if not found:
        raise NotFound(Message("no.agent", id=agent_id), hint=Message("see.agents"))
    if tenant is None and len(found) > 1:
        tenants = ", ".join(map(repr, found))
        raise WrongCall(
            Message("agents.of_several", id=agent_id, tenants=tenants),
            hint=Message("cli.hint_tenant"),
        )
    if tenant is not None and tenant not in found:
        raise NotFound(
            Message("no.agent_of_tenant", tenant=tenant, agent=agent_id),
            hint=Message("cli.hint_agent_tenant", tenant=", ".join(map(repr, found))),
        )
    return found[tenant] if tenant is not None else next(iter(found.values()))


async def known_or_only_agent(opened: App, agent_id: str | None, tenant: str | None) -> Agent:
    """Return the agent of that id; without one the only agent there is, of the tenant if named.

    Raises NotFound, WrongCall if there are several.
    """
    if agent_id is not None:
        return await known_agent(opened, agent_id, tenant)
    if tenant is not None:
        await known_tenant(opened, tenant)
    agents = await opened.stores.agents.list(tenant)
    if not agents:
        raise NotFound(Message("cli.no_agents"), hint=Message("see.agents"))
    if len(agents) > 1:
        more = Message("edit.and_more", n=len(agents) - _LISTED) if len(agents) > _LISTED else ""
        several = len({agent.tenant_id for agent in agents}) > 1
        listed = ", ".join(
            f"{agent.id} ({agent.tenant_id})" if several else agent.id for agent in agents[:_LISTED]
        )
        raise WrongCall(
            Message("cli.several_agents", agents=listed, more=more),
            hint=Message("cli.hint_agent"),
        )
    return agents[0]


async def tenant_of(opened: App, tenant: str | None, agent_id: str | None) -> str | None:
    """Return the tenant that is named, else the one that has such an agent, if any.

    Raises WrongCall if several have.
    """
    if tenant is not None or agent_id is None or not await opened.stores.agents.of_id(agent_id):
        return tenant
    return (await known_agent(opened, agent_id, None)).tenant_id


async def refresh_skills(opened: App, tenants: Sequence[str]) -> None:
    """Discover skills that others wrote; warn if the skill API is down."""
    try:
        for tenant_id in tenants:
            await opened.stores.search.refresh(tenant_id)
    except DependencyDown as error:
        talk(f"warning: skills may be stale: {error.message}")


async def tenants_of(opened: App, tenant: str | None) -> Sequence[str]:
    """Return the named tenant, or those of all agents."""
    if tenant:
        return [tenant]
    return sorted({agent.tenant_id for agent in await opened.stores.agents.list()})


async def follow_skills(opened: App, tenant: str | None) -> None:
    """Discover skills that others wrote, in one tenant or in all that have agents."""
    await refresh_skills(opened, await tenants_of(opened, tenant))

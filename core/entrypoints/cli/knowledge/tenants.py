"""Which tenant's knowledge a command is about, and discovery of skills that others wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.errors import DependencyDown, InvalidInput, NotFound
from core.domain.messages import Message
from core.entrypoints.cli.output import talk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.app.program import App

_LISTED = 20


async def only_tenant(opened: App, agent_id: str | None = None) -> str:
    """Return the tenant of an agent, or the only one there is. Raises InvalidInput, NotFound."""
    if agent_id is not None:
        return (await opened.stores.agents.get(agent_id)).tenant_id
    tenants = sorted({agent.tenant_id for agent in await opened.stores.agents.list()})
    if not tenants:
        raise InvalidInput(Message("cli.no_tenant"), hint=Message("cli.hint_tenant"))
    if len(tenants) > 1:
        more = Message("edit.and_more", n=len(tenants) - _LISTED) if len(tenants) > _LISTED else ""
        raise InvalidInput(
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


async def known_owner(opened: App, tenant: str | None, agent_id: str | None) -> None:
    """Raise NotFound if the tenant or agent does not exist, or the agent is not the tenant's."""
    if tenant is not None:
        await known_tenant(opened, tenant)
    if agent_id is None:
        return
    agent = await opened.stores.agents.get(agent_id)
    if tenant not in {None, agent.tenant_id}:
        raise NotFound(
            Message("no.agent_of_tenant", tenant=tenant, agent=agent_id),
            hint=Message("cli.hint_agent_tenant", tenant=agent.tenant_id),
        )


async def refresh_skills(opened: App, tenants: Sequence[str]) -> None:
    """Discover skills that others wrote; warn if the skill API is down."""
    try:
        for tenant_id in tenants:
            await opened.stores.search.refresh(tenant_id)
    except DependencyDown as error:
        talk(f"warning: skills may be stale: {error.message}")


async def tenants_of(opened: App, tenant: str | None, agent_id: str | None) -> Sequence[str]:
    """Return the named tenant, or those of all agents, or of one."""
    if tenant:
        return [tenant]
    agents = await opened.stores.agents.list()
    return sorted({a.tenant_id for a in agents if agent_id in {None, a.id}})


async def follow_skills(opened: App, tenant: str | None) -> None:
    """Discover skills that others wrote, in one tenant or in all that have agents."""
    await refresh_skills(opened, await tenants_of(opened, tenant, None))

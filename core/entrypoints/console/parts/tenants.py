"""Choosing a tenant, for those who may see several."""

from __future__ import annotations

from markupsafe import Markup

from core.domain.errors import NotFound
from core.domain.messages import Message
from core.entrypoints.console.parts.lists import chip
from core.entrypoints.console.parts.markup import address, el
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.agents import AgentsService


async def tenant_of(visit: Visit) -> str | None:
    """Return the tenant of the visit: one's own, that of the URL, or the only one there is."""
    chosen = await named_tenant(visit)
    if chosen is not None:
        return chosen
    known = await AgentsService(visit.session).tenants()
    return known[0] if len(known) == 1 else None


async def named_tenant(visit: Visit) -> str | None:
    """Return one's own tenant, or that of the URL. Raises NotFound on an unknown one."""
    chosen = visit.session.tenant(visit.query("tenant"))
    if chosen is None or visit.session.principal.tenant_id is not None:
        return chosen
    if chosen not in await AgentsService(visit.session).tenants():
        raise NotFound(Message("console.no_tenant", tenant=chosen))
    return chosen


async def tenant_chips(visit: Visit, path: str, chosen: str | None) -> Markup | None:
    """Return links to each tenant; None if there is no choice."""
    if visit.session.principal.tenant_id is not None:
        return None
    known = await AgentsService(visit.session).tenants()
    if len(known) < 2:
        return None
    links = [chip(tenant, address(path, tenant=tenant), here=tenant == chosen) for tenant in known]
    return el("nav", *links, class_="chips", aria_label=visit.say("common.tenant"))

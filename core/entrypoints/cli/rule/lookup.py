"""A learnt decision table by its name, which several agents and tenants may share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.domain.errors import InvalidInput, NotFound
from core.domain.hashing import name_key
from core.domain.messages import Message, joined
from core.domain.models import Kind, KnowledgeItem
from core.domain.ports import Knowledge
from core.entrypoints.cli.knowledge.tenants import tenant_of

if TYPE_CHECKING:
    from core.app.program import App


async def named_rule(
    opened: App, name: str, tenant_id: str | None, agent_id: str | None
) -> KnowledgeItem:
    """Return the one table of that name; raises as `find_rule`, WrongCall as `tenant_of`."""
    tenant = await tenant_of(opened, tenant_id, agent_id)
    return await find_rule(opened.stores.knowledge, name, tenant, agent_id)


async def find_rule(
    knowledge: Knowledge, name: str, tenant_id: str | None, agent_id: str | None
) -> KnowledgeItem:
    """Return the one table of that name; tenant and agent narrow the choice if given.

    Raises NotFound, and InvalidInput that lists whose tables have that name.
    """
    listed = await knowledge.list(tenant_id=tenant_id, agent_id=agent_id, kind=Kind.DMN_RULE)
    found = [item for item in listed if name_key(item.name) == name_key(name)]
    if not found:
        raise NotFound(
            Message("rule.none_named", name=name, whose=_whose(tenant_id, agent_id)),
            hint=Message("see.rules"),
        )
    if len(found) > 1:
        owners = sorted(_of_both(item.agent_id, item.tenant_id) for item in found)
        raise InvalidInput(
            Message("rule.several_named", name=name, owners=joined(owners, ", ")),
            hint=Message("rule.hint_whose"),
        )
    return found[0]


def _whose(tenant_id: str | None, agent_id: str | None) -> str:
    if tenant_id is not None and agent_id is not None:
        owner = _of_both(agent_id, tenant_id)
    elif tenant_id is not None:
        owner = Message("rule.tenant", tenant=tenant_id)
    elif agent_id is not None:
        owner = Message("rule.agent", agent=agent_id)
    else:
        return ""
    return Message("rule.for", owner=owner)


def _of_both(agent_id: str, tenant_id: str) -> Message:
    return Message("rule.of_both", agent=agent_id, tenant=tenant_id)

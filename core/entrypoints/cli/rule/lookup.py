"""A learnt decision table by its name, which several agents and tenants may share."""

from __future__ import annotations

from core.domain.errors import InvalidInput, NotFound
from core.domain.hashing import name_key
from core.domain.models import Kind, KnowledgeItem
from core.domain.ports import Knowledge


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
            f"no decision table is named {name!r}{_whose(tenant_id, agent_id)}",
            hint="see `skill-worker knowledge list --kind DMN_RULE`",
        )
    if len(found) > 1:
        owners = sorted(f"agent {item.agent_id!r} of tenant {item.tenant_id!r}" for item in found)
        raise InvalidInput(
            f"several tables are named {name!r}: of {', '.join(owners)}",
            hint="say whose with --agent and --tenant",
        )
    return found[0]


def _whose(tenant_id: str | None, agent_id: str | None) -> str:
    said = [f"agent {agent_id!r}"] if agent_id is not None else []
    said += [f"tenant {tenant_id!r}"] if tenant_id is not None else []
    return f" for {' of '.join(said)}" if said else ""

"""All that an agent knows now, as far as it may be shown to whom the files are for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from core.domain.models import Agent, Bundle, Kind, KnowledgeItem, Scope
from core.domain.ports import Agents, Knowledge, SkillStore
from core.skills.library import look_into


@dataclass(frozen=True)
class Known:
    """An agent's memories, decision tables and skills; `versions` are those of its skills.

    `unreadable` are the skills that are left out, each with the reason.
    """

    agent: Agent
    memories: Sequence[KnowledgeItem] = ()
    tables: Sequence[KnowledgeItem] = ()
    skills: Sequence[Bundle] = ()
    versions: Mapping[str, int] = field(default_factory=dict)
    unreadable: Mapping[str, str] = field(default_factory=dict)

    @property
    def ends(self) -> datetime | None:
        """When the first of the memories is over."""
        return min((m.valid_until for m in self.memories if m.valid_until), default=None)


async def known_to(
    agents: Agents, knowledge: Knowledge, skills: SkillStore, whose: Agent, user: str | None
) -> Known:
    """Return what an agent knows: its own and what is for its whole tenant, nothing that is over.

    What is for one end user is there only with that `user`. Raises NotFound, DependencyDown.
    """
    agent = await agents.get(whose.tenant_id, whose.id)
    tenant = agent.tenant_id
    memories = await knowledge.list(tenant_id=tenant, agent_id=None, kind=Kind.MEMORY)
    tables = await knowledge.list(tenant_id=tenant, agent_id=agent.id, kind=Kind.DMN_RULE)
    listed = await knowledge.list(tenant_id=tenant, agent_id=agent.id, kind=Kind.SKILL)
    read = await look_into(skills, tenant, agent.skills, lambda bundle: bundle)
    return Known(
        agent=agent,
        memories=[item for item in memories if _is_for(item, agent, user)],
        tables=tables,
        skills=[*read.seen.values()],
        versions={item.id: item.version for item in listed},
        unreadable=read.unreadable,
    )


def _is_for(item: KnowledgeItem, agent: Agent, user: str | None) -> bool:
    is_shared = item.scope is Scope.TENANT
    return (is_shared or item.agent_id == agent.id) and item.user in {None, user}

"""Agents' lists of skills, as people see and edit them, and deletion from all, by the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models import (
    Agent,
    ListEdit,
    Operation,
    Origin,
    Receipt,
    SkillListRequest,
    SkillRequest,
    SubmitContext,
)
from core.domain.models.views import ListedSkill
from core.domain.ports import Agents, Gate, NewId, SkillStore


@dataclass(frozen=True, kw_only=True)
class SkillLists:
    """Read and edit lists; with a dry-run gate, an edit only shows its effect."""

    agents: Agents
    skills: SkillStore
    gate: Gate
    new_id: NewId

    async def of(self, agent: Agent) -> Sequence[ListedSkill]:
        """Return what an agent lists, by name, each with the other agents that list it too."""
        others = [a for a in await self.agents.list(agent.tenant_id) if a.id != agent.id]
        return [
            ListedSkill(
                name=name, shared_with=tuple(other.id for other in others if name in other.skills)
            )
            for name in agent.skills
        ]

    async def delete_for_all(self, tenant_id: str, name: str, by: str = "") -> Receipt:
        """Ask to delete a skill for all agents, which waits for a person if any lists it.

        `by` is who asks. Raises NotFound if there is no such skill.
        """
        await require_skill(self.skills, name, tenant_id)
        asked = Message("skill.deletion_by", name=by) if by else Message("skill.deletion")
        request = SkillRequest(
            operation=Operation.DELETE, target_id=name, for_all=True, reason=asked
        )
        # Of no agent: so all that list it are named, and none is spared.
        context = SubmitContext(
            key=f"delete:{self.new_id()}", tenant_id=tenant_id, agent_id="", origin=Origin.PERSON
        )
        return await self.gate.submit(request, context)

    async def edit(
        self,
        agent: Agent,
        edit: ListEdit,
        names: Sequence[str],
        by: str = "",
        *,
        reason: str = "",
    ) -> Receipt:
        """Put skills on an agent's list, take them off, or make them the list.

        `by` is who asks, which is the `reason` unless there is another.
        """
        asked = Message("skills.edited_by", name=by) if by else Message("skills.edited")
        request = SkillListRequest(
            target_id=agent.id,
            skill_ids=tuple(dict.fromkeys(names)),
            edit=edit,
            reason=reason or asked,
        )
        context = SubmitContext(
            key=f"list:{self.new_id()}",
            tenant_id=agent.tenant_id,
            agent_id=agent.id,
            origin=Origin.PERSON,
        )
        return await self.gate.submit(request, context)


async def require_skill(skills: SkillStore, name: str, tenant_id: str) -> None:
    """Raise NotFound unless a tenant has a skill of this name."""
    if await skills.read(name, tenant_id) is None:
        raise NotFound(Message("no.skill", name=name), hint=Message("see.skill_names"))

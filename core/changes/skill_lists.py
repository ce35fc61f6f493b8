"""Agents' lists of skills, as people look at them and edit them, through the gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.messages import Message
from core.domain.models import Agent, ListEdit, Origin, Receipt, SkillListRequest, SubmitContext
from core.domain.models.views import ListedSkill
from core.domain.ports import Agents, Gate, NewId


@dataclass(frozen=True, kw_only=True)
class SkillLists:
    """Read and edit lists; with a dry-run gate, an edit only shows its effect."""

    agents: Agents
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

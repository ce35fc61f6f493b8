"""Changes of an agent's list of skills: attach skills that others have learnt."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.errors import NotFound, Refused
from core.domain.hashing import state_hash
from core.domain.messages import Message
from core.domain.models import (
    Agent,
    AttachRequest,
    Change,
    ChangeRequest,
    Kind,
    Operation,
    Prepared,
    Receipt,
    Snapshot,
    SubmitContext,
)
from core.domain.ports import Agents, SkillStore, UnitOfWork
from core.learning_committers.base import CommitDeps, split_names
from core.learning_committers.skill_folders import DescriptionsBudget, SkillLimits


async def attach_skills_to_agent(
    agent_id: str, skill_ids: str, reason: str = "", *, deps: CommitDeps
) -> Receipt:
    """Submit the addition of existing skills (comma-separated names) to the agent's list."""
    request = AttachRequest(target_id=agent_id, skill_ids=split_names(skill_ids), reason=reason)
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))


class AgentSkillsCommitter:
    """Prepare additions to an agent's list; the state is one name per line."""

    def __init__(self, agents: Agents, skills: SkillStore, *, limits: SkillLimits) -> None:
        self._agents = agents
        self._skills = skills
        self._budget = DescriptionsBudget(agents, skills, limits.descriptions_chars)

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        assert isinstance(request, AttachRequest)
        if not request.skill_ids:
            raise Refused(Message("skills.none_named"), hint=Message("skills.give_ids"))
        agent = await self._agents.get(context.tenant_id, context.agent_id)
        for name in request.skill_ids:
            if await self._skills.read(name, context.tenant_id) is None:
                raise NotFound(Message("no.skill", name=name), hint=Message("see.skill_names"))
        before = _state(agent)
        after = _state(agent.model_copy(update={"skills": (*agent.skills, *request.skill_ids)}))
        return Prepared(
            kind=Kind.AGENT_SKILLS,
            target_id=agent.id,
            target_name=agent.name,
            operation=Operation.UPDATE,
            before=before,
            after=after,
            base_hash=state_hash(before),
            warnings=await self._budget.warnings(
                agent.id, context.tenant_id, added=request.skill_ids
            ),
        )

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Sequence[str]:
        """Accept any list."""
        del prepared, context
        return ()

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Return the current list, None if the tenant has no such agent."""
        try:
            return _state(await self._agents.get(tenant_id, target_id))
        except NotFound:
            return None

    async def apply(self, change: Change) -> None:
        """Do nothing: the list is in our database and is set by `record`."""

    async def record(self, change: Change, unit: UnitOfWork) -> None:
        """Set the list. Raises Stale."""
        await unit.set_agent_skills(change)


def _state(agent: Agent) -> Snapshot:
    return Snapshot(content="\n".join(sorted(set(agent.skills))), name=agent.name)

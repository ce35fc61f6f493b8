"""Changes of an agent's list of skills: put on it what others have learnt, or take it off."""

from __future__ import annotations

from core.domain.errors import NotFound, Refused
from core.domain.messages import Message
from core.domain.models import (
    Agent,
    Change,
    ChangeRequest,
    ListEdit,
    Origin,
    Prepared,
    Receipt,
    SkillListRequest,
    Snapshot,
    SubmitContext,
)
from core.domain.ports import Agents, SkillStore, UnitOfWork
from core.learning_committers.base import CommitDeps, list_change, list_state, split_names
from core.learning_committers.skill_folders import DescriptionsBudget, SkillLimits


async def attach_skills_to_agent(
    agent_id: str, skill_ids: str, reason: str = "", *, deps: CommitDeps
) -> Receipt:
    """Submit the addition of existing skills (comma-separated names) to the agent's list."""
    return await _submit(agent_id, ListEdit.ADD, split_names(skill_ids), reason, deps)


async def detach_skills_from_agent(
    agent_id: str, skill_ids: str, reason: str = "", *, deps: CommitDeps
) -> Receipt:
    """Submit the removal of skills (comma-separated names) from the agent's list."""
    return await _submit(agent_id, ListEdit.REMOVE, split_names(skill_ids), reason, deps)


async def _submit(
    agent_id: str, edit: ListEdit, names: tuple[str, ...], reason: str, deps: CommitDeps
) -> Receipt:
    request = SkillListRequest(target_id=agent_id, skill_ids=names, edit=edit, reason=reason)
    return await deps.gate.submit(request, deps.context.model_copy(update={"agent_id": agent_id}))


class AgentSkillsCommitter:
    """Prepare edits of an agent's list."""

    def __init__(self, agents: Agents, skills: SkillStore, *, limits: SkillLimits) -> None:
        self._agents = agents
        self._skills = skills
        self._budget = DescriptionsBudget(agents, skills, limits.descriptions_chars)

    async def prepare(self, request: ChangeRequest, context: SubmitContext) -> Prepared:
        assert isinstance(request, SkillListRequest)
        if not request.skill_ids and request.edit is not ListEdit.SET:
            raise Refused(Message("skills.none_named"), hint=Message("skills.give_ids"))
        agent = await self._agents.get(context.tenant_id, context.agent_id)
        names = _edited(agent, request)
        added, removed = names - set(agent.skills), set(agent.skills) - names
        # What is on the list may stay there, though somebody else has deleted the skill.
        gone = await self._gone(sorted(added), context.tenant_id)
        if gone:
            is_person = context.origin is Origin.PERSON
            hint = Message("see.skills") if is_person else Message("see.skill_names")
            raise NotFound(Message("no.skill", name=gone[0]), hint=hint)
        warnings = await self._budget.warnings(
            agent.id, context.tenant_id, added=added, removed=removed
        )
        return list_change(agent, names).model_copy(update={"warnings": warnings})

    async def vet(self, prepared: Prepared, context: SubmitContext) -> Prepared:
        """Refuse to put skills back on a list that are no longer there."""
        added = sorted(_names(prepared.after) - _names(prepared.before))
        gone = await self._gone(added, context.tenant_id)
        if gone:
            raise Refused(
                Message("skills.gone", names=", ".join(gone)), hint=Message("skills.restore_first")
            )
        return prepared

    async def current(self, tenant_id: str, target_id: str) -> Snapshot | None:
        """Return the current list, None if the tenant has no such agent."""
        try:
            return list_state(await self._agents.get(tenant_id, target_id))
        except NotFound:
            return None

    async def apply(self, change: Change) -> None:
        """Do nothing: the list is in our database and is set by `record`."""

    async def record(self, change: Change, unit: UnitOfWork) -> None:
        """Set the list. Raises Stale."""
        await unit.set_agent_skills(change)

    async def _gone(self, names: list[str], tenant_id: str) -> list[str]:
        """Return those of the skills that the tenant does not have."""
        return [name for name in names if await self._skills.read(name, tenant_id) is None]


def _edited(agent: Agent, request: SkillListRequest) -> set[str]:
    """Return the list as requested. Raises Refused if what is to be taken off is not on it."""
    listed, named = set(agent.skills), set(request.skill_ids)
    if request.edit is ListEdit.SET:
        return named
    if request.edit is ListEdit.ADD:
        return listed | named
    unlisted = [name for name in request.skill_ids if name not in listed]
    if unlisted:
        has = ", ".join(sorted(listed))
        raise Refused(
            Message("skills.not_listed", agent=agent.id, names=", ".join(unlisted)),
            hint=Message("skills.on_list", names=has) if has else Message("skills.empty_list"),
        )
    return listed - named


def _names(state: Snapshot | None) -> set[str]:
    return set(state.content.splitlines()) if state else set()

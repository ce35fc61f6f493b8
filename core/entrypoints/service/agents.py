"""Agents, as people manage them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.app.agent_setup import set_up_new_agents
from core.domain.errors import InvalidInput, NotFound
from core.domain.input_formats.agents import checked_agent
from core.domain.messages import Message
from core.domain.models import Agent, ListEdit, Page, Receipt
from core.domain.models.access import Role
from core.domain.models.base import Model
from core.domain.models.views import ListedSkill
from core.domain.paging import decode_parts, encode_parts, query_digest
from core.entrypoints.service.owners import own_agent
from core.entrypoints.service.session import Session, acting


class AgentFilter(Model):
    """Which agents to list."""

    tenant_id: str | None = None


@dataclass(frozen=True)
class AgentsService:
    """Every method raises Forbidden without its role; another tenant's agent is NotFound."""

    session: Session

    async def page(
        self, wanted: AgentFilter, *, limit: int, cursor: str | None = None
    ) -> Page[Agent]:
        """Return agents by id and tenant (code points). Raises InvalidInput on another's cursor."""
        self.session.require(Role.READ)
        tenant = self.session.tenant(wanted.tenant_id)
        digest = query_digest("agents", AgentFilter(tenant_id=tenant))
        after = tuple(decode_parts(cursor, digest, 2)) if cursor else ("", "")
        listed = await self.session.stores.agents.list(tenant)
        agents = [agent for agent in listed if (agent.id, agent.tenant_id) > after]
        page = agents[:limit]
        last = page[-1] if len(agents) > limit else None
        following = encode_parts((last.id, last.tenant_id), digest) if last else None
        return Page(items=tuple(page), next=following)

    async def names(self) -> Mapping[tuple[str, str], str]:
        """Return the names of all agents that the principal may see, by tenant and id."""
        if Role.READ not in self.session.principal.roles:
            return {}
        agents = await self.session.stores.agents.list(self.session.principal.tenant_id)
        return {(agent.tenant_id, agent.id): agent.name for agent in agents}

    async def tenants(self) -> Sequence[str]:
        """Return the tenants that have agents and that the principal may see."""
        self.session.require(Role.READ)
        agents = await self.session.stores.agents.list(self.session.principal.tenant_id)
        return sorted({agent.tenant_id for agent in agents})

    async def get(self, agent_id: str, tenant_id: str | None = None) -> Agent:
        """Return one agent. Raises NotFound; InvalidInput if it is several tenants' id."""
        self.session.require(Role.READ)
        return await own_agent(self.session, agent_id, tenant_id)

    async def skills(self, agent_id: str, tenant_id: str | None = None) -> Sequence[ListedSkill]:
        """Return what an agent lists, by name, and who else lists it. Raises NotFound."""
        self.session.require(Role.READ)
        agent = await own_agent(self.session, agent_id, tenant_id)
        return await self.session.app.skill_lists.of(agent)

    async def skill(self, agent_id: str, name: str, tenant_id: str | None = None) -> ListedSkill:
        """Return one skill on an agent's list, and who else lists it. Raises NotFound."""
        for listed in await self.skills(agent_id, tenant_id):
            if listed.name == name:
                return listed
        raise NotFound(
            Message("skills.not_listed", agent=agent_id, names=name), hint=Message("see.skills")
        )

    async def having(self, skill: str, tenant_id: str) -> Sequence[Agent]:
        """Return the tenant's agents that list a skill, by id."""
        self.session.require(Role.READ)
        return await self.session.stores.agents.having(self.session.one_tenant(tenant_id), skill)

    @acting
    async def attach(
        self, agent_id: str, skill: str, tenant_id: str | None = None, *, dry_run: bool = False
    ) -> Receipt:
        """Put a skill on an agent's list. Raises NotFound if there is no such agent or skill."""
        receipt = await self._edit(agent_id, tenant_id, ListEdit.ADD, (skill,), dry_run)
        return _found(receipt)

    @acting
    async def detach(
        self, agent_id: str, skill: str, tenant_id: str | None = None, *, dry_run: bool = False
    ) -> Receipt:
        """Take a skill off an agent's list. Raises NotFound if it is not on it."""
        receipt = await self._edit(agent_id, tenant_id, ListEdit.REMOVE, (skill,), dry_run)
        return _found(receipt)

    @acting
    async def set_skills(
        self,
        agent_id: str,
        skills: Sequence[str],
        tenant_id: str | None = None,
        *,
        dry_run: bool = False,
    ) -> Receipt:
        """Make skills an agent's list. Raises NotFound, InvalidInput if one does not exist."""
        receipt = await self._edit(agent_id, tenant_id, ListEdit.SET, skills, dry_run)
        if not receipt.status.is_outcome:
            raise InvalidInput(receipt.message)
        return receipt

    @acting
    async def delete_for_all(
        self, skill: str, tenant_id: str | None = None, *, dry_run: bool = False
    ) -> Receipt:
        """Ask to delete a skill for all agents, which a person decides. Raises NotFound."""
        self.session.require(Role.REVIEW)
        tenant = self.session.one_tenant(tenant_id)
        app = self.session.app.as_dry_run() if dry_run else self.session.app
        by = self.session.principal.name
        return await app.skill_lists.delete_for_all(tenant, skill, by)

    async def _edit(
        self,
        agent_id: str,
        tenant_id: str | None,
        edit: ListEdit,
        skills: Sequence[str],
        dry_run: bool,
    ) -> Receipt:
        self.session.require(Role.REVIEW)
        agent = await own_agent(self.session, agent_id, tenant_id)
        app = self.session.app.as_dry_run() if dry_run else self.session.app
        return await app.skill_lists.edit(agent, edit, skills, self.session.principal.name)

    @acting
    async def save(self, agent: Agent, tenant_id: str | None) -> tuple[Agent, bool]:
        """Add or change an agent; True if it is new. Its list of skills stays as it is.

        Without `tenant_id` it is the principal's own. Raises InvalidInput.
        """
        self.session.require(Role.OPERATE)
        tenant = self.session.one_tenant(tenant_id)
        given = checked_agent({**agent.model_dump(), "tenant_id": tenant, "skills": ()})
        app = self.session.app
        is_new = await app.stores.agents.save(given)
        await set_up_new_agents(app.stores.agents, app.stores.inbox)
        return await app.stores.agents.get(tenant, given.id), is_new


def _found(receipt: Receipt) -> Receipt:
    """Return the receipt of an edit of one skill: it is refused only where there is none."""
    if not receipt.status.is_outcome:
        raise NotFound(receipt.message)
    return receipt

"""Agents over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from core.domain.models import Agent, Page, Receipt
from core.domain.models.base import Model
from core.domain.models.views import ListedSkill
from core.entrypoints.api.paging import SEEN, Cursor, Limit, Name, TenantId
from core.entrypoints.api.sessions import AgentsServiceDep
from core.entrypoints.service.agents import AgentFilter

router = APIRouter(prefix="/agents", tags=["agents"])
_ID = "Id of the agent, unique within its tenant."
SkillPath = Annotated[str, Path(min_length=1, max_length=200, description="Name of the skill.")]
AgentPath = Annotated[str, Path(min_length=1, max_length=200, pattern=SEEN, description=_ID)]


class AgentIn(Model):
    """What an agent is. The skills it has are changed by what it learns, not here."""

    tenant_id: Name | None = Field(
        default=None, description="Whose it is; without it, the token's tenant."
    )
    name: Name = Field(description="The name people know it by.")
    role: str = Field(default="", description="What it is.")
    goal: str = Field(default="", description="What it is for.")
    persona: str = Field(default="", description="How it speaks.")


class SkillNames(Model):
    """The skills that are to be on the list. With `dry_run`, only what would be is said."""

    skills: tuple[Name, ...] = Field(max_length=1000)
    dry_run: bool = False


@router.get("")
async def list_agents(
    service: AgentsServiceDep, tenant_id: TenantId = None, limit: Limit = 50, cursor: Cursor = None
) -> Page[Agent]:
    """List the agents that learn, by id."""
    return await service.page(AgentFilter(tenant_id=tenant_id), limit=limit, cursor=cursor)


@router.get("/{agent_id:path}/skills")
async def list_agent_skills(
    agent_id: AgentPath, service: AgentsServiceDep, tenant_id: TenantId = None
) -> Page[ListedSkill]:
    """The skills on an agent's list, by name, each with the other agents that list it too."""
    return Page(items=tuple(await service.skills(agent_id, tenant_id)), next=None)


@router.put("/{agent_id:path}/skills")
async def set_agent_skills(
    agent_id: AgentPath, wanted: SkillNames, service: AgentsServiceDep, tenant_id: TenantId = None
) -> Receipt:
    """Make these an agent's list of skills; the review policy may hold the change."""
    return await service.set_skills(agent_id, wanted.skills, tenant_id, dry_run=wanted.dry_run)


@router.get("/{agent_id:path}/skills/{name}")
async def get_agent_skill(
    agent_id: AgentPath, name: SkillPath, service: AgentsServiceDep, tenant_id: TenantId = None
) -> ListedSkill:
    """One skill on an agent's list, with the other agents that list it too."""
    return await service.skill(agent_id, name, tenant_id)


@router.put("/{agent_id:path}/skills/{name}")
async def attach_skill(
    agent_id: AgentPath, name: SkillPath, service: AgentsServiceDep, tenant_id: TenantId = None
) -> Receipt:
    """Put a skill on an agent's list; the review policy may hold the change."""
    return await service.attach(agent_id, name, tenant_id)


@router.delete("/{agent_id:path}/skills/{name}")
async def detach_skill(
    agent_id: AgentPath, name: SkillPath, service: AgentsServiceDep, tenant_id: TenantId = None
) -> Receipt:
    """Take a skill off an agent's list; the skill itself stays, and so do other agents' lists."""
    return await service.detach(agent_id, name, tenant_id)


# Last: an id may contain slashes, and would take the paths above.
@router.get("/{agent_id:path}")
async def get_agent(
    agent_id: AgentPath, service: AgentsServiceDep, tenant_id: TenantId = None
) -> Agent:
    """One agent; `tenant_id` says whose, where several tenants have one of that id."""
    return await service.get(agent_id, tenant_id)


@router.put("/{agent_id:path}", responses={201: {"model": Agent, "description": "It is new."}})
async def save_agent(
    agent_id: AgentPath, agent: AgentIn, service: AgentsServiceDep, response: Response
) -> Agent:
    """Add an agent, or change one that is there."""
    fields = agent.model_dump(exclude={"tenant_id"})
    given = Agent(id=agent_id, tenant_id=agent.tenant_id or "", **fields)
    saved, is_new = await service.save(given, agent.tenant_id)
    if is_new:
        response.status_code = 201
    return saved

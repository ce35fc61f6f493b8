"""Agents over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from core.domain.models import Agent, Page
from core.domain.models.base import Model
from core.entrypoints.api.paging import SEEN, Cursor, Limit, Name, TenantId
from core.entrypoints.api.sessions import AgentsServiceDep
from core.entrypoints.service.agents import AgentFilter

router = APIRouter(prefix="/agents", tags=["agents"])
_ID = "Id of the agent, unique within its tenant."
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


@router.get("")
async def list_agents(
    service: AgentsServiceDep, tenant_id: TenantId = None, limit: Limit = 50, cursor: Cursor = None
) -> Page[Agent]:
    """List the agents that learn, by id."""
    return await service.page(AgentFilter(tenant_id=tenant_id), limit=limit, cursor=cursor)


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

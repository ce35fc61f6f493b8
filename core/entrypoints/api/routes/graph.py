"""The graph of what is known over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from core.entrypoints.api.paging import AgentId, TenantId
from core.entrypoints.api.sessions import GraphServiceDep
from core.entrypoints.service.graph.shown import Graph

router = APIRouter(prefix="/graph", tags=["knowledge"])


@router.get("")
async def get_graph(
    service: GraphServiceDep,
    agent_id: AgentId = None,
    tenant_id: TenantId = None,
    nodes: Annotated[int, Query(ge=1, le=1000, description="Most nodes.")] = 300,
) -> Graph:
    """Agents, skills, their files, and who taught what; also as Mermaid text."""
    return await service.graph(tenant_id=tenant_id, agent_id=agent_id, nodes=nodes)

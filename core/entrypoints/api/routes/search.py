"""Search over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from core.domain.models import Kind
from core.entrypoints.api.paging import AgentId, TenantId
from core.entrypoints.api.sessions import SearchServiceDep
from core.entrypoints.service.items import Found

router = APIRouter(prefix="/search", tags=["knowledge"])


@router.get("")
async def search_knowledge(
    service: SearchServiceDep,
    q: Annotated[str, Query(min_length=1, max_length=4000, description="What to look for.")],
    agent_id: AgentId = None,
    kind: Annotated[Kind | None, Query(description="Only this kind of knowledge.")] = None,
    tenant_id: TenantId = None,
    limit: Annotated[int, Query(ge=1, le=50, description="Most hits.")] = 10,
    user: Annotated[
        str | None,
        Query(min_length=1, max_length=200, description="Also what is for this end user."),
    ] = None,
) -> Found:
    """Search what one tenant knows, best first."""
    return await service.search(
        q, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=limit, user=user
    )

"""Skills of a tenant over HTTP, whoever lists them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from core.domain.models import Receipt
from core.entrypoints.api.paging import TenantId
from core.entrypoints.api.routes.agents import SkillPath
from core.entrypoints.api.sessions import AgentsServiceDep

router = APIRouter(prefix="/skills", tags=["skills"])
DryRun = Annotated[bool, Query(description="Only say what would be.")]


@router.delete("/{name}")
async def delete_skill_for_all(
    name: SkillPath, service: AgentsServiceDep, tenant_id: TenantId = None, dry_run: DryRun = False
) -> Receipt:
    """Ask to delete a skill for all agents; held, naming them, where any has it on its list."""
    return await service.delete_for_all(name, tenant_id, dry_run=dry_run)

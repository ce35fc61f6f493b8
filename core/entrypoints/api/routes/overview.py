"""The overview over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from core.domain.models.views import Overview
from core.entrypoints.api.paging import TenantId
from core.entrypoints.api.sessions import SessionDep
from core.entrypoints.service.overview import OverviewService

router = APIRouter(tags=["overview"])


@router.get("/overview")
async def get_overview(session: SessionDep, tenant_id: TenantId = None) -> Overview:
    """How it goes: in one word, in figures, over time, and who works."""
    return await OverviewService(session).overview(tenant_id)

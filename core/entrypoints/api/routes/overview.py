"""The overview over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from core.domain.models.views import Overview
from core.entrypoints.api.paging import TenantId
from core.entrypoints.api.sessions import Seated
from core.entrypoints.service.overview import OverviewDesk

router = APIRouter(tags=["overview"])


@router.get("/overview")
async def get_overview(taken: Seated, tenant_id: TenantId = None) -> Overview:
    """How it goes: in one word, in figures, over time, and who works."""
    return await OverviewDesk(taken).overview(tenant_id)

"""The overview over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from core.api.paging import TenantId
from core.api.seats import Seated
from core.desk.overview import OverviewDesk
from core.models.overview import Overview

router = APIRouter(tags=["overview"])


@router.get("/overview")
async def get_overview(taken: Seated, tenant_id: TenantId = None) -> Overview:
    """How it goes: in one word, in figures, over time, and who works."""
    return await OverviewDesk(taken).overview(tenant_id)

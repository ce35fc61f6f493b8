"""The overview over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from core.api.seats import Seated
from core.desk.overview import OverviewDesk
from core.models.overview import Overview

router = APIRouter(tags=["overview"])


@router.get("/overview")
async def get_overview(
    taken: Seated,
    tenant: Annotated[str | None, Query(description="One tenant, for a token of all.")] = None,
) -> Overview:
    """How it goes: in one word, in figures, over time, and who works."""
    return await OverviewDesk(taken).overview(tenant)

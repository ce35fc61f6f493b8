"""What model calls cost, over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from core.domain.models import Costs, TenantBudget
from core.domain.models.base import Model
from core.entrypoints.api.paging import TenantId
from core.entrypoints.api.sessions import CostsServiceDep
from core.entrypoints.service.costs import MOST_DAYS

router = APIRouter(prefix="/costs", tags=["costs"])


class Budgets(Model):
    """Today's spending beside the budgets, tenant by tenant."""

    currency: str
    items: tuple[TenantBudget, ...]


@router.get("")
async def list_costs(
    service: CostsServiceDep,
    tenant_id: TenantId = None,
    days: Annotated[
        int, Query(ge=1, le=MOST_DAYS, description="So many days in UTC, today among them.")
    ] = 30,
) -> Costs:
    """What was spent by tenant, day and model, newest first."""
    return await service.by_day(tenant_id, days)


@router.get("/budgets")
async def list_budgets(service: CostsServiceDep, tenant_id: TenantId = None) -> Budgets:
    """What was spent today, and may be, of each tenant that has spent or has a budget."""
    found = await service.budgets(tenant_id)
    return Budgets(currency=service.currency, items=tuple(found))

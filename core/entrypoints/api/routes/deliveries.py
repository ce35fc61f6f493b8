"""Deliveries over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from core.domain.models import Page
from core.domain.models.deliveries import Delivered, Delivery, DeliveryFilter, DeliveryStatus
from core.entrypoints.api.paging import Cursor, Limit, TenantId
from core.entrypoints.api.sessions import DeliveriesServiceDep

router = APIRouter(prefix="/deliveries", tags=["deliveries"])
DeliveryId = Annotated[str, Path(description="Id of the delivery.")]


@router.get("")
async def list_deliveries(
    service: DeliveriesServiceDep,
    status: Annotated[
        tuple[DeliveryStatus, ...], Query(description="Only these; may be repeated.")
    ] = (),
    tenant_id: TenantId = None,
    target: Annotated[
        str | None, Query(max_length=200, description="Only to this hook or other target.")
    ] = None,
    feedback_id: Annotated[
        str | None, Query(max_length=200, description="Only about this feedback.")
    ] = None,
    change_id: Annotated[
        str | None, Query(max_length=200, description="Only about this change.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Delivery]:
    """List what goes out to hooks and others, newest first."""
    wanted = DeliveryFilter(
        statuses=status,
        tenant_id=tenant_id,
        target=target,
        feedback_id=feedback_id,
        change_id=change_id,
    )
    return await service.page(wanted, limit=limit, cursor=cursor)


@router.get("/{delivery_id}")
async def get_delivery(delivery_id: DeliveryId, service: DeliveriesServiceDep) -> Delivered:
    """One delivery with its attempts."""
    return await service.get(delivery_id)


@router.post("/{delivery_id}/replay")
async def replay_delivery(delivery_id: DeliveryId, service: DeliveriesServiceDep) -> Delivery:
    """Let a delivery go out once more, at once."""
    return await service.replay(delivery_id)

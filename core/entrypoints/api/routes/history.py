"""History over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from core.domain.models import HistoryFilter, HistoryRecord, HistoryStatus, Kind, Page
from core.domain.models.audit import Call, CallFilter
from core.entrypoints.api.paging import AgentId, Cursor, Limit, Moment, TenantId
from core.entrypoints.api.sessions import HistoryServiceDep

router = APIRouter(prefix="/history", tags=["history"])


@router.get("")
async def list_history(
    service: HistoryServiceDep,
    status: Annotated[
        tuple[HistoryStatus, ...], Query(description="Only these; may be repeated.")
    ] = (),
    tenant_id: TenantId = None,
    agent_id: AgentId = None,
    kind: Annotated[Kind | None, Query(description="Only this kind of knowledge.")] = None,
    item_id: Annotated[
        str | None, Query(max_length=200, description="Only changes of the item with this id.")
    ] = None,
    feedback_id: Annotated[
        str | None, Query(max_length=200, description="Only what this feedback caused.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[HistoryRecord]:
    """List changes that were made or tried, newest first."""
    wanted = HistoryFilter(
        statuses=status,
        tenant_id=tenant_id,
        agent_id=agent_id,
        kind=kind,
        item_id=item_id,
        feedback_id=feedback_id,
    )
    return await service.page(wanted, limit=limit, cursor=cursor)


@router.get("/calls")
async def list_calls(
    service: HistoryServiceDep,
    tenant_id: TenantId = None,
    caller: Annotated[
        str | None, Query(max_length=200, description="Only those of this token or person.")
    ] = None,
    since: Annotated[Moment | None, Query(description="Only those from this time on.")] = None,
    refused: Annotated[
        bool | None, Query(description="Only those that were refused or failed, or only others.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[Call]:
    """List calls that changed something or were refused, newest first."""
    wanted = CallFilter(tenant_id=tenant_id, caller=caller, since=since, refused=refused)
    return await service.calls(wanted, limit=limit, cursor=cursor)


@router.get("/{record_id}")
async def get_history_record(
    record_id: Annotated[str, Path(description="Id of the record.")], service: HistoryServiceDep
) -> HistoryRecord:
    """One record: what was there before, what after, and why."""
    return await service.get(record_id)

"""Cases over HTTP: what must stay true of what was learnt, and whether it does."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from core.domain.models import Kind
from core.domain.models.base import Model
from core.domain.models.case_figures import CasePage, CasesOverview, CasesRun, Coverage
from core.domain.models.cases import (
    Case,
    CaseBody,
    CaseFilter,
    CaseResult,
    CaseStatus,
    Check,
)
from core.entrypoints.api.paging import AgentId, Cursor, Limit, Name, Reason, TenantId
from core.entrypoints.api.sessions import CasesServiceDep
from core.entrypoints.service.cases import MOST_RUN, MOST_WEEKS, WEEKS

router = APIRouter(prefix="/cases", tags=["cases"])
_LONGEST = 2000
_ITEM = "The id of the item, or a name that one item alone has."
CaseId = Annotated[str, Path(max_length=200, description="Id of the case.")]
KindName = Annotated[Kind | None, Query(description="Only this kind of knowledge.")]
ItemId = Annotated[
    str | None, Query(max_length=_LONGEST, description="Only cases of the item with this id.")
]


class Adding(Model):
    """A case to add to an item. `agent_id` is of a skill that several agents list."""

    id: str = Field(min_length=1, max_length=_LONGEST, description=_ITEM)
    kind: Kind | None = None
    tenant_id: Name | None = None
    agent_id: Name | None = None
    case: CaseBody


class Editing(Model):
    """What takes the place of what a case asks and expects, whole."""

    case: CaseBody


class Disabling(Model):
    """Why a case is not to be run any more."""

    reason: Reason


class Running(Model):
    """Which cases to run: those with these ids, else the newest that match the rest."""

    ids: tuple[Name, ...] = Field(default=(), max_length=MOST_RUN)
    tenant_id: Name | None = None
    agent_id: Name | None = None
    kind: Kind | None = None
    item_id: str | None = Field(default=None, max_length=_LONGEST)
    status: CaseStatus | None = None


@router.get("")
async def list_cases(
    service: CasesServiceDep,
    tenant_id: TenantId = None,
    agent_id: AgentId = None,
    kind: KindName = None,
    item_id: ItemId = None,
    change_id: Annotated[
        str | None, Query(max_length=200, description="Only cases that came with this change.")
    ] = None,
    check: Annotated[Check | None, Query(description="Only this kind of check.")] = None,
    status: Annotated[CaseStatus | None, Query(description="Only this status.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> CasePage:
    """List cases, newest first, and which rows of their tables no case decides by."""
    wanted = CaseFilter(
        tenant_id=tenant_id,
        agent_id=agent_id,
        kind=kind,
        item_id=item_id,
        change_id=change_id,
        check=check,
        status=status,
    )
    return await service.page(wanted, limit=limit, cursor=cursor)


@router.get("/overview")
async def get_cases_overview(
    service: CasesServiceDep,
    tenant_id: TenantId = None,
    agent_id: AgentId = None,
    kind: KindName = None,
    weeks: Annotated[
        int, Query(ge=1, le=MOST_WEEKS, description="So many weeks in UTC, this one among them.")
    ] = WEEKS,
) -> CasesOverview:
    """How many cases hold, and by week what came through and what the gate stopped."""
    wanted = CaseFilter(tenant_id=tenant_id, agent_id=agent_id, kind=kind)
    return await service.overview(wanted, weeks)


@router.get("/coverage")
async def get_coverage(
    service: CasesServiceDep,
    item_id: Annotated[
        str, Query(alias="id", min_length=1, max_length=_LONGEST, description=_ITEM)
    ],
    kind: KindName = None,
    tenant_id: TenantId = None,
) -> Coverage | None:
    """The rows of a decision table that no case decides by; null of what is no table."""
    return await service.coverage(item_id, kind=kind, tenant_id=tenant_id)


@router.post("")
async def add_case(wanted: Adding, service: CasesServiceDep) -> CaseResult:
    """Add a case to an item; it is run at once."""
    return await service.add(
        wanted.id,
        wanted.case,
        kind=wanted.kind,
        tenant_id=wanted.tenant_id,
        agent_id=wanted.agent_id,
    )


@router.post("/run")
async def run_cases(wanted: Running, service: CasesServiceDep) -> CasesRun:
    """Run cases now, at most 200, and note how they end."""
    scope = CaseFilter(**wanted.model_dump(exclude={"ids"}))
    return await service.run(scope, wanted.ids)


@router.get("/{case_id}")
async def get_case(case_id: CaseId, service: CasesServiceDep) -> Case:
    """One case: what it asks, whether it holds, since when and by which change."""
    return await service.get(case_id)


@router.put("/{case_id}")
async def edit_case(case_id: CaseId, wanted: Editing, service: CasesServiceDep) -> CaseResult:
    """Put something else in the place of what a case asks; it is run at once."""
    return await service.edit(case_id, wanted.case)


@router.post("/{case_id}/disable")
async def disable_case(case_id: CaseId, wanted: Disabling, service: CasesServiceDep) -> Case:
    """Disable a case for good: it is kept, with the reason, and not run any more."""
    return await service.disable(case_id, reason=wanted.reason)

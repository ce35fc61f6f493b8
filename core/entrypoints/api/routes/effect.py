"""What learnt items did, over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from core.domain.models.effect import EffectFilter, EffectOverview, EffectPage, Only
from core.entrypoints.api.paging import Cursor, Limit, TenantId
from core.entrypoints.api.sessions import EffectServiceDep
from core.entrypoints.service.effect import DecidedProposal
from core.knowledge.usage.reading import DAYS, MOST_DAYS

router = APIRouter(prefix="/effect", tags=["effect"])
ProposalId = Annotated[str, Path(description="Id of the proposal.")]
AgentId = Annotated[
    str | None, Query(max_length=200, description="Only what this agent knows and was given.")
]


@router.get("")
async def list_effects(
    service: EffectServiceDep,
    tenant_id: TenantId = None,
    agent_id: AgentId = None,
    only: Annotated[
        Only | None,
        Query(description="Only what helps, harms, never reached anyone, or came back."),
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> EffectPage:
    """What each item did for each agent, by tenant, agent, kind and id."""
    wanted = EffectFilter(tenant_id=tenant_id, agent_id=agent_id, only=only)
    return await service.page(wanted, limit=limit, cursor=cursor)


@router.get("/overview")
async def get_effect_overview(
    service: EffectServiceDep,
    tenant_id: TenantId = None,
    agent_id: AgentId = None,
    days: Annotated[
        int, Query(ge=1, le=MOST_DAYS, description="So many days in UTC, today among them.")
    ] = DAYS,
) -> EffectOverview:
    """Counts, days, oldest first, and the proposals that wait for a person."""
    return await service.overview(EffectFilter(tenant_id=tenant_id, agent_id=agent_id), days)


@router.post("/proposals/{proposal_id}/accept")
async def accept_proposal(proposal_id: ProposalId, service: EffectServiceDep) -> DecidedProposal:
    """Archive the item, or ask for its rewrite, as proposed."""
    return await service.accept(proposal_id)


@router.post("/proposals/{proposal_id}/dismiss")
async def dismiss_proposal(proposal_id: ProposalId, service: EffectServiceDep) -> DecidedProposal:
    """Leave the item as it is."""
    return await service.dismiss(proposal_id)

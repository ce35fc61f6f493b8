"""The caller, over HTTP."""

from __future__ import annotations

from fastapi import APIRouter

from core.domain.models.access import Role
from core.domain.models.base import Model
from core.entrypoints.api.sessions import SessionDep

router = APIRouter(prefix="/me", tags=["me"])


class Me(Model):
    """Whose token the call came with. `tenant_id` null: it is of all tenants."""

    token_id: str
    name: str
    tenant_id: str | None
    roles: tuple[Role, ...]


@router.get("")
async def get_me(session: SessionDep) -> Me:
    """Who the caller is, and what the token lets them do."""
    principal = session.principal
    return Me(
        token_id=principal.token_id,
        name=principal.name,
        tenant_id=principal.tenant_id,
        roles=tuple(sorted(principal.roles)),
    )

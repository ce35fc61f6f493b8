"""The caller, and who is signed in to the console, over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path

from core.domain.models import Page
from core.domain.models.access import AccessToken, Role
from core.domain.models.base import Model
from core.entrypoints.api.sessions import SessionDep, SignedInServiceDep

router = APIRouter(tags=["me"])


class Me(Model):
    """Whose token the call came with. `tenant_id` null: it is of all tenants.

    `agent_id` is the agent whose own it is, null for any other.
    """

    token_id: str
    name: str
    tenant_id: str | None
    agent_id: str | None
    roles: tuple[Role, ...]


class SignedIn(Model):
    """A session of the console. `tenant_id` null: it is of all tenants.

    `subject` is the person as the identity provider calls them; null: they came by a token or a
    link.
    """

    id: str
    name: str
    tenant_id: str | None
    roles: tuple[Role, ...]
    subject: str | None
    created_at: datetime | None
    expires_at: datetime | None


@router.get("/me")
async def get_me(session: SessionDep) -> Me:
    """Who the caller is, and what the token lets them do."""
    principal = session.principal
    return Me(
        token_id=principal.token_id,
        name=principal.name,
        tenant_id=principal.tenant_id,
        agent_id=principal.agent_id,
        roles=tuple(sorted(principal.roles)),
    )


@router.get("/sessions")
async def list_sessions(service: SignedInServiceDep) -> Page[SignedIn]:
    """Who is signed in to the console, the latest first."""
    return Page(items=tuple(map(_shown, await service.list())), next=None)


@router.delete("/sessions/{session_id}")
async def end_session(
    session_id: Annotated[str, Path(description="Id of the session.")], service: SignedInServiceDep
) -> SignedIn:
    """End a session at once; its open pages lose their connection within seconds."""
    return _shown(await service.end(session_id))


def _shown(one: AccessToken) -> SignedIn:
    return SignedIn(**one.model_dump(include=set(SignedIn.model_fields)))

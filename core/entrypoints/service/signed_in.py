"""Who is signed in to the console, and ending that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models.access import AccessToken, Role
from core.entrypoints.auth import Access
from core.entrypoints.service.session import Session


@dataclass(frozen=True)
class SignedInService:
    """Every method raises Forbidden without its role; another tenant's session is NotFound."""

    session: Session

    async def list(self) -> Sequence[AccessToken]:
        """Return the live sessions that the principal may see, the latest first."""
        self.session.require(Role.OPERATE)
        own = self.session.principal.tenant_id
        live = await self.session.stores.tokens.sessions()
        return [one for one in live if own is None or one.tenant_id == own]

    async def end(self, session_id: str) -> AccessToken:
        """End a session at once. Raises NotFound."""
        found = [one for one in await self.list() if one.id == session_id]
        if not found:
            raise NotFound(Message("no.session", id=session_id), hint=Message("see.sessions"))
        await Access(self.session.stores.tokens, self.session.app.new_id).end(session_id)
        return found[0]

"""Search of one tenant's knowledge, best first."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models import Kind
from core.domain.models.access import Role
from core.entrypoints.service.items import Found
from core.entrypoints.service.owners import agent_in_use, follow_skills
from core.entrypoints.service.session import Session
from core.knowledge.search.tokens import read_question


@dataclass(frozen=True)
class SearchService:
    """Raises Forbidden without the role; an agent of another tenant is NotFound."""

    session: Session

    async def search(
        self,
        query: str,
        *,
        tenant_id: str | None = None,
        agent_id: str | None = None,
        kind: Kind | None = None,
        limit: int = 10,
        user: str | None = None,
    ) -> Found:
        """Return the hits in one tenant: the one named, the agent's, or the principal's own.

        What is for one end user is found only with that `user`. An agent searches what it knows.

        Raises InvalidInput if the query contains no words, or no tenant is named.
        """
        self.session.require(Role.READ, of_agents=True)
        if not read_question(query).counts:
            raise InvalidInput(Message("search.no_words"), hint=Message("search.give_words"))
        await self.session.app.require_kind(kind)
        tenant = self.session.tenant(tenant_id)
        if agent_id is not None or self.session.principal.agent_id is not None:
            agent = await agent_in_use(self.session, agent_id, tenant)
            agent_id, tenant = agent.id, agent.tenant_id
        tenant = self.session.one_tenant(tenant)
        warnings = await follow_skills(self.session, tenant)
        hits = await self.session.stores.search.search(
            query, tenant_id=tenant, agent_id=agent_id, kind=kind, limit=limit, user=user
        )
        return Found(tenant_id=tenant, items=tuple(hits), warnings=warnings)

"""What learnt items did, and what is proposed: for people, and decided by reviewers."""

from __future__ import annotations

from dataclasses import dataclass

from core.domain.models.access import Role
from core.domain.models.base import Model
from core.domain.models.changes import Receipt
from core.domain.models.effect import EffectFilter, EffectOverview, EffectPage, Proposal
from core.domain.models.feedback import is_reserved
from core.entrypoints.auth import utc_now
from core.entrypoints.service.owners import own_agent
from core.entrypoints.service.session import Session, acting
from core.knowledge.usage.reading import DAYS, effect_overview, effect_page


class DecidedProposal(Model):
    """A decided proposal, and what came of the change that it led to, if it led to one."""

    proposal: Proposal
    receipt: Receipt | None = None


@dataclass(frozen=True)
class EffectService:
    """Every method raises Forbidden without its role; what is another tenant's is NotFound."""

    session: Session

    async def page(
        self, wanted: EffectFilter, *, limit: int = 50, cursor: str | None = None
    ) -> EffectPage:
        """Return items with their figures. Raises InvalidInput on another list's cursor."""
        self.session.require(Role.READ)
        scope = await self._scope(wanted)
        return await effect_page(self.session.stores.effects, scope, limit=limit, cursor=cursor)

    async def overview(self, wanted: EffectFilter, days: int = DAYS) -> EffectOverview:
        """Return counts, the last `days` days in UTC, and the proposals that wait."""
        self.session.require(Role.READ)
        scope = await self._scope(wanted)
        return await effect_overview(self.session.stores.effects, scope, now=utc_now(), days=days)

    @acting
    async def accept(self, proposal_id: str) -> DecidedProposal:
        """Archive an item, or ask for its rewrite, as proposed. Raises NotFound, Decided."""
        self.session.require(Role.REVIEW)
        proposal = await self._own(proposal_id)
        by = self.session.principal.name
        done, receipt = await self.session.app.proposals.accept(proposal, by)
        return DecidedProposal(proposal=done, receipt=receipt)

    @acting
    async def dismiss(self, proposal_id: str) -> DecidedProposal:
        """Leave an item as it is. Raises NotFound, Decided."""
        self.session.require(Role.REVIEW)
        proposal = await self._own(proposal_id)
        done = await self.session.app.proposals.dismiss(proposal, self.session.principal.name)
        return DecidedProposal(proposal=done)

    async def _own(self, proposal_id: str) -> Proposal:
        finding = self.session.stores.effects.proposal(proposal_id)
        return await self.session.own(finding, "proposal", proposal_id)

    async def _scope(self, wanted: EffectFilter) -> EffectFilter:
        tenant = self.session.tenant(wanted.tenant_id)
        if wanted.agent_id is not None and not is_reserved(wanted.agent_id):
            tenant = (await own_agent(self.session, wanted.agent_id, tenant)).tenant_id
        return wanted.model_copy(update={"tenant_id": tenant})

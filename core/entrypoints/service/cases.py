"""Cases: what must stay true of what was learnt, for people to see, to add to and to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain.models import Kind, KnowledgeItem
from core.domain.models.access import Role
from core.domain.models.case_figures import CasePage, CasesOverview, CasesRun, Coverage
from core.domain.models.cases import Case, CaseBody, CaseCounts, CaseFilter, CaseResult, ItemKey
from core.entrypoints.auth import utc_now
from core.entrypoints.service.knowledge import known_items
from core.entrypoints.service.owners import own_agent
from core.entrypoints.service.session import Session, acting

WEEKS = 12
MOST_WEEKS = 104
MOST_RUN = 200


@dataclass(frozen=True)
class CasesService:
    """Every method raises Forbidden without its role; another tenant's case is NotFound."""

    session: Session

    async def page(self, wanted: CaseFilter, *, limit: int, cursor: str | None = None) -> CasePage:
        """Return cases, newest first. Raises InvalidInput on another list's cursor."""
        self.session.require(Role.READ)
        scope = await self._scope(wanted)
        found, following = await self.session.stores.cases.page(scope, limit=limit, cursor=cursor)
        covered = await self.session.app.cases.coverage(scope, found)
        return CasePage(items=tuple(found), next=following, coverage=covered)

    async def get(self, case_id: str) -> Case:
        """Return one case. Raises NotFound."""
        self.session.require(Role.READ)
        return await self._own(case_id)

    async def overview(self, wanted: CaseFilter, weeks: int = WEEKS) -> CasesOverview:
        """Return how many cases hold, and the last weeks in UTC."""
        self.session.require(Role.READ)
        scope = await self._scope(wanted)
        figures = self.session.stores.case_figures
        seen = await figures.weeks(scope, until=utc_now(), weeks=weeks)
        counts = await figures.totals(scope)
        return CasesOverview(tenant_id=scope.tenant_id, counts=counts, weeks=tuple(seen))

    async def counts(self, items: Sequence[ItemKey]) -> Mapping[ItemKey, CaseCounts]:
        """Return the counts of cases by item; of an item without any there is none."""
        self.session.require(Role.READ)
        for tenant_id in {item[0] for item in items}:
            self.session.tenant(tenant_id)
        return await self.session.stores.cases.counts(items)

    async def coverage(
        self, item_id: str, *, kind: Kind | None = None, tenant_id: str | None = None
    ) -> Coverage | None:
        """Return the rows of a table that no case decides by; None of what is no table."""
        self.session.require(Role.READ)
        item = await self._item(item_id, kind, tenant_id)
        return await self.session.app.cases.coverage_of(item.tenant_id, item.id)

    @acting
    async def add(
        self,
        item_id: str,
        body: CaseBody,
        *,
        kind: Kind | None = None,
        tenant_id: str | None = None,
        agent_id: str | None = None,
    ) -> CaseResult:
        """Add a case to an item, and return how it ends. Raises InvalidInput, NotFound."""
        self.session.require(Role.REVIEW)
        item = await self._item(item_id, kind, tenant_id)
        if agent_id is not None:
            await own_agent(self.session, agent_id, item.tenant_id)
        by = self.session.principal.name
        return await self.session.app.cases.add(item, body, agent_id=agent_id, by=by)

    @acting
    async def edit(self, case_id: str, body: CaseBody) -> CaseResult:
        """Replace what a case asks, and return how it ends. Raises InvalidInput, Refused."""
        self.session.require(Role.REVIEW)
        known = await self._own(case_id)
        return await self.session.app.cases.edit(known, body, by=self.session.principal.name)

    @acting
    async def disable(self, case_id: str, *, reason: str) -> Case:
        """Disable a case for good: it is kept, and not run any more."""
        self.session.require(Role.REVIEW)
        await self._own(case_id)
        why = self.session.app.gate.decisions.findings.masked(reason.strip())
        by = self.session.principal.name
        return await self.session.stores.cases.disable(case_id, by=by, reason=why)

    @acting
    async def run(self, wanted: CaseFilter, ids: Sequence[str] = ()) -> CasesRun:
        """Run cases now, and note how they end: those named, else the newest that match."""
        self.session.require(Role.REVIEW)
        if ids:
            return await self.session.app.cases.run_these([await self._own(one) for one in ids])
        return await self.session.app.cases.run(await self._scope(wanted), MOST_RUN)

    async def _item(self, item_id: str, kind: Kind | None, tenant_id: str | None) -> KnowledgeItem:
        tenant = self.session.tenant(tenant_id)
        return await known_items(self.session).find(item_id, tenant, kind)

    async def _own(self, case_id: str) -> Case:
        return await self.session.own(self.session.stores.cases.get(case_id), "case", case_id)

    async def _scope(self, wanted: CaseFilter) -> CaseFilter:
        await self.session.app.require_kind(wanted.kind)
        tenant = self.session.tenant(wanted.tenant_id)
        if wanted.agent_id is not None:
            tenant = (await own_agent(self.session, wanted.agent_id, tenant)).tenant_id
        return wanted.model_copy(update={"tenant_id": tenant})

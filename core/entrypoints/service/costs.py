"""Costs: what was spent by tenant and day, on a change, and against a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain.models import ChangeCost, Costs, TenantBudget
from core.domain.models.access import Role
from core.entrypoints.service.session import Session

MOST_DAYS = 3_660


@dataclass(frozen=True)
class CostsService:
    """Every method raises Forbidden without its role; another tenant's costs are NotFound."""

    session: Session

    @property
    def currency(self) -> str:
        """The currency of all amounts here."""
        return self.session.app.currency

    async def by_day(self, tenant_id: str | None = None, days: int = 30) -> Costs:
        """Return the last `days` days in UTC, including today, newest first, then by tenant."""
        self.session.require(Role.READ)
        scope = self.session.tenant(tenant_id)
        spending = self.session.stores.spending
        found = await spending.of_days(scope, max(1, min(days, MOST_DAYS)))
        return Costs(currency=self.currency, days=tuple(found))

    async def budgets(self, tenant_id: str | None = None) -> Sequence[TenantBudget]:
        """Return today's spending beside the budget: of one tenant, or of all who have either."""
        self.session.require(Role.READ)
        return await self.session.stores.budgets.today(self.session.tenant(tenant_id))

    async def of_change(self, change_id: str) -> ChangeCost:
        """Return the cost of one change. Raises NotFound."""
        self.session.require(Role.READ)
        change = await self.session.own(
            self.session.stores.changes.get(change_id), "change", change_id
        )
        return await self.session.stores.spending.of_change(change)

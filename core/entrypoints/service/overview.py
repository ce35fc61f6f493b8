"""The overview: the health state in one word, and the figures behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from core.domain.models import NO_USAGE, DaySpending, Pause, TenantBudget, Usage
from core.domain.models.access import Role
from core.domain.models.views import DaySpent, Overview
from core.entrypoints.health_verdict import judge
from core.entrypoints.service.session import Session

QUARTER, QUARTERS = 900, 96
DAY = 86_400
DAYS = 30


@dataclass(frozen=True)
class OverviewService:
    """Figures are the tenant's own; what blocks all work, and the workers, are visible to all."""

    session: Session

    async def overview(self, tenant_id: str | None = None) -> Overview:
        """Return the overview of one tenant, or of all. Raises Forbidden, NotFound."""
        self.session.require(Role.READ)
        tenant = self.session.tenant(tenant_id)
        app, figures = self.session.app, self.session.stores.figures
        checks, pauses, at_budget = await app.checks(), await self._pauses(), await self._at(tenant)
        standing, workers = await figures.standing(tenant), await figures.workers(tenant)
        condition = judge(
            standing, workers=workers, pauses=pauses, at_budget=at_budget, checks=checks
        )
        ended = sum(standing.last_hour.values())
        return Overview(
            at=datetime.now(UTC),
            tenant_id=tenant,
            condition=condition,
            checks=checks,
            holds=pauses,
            at_budget=at_budget,
            standing=standing,
            ended_last_hour=ended,
            ended_per_minute=round(ended / 60, 2),
            today=await figures.ended(tenant, QUARTER, QUARTERS),
            month=await figures.ended(tenant, DAY, DAYS),
            outcomes=tuple(await figures.outcomes(tenant)),
            spent=_by_day(await app.stores.spending.of_days(tenant, DAYS)),
            currency=app.currency,
            reviews=await figures.reviews(tenant),
            workers=tuple(workers),
        )

    async def _pauses(self) -> tuple[Pause, ...]:
        app = self.session.app
        model = await app.learning.breaker.current_pause() if app.learning else None
        found = [await app.stores.intake.paused(), model]
        return tuple(pause for pause in found if pause is not None)

    async def _at(self, tenant_id: str | None) -> tuple[TenantBudget, ...]:
        """Return the visible tenants whose work is blocked by their budgets."""
        used_up = await self.session.stores.budgets.used_up()
        return tuple(one for one in used_up if tenant_id in {None, one.tenant_id})


def _by_day(spent: Sequence[DaySpending]) -> tuple[DaySpent, ...]:
    """Add up tenants and models, the newest day first; a day without spending has no row."""
    usage: defaultdict[date, Usage] = defaultdict(lambda: NO_USAGE)
    unpriced: defaultdict[date, int] = defaultdict(int)
    for one in spent:
        usage[one.day] += one.usage
        unpriced[one.day] += one.unpriced_calls
    return tuple(
        DaySpent(day=day, usage=usage[day], unpriced_calls=unpriced[day])
        for day in sorted(usage, reverse=True)
    )

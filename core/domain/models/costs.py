"""What model calls cost, summed up for people: by day, by change, and against a budget."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal

from pydantic import computed_field

from core.domain.models.base import Model, Money
from core.domain.models.feedback import Usage

_SMALLEST = Decimal("1e-12")


class DaySpending(Model):
    """What one tenant's calls of one model took on one day in UTC.

    `unpriced_calls` are those whose cost nobody knows: the model has no price, or its provider
    told no tokens. They count as costing nothing.
    """

    tenant_id: str
    day: date
    model: str
    usage: Usage
    unpriced_calls: int = 0


class Costs(Model):
    """What was spent on some days, by tenant and model, and in all."""

    currency: str
    days: tuple[DaySpending, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> Usage:
        """What it is in all."""
        return sum((bill.usage for bill in self.days), Usage())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def unpriced_calls(self) -> int:
        """Of how many calls nobody knows the cost."""
        return sum(bill.unpriced_calls for bill in self.days)


class ChangeCost(Model):
    """What one change cost: its part of the author's calls, and an equal share of its run's.

    `author` is what the skill author took for it, which `authored_by` attempts share; `run` is
    what the model calls of its run took, which `shared_by` changes share. Money is rounded to
    12 places.
    """

    author: Usage = Usage()
    authored_by: int = 1
    run: Usage = Usage()
    shared_by: int = 1

    @computed_field  # type: ignore[prop-decorator]
    @property
    def cost(self) -> Money:
        """What that is in money."""
        share = self.author.cost / self.authored_by + self.run.cost / self.shared_by
        return share.quantize(_SMALLEST, ROUND_HALF_EVEN).normalize()


class TenantBudget(Model):
    """What a tenant has spent today in UTC, and may; `waiting` is its unfinished feedback.

    Without a `budget` there is no limit.
    """

    tenant_id: str
    budget: Money | None = None
    spent: Money = Decimal(0)
    waiting: int = 0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_used_up(self) -> bool:
        """True where no call of the model begins for it until the day ends."""
        return self.budget is not None and self.spent >= self.budget

"""Model costs in summary: by day, by change, and against a budget."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_HALF_EVEN, Decimal

from pydantic import computed_field

from core.domain.models.base import Model, Money
from core.domain.models.feedback import Usage

_SMALLEST = Decimal("1e-12")


class DaySpending(Model):
    """One tenant's use of one model on one day in UTC.

    `unpriced_calls` have no known cost: the model has no price, or its provider reported no tokens.
    They count as costing nothing.
    """

    tenant_id: str
    day: date
    model: str
    usage: Usage
    unpriced_calls: int = 0


class Costs(Model):
    """Spending over some days, by tenant and model, and in total."""

    currency: str
    days: tuple[DaySpending, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def total(self) -> Usage:
        """The total over all days."""
        return sum((bill.usage for bill in self.days), Usage())

    @computed_field  # type: ignore[prop-decorator]
    @property
    def unpriced_calls(self) -> int:
        """The number of calls whose cost is unknown."""
        return sum(bill.unpriced_calls for bill in self.days)


class ChangeCost(Model):
    """The cost of one change: its share of the author's calls and of its run's.

    `author` is the usage of the skill author, shared by `authored_by` attempts; `run` that of the
    model calls of its run, shared by `shared_by` changes. Money is rounded to 12 places.
    """

    author: Usage = Usage()
    authored_by: int = 1
    run: Usage = Usage()
    shared_by: int = 1

    @computed_field  # type: ignore[prop-decorator]
    @property
    def cost(self) -> Money:
        """The change's cost in money."""
        share = self.author.cost / self.authored_by + self.run.cost / self.shared_by
        return share.quantize(_SMALLEST, ROUND_HALF_EVEN).normalize()


class TenantBudget(Model):
    """A tenant's spending today in UTC and its limit; `waiting` is its unfinished feedback.

    Without a `budget` there is no limit.
    """

    tenant_id: str
    budget: Money | None = None
    spent: Money = Decimal(0)
    waiting: int = 0

    @computed_field  # type: ignore[prop-decorator]
    @property
    def is_used_up(self) -> bool:
        """Whether no further model call may start for the tenant until the day ends."""
        return self.budget is not None and self.spent >= self.budget

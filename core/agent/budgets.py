"""The rules of daily budgets: how much a tenant may spend, and what is said where it has (pure)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal

from core.agent.prices import Price
from core.domain.errors import BudgetUsedUp, CircuitOpen
from core.domain.messages import Message
from core.domain.models import TenantBudget
from core.domain.models.base import shown
from core.domain.ports import Budgets

LOOK_AGAIN = 300.0  # seconds after which a budget that was raised is noticed
LATELY_DAYS = 7  # the dearest call of so many days is what the next one may cost


@dataclass(frozen=True)
class DailyBudgets:
    """Money that each tenant may spend in a day: `by_tenant` wins, None is no limit."""

    default: Decimal | None = None
    by_tenant: Mapping[str, Decimal | None] = field(default_factory=dict)
    currency: str = ""

    @property
    def has_any(self) -> bool:
        """True where any tenant has a limit."""
        return self.default is not None or any(b is not None for b in self.by_tenant.values())

    def of(self, tenant_id: str) -> Decimal | None:
        """Give what a tenant may spend, or None."""
        return self.by_tenant.get(tenant_id, self.default)

    def used_up(self, state: TenantBudget, to_midnight: float) -> BudgetUsedUp:
        """Say that a tenant has spent its budget; the day ends in so many seconds."""
        return BudgetUsedUp(
            says_used_up(state, self.currency),
            hint="DAILY_BUDGET and DAILY_BUDGETS set it",
            retry_after=max(0.0, min(to_midnight, LOOK_AGAIN)),
        )


def says_used_up(state: TenantBudget, currency: str) -> str:
    """Say it in one sentence."""
    budget = shown(state.budget or Decimal(0), currency)
    return Message(
        "budget.used_up",
        "the daily budget of tenant {tenant!r} ({budget}) is used up: {spent} "
        "spent; work goes on at 00:00 UTC",
        tenant=state.tenant_id,
        budget=budget,
        spent=shown(state.spent),
    )


def still_running(tenant_id: str, longest_wait: float) -> CircuitOpen:
    """Say that calls that run may use the budget up, and did not end in time."""
    return CircuitOpen(
        f"calls that run may use up the daily budget of tenant {tenant_id!r}, and did not end"
        f" in {longest_wait:g} s"
    )


class NoBudgets:
    """The `Budgets` port where no tenant has one."""

    @asynccontextmanager
    async def call(self, tenant_id: str, call_id: str) -> AsyncIterator[None]:
        del tenant_id, call_id
        yield

    async def require(self, tenant_id: str) -> None:
        """Do nothing."""

    async def used_up(self) -> Sequence[TenantBudget]:
        return ()

    async def today(self, tenant_id: str | None) -> Sequence[TenantBudget]:
        del tenant_id
        return ()


@dataclass(frozen=True)
class Meter:
    """What a call of this process's model costs, and who may make one."""

    price: Price | None = None
    budgets: Budgets = field(default_factory=NoBudgets)

"""Daily budgets: the spending limit of each tenant and the errors once it is reached (pure)."""

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

RECHECK_SECONDS = 300.0  # the longest delay before a raised budget is noticed
# The cost of a call is known only after it: the most expensive one of this many days is reserved.
LATELY_DAYS = 7


@dataclass(frozen=True)
class DailyBudgets:
    """The amount each tenant may spend per day: `by_tenant` overrides, None means no limit."""

    default: Decimal | None = None
    by_tenant: Mapping[str, Decimal | None] = field(default_factory=dict)
    currency: str = ""

    @property
    def has_any(self) -> bool:
        """Whether any tenant has a limit."""
        return self.default is not None or any(b is not None for b in self.by_tenant.values())

    def of(self, tenant_id: str) -> Decimal | None:
        """Return the limit of a tenant, or None."""
        return self.by_tenant.get(tenant_id, self.default)

    def used_up(self, state: TenantBudget, to_midnight: float) -> BudgetUsedUp:
        """Return the error of a tenant over budget; the day ends in `to_midnight` seconds."""
        return BudgetUsedUp(
            says_used_up(state, self.currency),
            hint=Message("budget.hint"),
            retry_after=max(0.0, min(to_midnight, RECHECK_SECONDS)),
        )


def says_used_up(state: TenantBudget, currency: str) -> str:
    """Return one sentence saying that the budget is used up."""
    budget = shown(state.budget or Decimal(0), currency)
    return Message(
        "budget.used_up", tenant=state.tenant_id, budget=budget, spent=shown(state.spent)
    )


def still_running(tenant_id: str, longest_wait: float) -> CircuitOpen:
    """Return the error for calls in flight that may exhaust the budget and did not end in time."""
    return CircuitOpen(Message("budget.in_use", tenant=tenant_id, seconds=longest_wait))


class NoBudgets:
    """The `Budgets` port when no tenant has a limit."""

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
    """The price of a call to this process's model, and the budgets it is charged to."""

    price: Price | None = None
    budgets: Budgets = field(default_factory=NoBudgets)

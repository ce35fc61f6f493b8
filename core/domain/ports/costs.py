"""What model calls cost, for people to see, and what holds a tenant back that has spent enough."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from core.domain.models import Change, ChangeCost, DaySpending, TenantBudget, Usage


class Spending(Protocol):
    """What was spent; `Journal` and `Replies` put it down where they record a paid call."""

    async def of_days(self, tenant_id: str | None, days: int) -> Sequence[DaySpending]:
        """Give the last `days` days in UTC, today among them, newest first, then by tenant."""

    async def of_change(self, change: Change) -> ChangeCost:
        """Give what one change cost: nothing where no model was asked for it."""

    async def pay(self, tenant_id: str, call_id: str, spent: Usage) -> None:
        """Put a call on the bill of which nothing else is recorded: of a look ahead."""


class Budgets(Protocol):
    """The daily budgets of tenants, kept over all workers; a day is one in UTC."""

    def call(self, tenant_id: str, call_id: str) -> AbstractAsyncContextManager[None]:
        """Set aside what one call of the model may cost, while the block makes and records it.

        The block begins only while what is spent and set aside is less than the budget; it waits
        where only calls that run stand in the way. Recording the call under `call_id` (that of
        its candidate, or its reply's key) puts its cost in the place of what was set aside.
        Raises BudgetUsedUp, and ModelHeld where it waits for too long.
        """

    async def require(self, tenant_id: str) -> None:
        """Raise BudgetUsedUp where the tenant has spent its budget."""

    async def used_up(self) -> Sequence[TenantBudget]:
        """Give the tenants with unfinished feedback that have spent their budget, by id."""

    async def today(self, tenant_id: str | None) -> Sequence[TenantBudget]:
        """Give one tenant, or all that have spent something or have a budget of their own."""

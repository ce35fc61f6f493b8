"""Model costs: reports of spending, and daily budgets per tenant."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from core.domain.models import Change, ChangeCost, DaySpending, TenantBudget, Usage


class Spending(Protocol):
    """Reports of spending; `Journal` and `Replies` record it together with each paid call."""

    async def of_days(self, tenant_id: str | None, days: int) -> Sequence[DaySpending]:
        """Return the last `days` days in UTC, including today, newest first, then by tenant."""

    async def of_change(self, change: Change) -> ChangeCost:
        """Return the cost of one change, zero if no model was called for it."""

    async def pay(self, tenant_id: str, call_id: str, spent: Usage) -> None:
        """Charge a call that no other record mentions, as in a dry run."""


class Budgets(Protocol):
    """The daily budgets of tenants, shared by all workers; a day is one in UTC."""

    def call(self, tenant_id: str, call_id: str) -> AbstractAsyncContextManager[None]:
        """Reserve what one model call may cost, while the block makes and records it.

        The block starts only while spent and reserved together are below the budget; it waits if
        only running calls stand in the way. Recording the call under `call_id` (that of its
        candidate, or its reply's key) replaces the reservation by its cost. Raises BudgetUsedUp,
        and CircuitOpen if it waits too long.
        """

    async def require(self, tenant_id: str) -> None:
        """Raise BudgetUsedUp if the tenant has spent its budget."""

    async def used_up(self) -> Sequence[TenantBudget]:
        """Return the tenants with unfinished feedback that have spent their budget, by id."""

    async def today(self, tenant_id: str | None) -> Sequence[TenantBudget]:
        """Return one tenant's budget, or all that have spent something or have their own budget."""

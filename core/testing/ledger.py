"""What tenants have spent and set aside, in memory: what several fakes share as a database."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from core.agent.budgets import LATELY_DAYS
from core.agent.prices import UNBILLED, Billing
from core.domain.models import DaySpending, Usage


class Reserved(NamedTuple):
    """What a call that runs may cost."""

    tenant_id: str
    amount: Decimal
    expires_at: datetime


class Ledger:
    """Bills by tenant and day; time passes only where a test lets it."""

    def __init__(self, billing: Billing = UNBILLED) -> None:
        self.billing = billing
        self.now = datetime(2026, 1, 1, 12, tzinfo=UTC)
        self.bills: dict[tuple[str, date], DaySpending] = {}
        self.reserved: dict[str, Reserved] = {}
        self._dearest: dict[tuple[str, date], Decimal] = {}

    def pay(self, tenant_id: str, spent: Usage) -> None:
        """Put a call on the bill of its tenant's day."""
        if not spent.model_calls:
            return
        at = tenant_id, self.now.date()
        before = self.bills.get(at)
        unpriced = self.billing.unpriced(spent)
        self.bills[at] = DaySpending(
            tenant_id=tenant_id,
            day=at[1],
            model=self.billing.model,
            usage=before.usage + spent if before else spent,
            unpriced_calls=(before.unpriced_calls if before else 0) + unpriced,
        )
        self._dearest[at] = max(spent.cost, self._dearest.get(at, Decimal(0)))

    def release(self, call_id: str) -> None:
        """Set free what was set aside for a call."""
        self.reserved.pop(call_id, None)

    def spent(self, tenant_id: str) -> Decimal:
        """Return what a tenant has spent today."""
        bill = self.bills.get((tenant_id, self.now.date()))
        return bill.usage.cost if bill else Decimal(0)

    def reserve(self, tenant_id: str, call_id: str, budget: Decimal, lasts: float) -> bool:
        """Set aside what a call may cost; False where it does not fit."""
        others = [
            r.amount
            for id_, r in self.reserved.items()
            if r.tenant_id == tenant_id and id_ != call_id and r.expires_at > self.now
        ]
        spent = self.spent(tenant_id)
        if spent + sum(others) >= budget:
            return False
        amount = self._lately(tenant_id) or budget - spent
        ends = self.now + timedelta(seconds=lasts)
        self.reserved[call_id] = Reserved(tenant_id, amount, ends)
        return True

    @property
    def to_midnight(self) -> float:
        """Seconds until the day ends."""
        start = self.now.replace(hour=0, minute=0, second=0, microsecond=0)
        return (start + timedelta(days=1) - self.now).total_seconds()

    def _lately(self, tenant_id: str) -> Decimal:
        first = self.now.date() - timedelta(days=LATELY_DAYS - 1)
        found = [d for (t, day), d in self._dearest.items() if t == tenant_id and day >= first]
        return max(found, default=Decimal(0))

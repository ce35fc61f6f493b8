"""What model calls have cost, straight from the rows that recorded them."""

from __future__ import annotations

from collections.abc import Sequence

from core.models import Change, ChangeCost, DaySpending, Usage
from core.postgres.journal import bill
from core.postgres.queries import Pool, execute, fetch_all, fetch_one
from core.postgres.rows import usage_of
from core.prices import UNBILLED, Billing


class PostgresSpending:
    """The `Spending` port."""

    def __init__(self, pool: Pool, billing: Billing = UNBILLED) -> None:
        self._pool = pool
        self._billing = billing

    async def of_days(self, tenant_id: str | None, days: int) -> Sequence[DaySpending]:
        """Give the last `days` days, today among them, newest first, then by tenant."""
        rows = await fetch_all(self._pool, "spending.of_days", tenant_id=tenant_id, days=days)
        return [
            DaySpending(
                tenant_id=row["tenant_id"],
                day=row["day"],
                model=row["model"],
                usage=usage_of(row),
                unpriced_calls=row["unpriced_calls"],
            )
            for row in rows
        ]

    async def of_change(self, change: Change) -> ChangeCost:
        """Give what one change cost."""
        row = await fetch_one(self._pool, "spending.of_change", id=change.id)
        return ChangeCost.model_validate(row["cost"]) if row else ChangeCost()

    async def pay(self, tenant_id: str, call_id: str, spent: Usage) -> None:
        """Put a call on the bill of which nothing else is recorded."""
        params = {**bill(self._billing, tenant_id, spent), "call_id": call_id}
        await execute(self._pool, "spending.pay", **params)

"""What model calls have cost, straight from the rows that recorded them."""

from __future__ import annotations

from collections.abc import Sequence

from core.models import Change, ChangeCost, DaySpending, Usage
from core.postgres.journal import bill
from core.postgres.queries import Pool, execute, fetch_all, fetch_one
from core.postgres.rows import usage_of
from core.prices import UNBILLED, Billing
from core.reply_keys import author_prefix


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
        author = await fetch_one(
            self._pool, "spending.of_author", key=change.key, author=author_prefix(change.key)
        )
        run = await fetch_one(self._pool, "spending.of_run", candidate_id=change.candidate_id)
        parts: dict[str, object] = {}
        if author is not None:
            parts |= {"author": usage_of(author), "authored_by": max(1, author["shared_by"])}
        if run is not None:
            parts |= {"run": usage_of(run), "shared_by": max(1, run["shared_by"])}
        return ChangeCost.model_validate(parts)

    async def pay(self, tenant_id: str, call_id: str, spent: Usage) -> None:
        """Put a call on the bill of which nothing else is recorded."""
        params = {**bill(self._billing, tenant_id, spent), "call_id": call_id}
        await execute(self._pool, "spending.pay", **params)

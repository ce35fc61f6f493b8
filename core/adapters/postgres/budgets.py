"""Daily budgets across all workers: a call's cost is reserved before it starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from decimal import Decimal

import structlog
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from core.adapters.postgres.queries import (
    Pool,
    Statement,
    execute,
    fetch_all,
    fetch_one,
    send,
    sql,
    transaction,
    usage_of,
)
from core.adapters.postgres.runs import bill
from core.agent.budgets import LATELY_DAYS, DailyBudgets, still_running
from core.agent.prices import UNBILLED, Billing
from core.domain.errors import DatabaseDown
from core.domain.models import Change, ChangeCost, DaySpending, TenantBudget, Usage
from core.domain.models.base import plain
from core.domain.ports import Sleep
from core.domain.tasks import end_tasks


class PostgresSpending:
    """The `Spending` port."""

    def __init__(self, pool: Pool, billing: Billing = UNBILLED) -> None:
        self._pool = pool
        self._billing = billing

    async def of_days(self, tenant_id: str | None, days: int) -> Sequence[DaySpending]:
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
        row = await fetch_one(self._pool, "spending.of_change", id=change.id)
        return ChangeCost.model_validate(row["cost"]) if row else ChangeCost()

    async def pay(self, tenant_id: str, call_id: str, spent: Usage) -> None:
        params = {**bill(self._billing, tenant_id, spent), "call_id": call_id}
        await execute(self._pool, "spending.pay", **params)


log = structlog.get_logger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 0.25  # seconds between two attempts to reserve


class PostgresBudgets:
    """The `Budgets` port; without a budget, or for free calls, it costs no round trip.

    A reservation is renewed while its call runs; `lasts` seconds after the last renewal its worker
    counts as dead, and the amount is free again.
    """

    def __init__(
        self,
        pool: Pool,
        daily: DailyBudgets,
        billing: Billing,
        *,
        sleep: Sleep,
        longest_wait: float = 120.0,
        lasts: float = 30.0,
    ) -> None:
        self._pool = pool
        self._daily = daily
        self._billing = billing
        self._sleep = sleep
        self._longest_wait = longest_wait
        self._lasts = lasts

    @asynccontextmanager
    async def call(self, tenant_id: str, call_id: str) -> AsyncIterator[None]:
        budget = self._limit(tenant_id)
        if budget is None:
            yield
            return
        await self._begin(tenant_id, call_id, budget)
        keeper = asyncio.create_task(self._renew(call_id), name="budget")
        try:
            yield
        finally:
            await end_tasks([keeper])
            await self._release(call_id)

    async def require(self, tenant_id: str) -> None:
        budget = self._limit(tenant_id)
        if budget is None:
            return
        row = await fetch_one(self._pool, "budgets.spent", tenant_id=tenant_id)
        if row is not None:
            self._refuse_used_up(tenant_id, budget, row)

    async def used_up(self) -> Sequence[TenantBudget]:
        if not self._daily.has_any or not self._billing.can_cost:
            return ()
        rows = await fetch_all(self._pool, "budgets.used_up", **self._params())
        return [TenantBudget.model_validate(row) for row in rows]

    async def today(self, tenant_id: str | None) -> Sequence[TenantBudget]:
        params = {**self._params(), "tenant_id": tenant_id}
        rows = await fetch_all(self._pool, "budgets.today", **params)
        return [TenantBudget.model_validate(row) for row in rows]

    def _limit(self, tenant_id: str) -> Decimal | None:
        return self._daily.of(tenant_id) if self._billing.can_cost else None

    def _params(self) -> dict[str, object]:
        own = self._daily.by_tenant.items()
        budgets = {tenant: None if b is None else plain(b) for tenant, b in own}
        return {"budgets": Jsonb(budgets), "default": self._daily.default}

    async def _begin(self, tenant_id: str, call_id: str, budget: Decimal) -> None:
        waited, pause = 0.0, _FIRST_PAUSE
        while not await self._try(tenant_id, call_id, budget):
            if waited >= self._longest_wait:
                raise still_running(tenant_id, self._longest_wait)
            await self._sleep(pause)
            waited, pause = waited + pause, min(2 * pause, _LONGEST_PAUSE)

    async def _try(self, tenant_id: str, call_id: str, budget: Decimal) -> bool:
        """Try to reserve; False if running calls stand in the way. Raises BudgetUsedUp."""
        params = {
            "id": call_id,
            "tenant_id": tenant_id,
            "budget": budget,
            "lately": LATELY_DAYS,
            "lasts": self._lasts,
        }
        async with transaction(self._pool) as conn:
            await conn.execute(sql("budgets.lock"), params)
            row = await (await conn.execute(sql("budgets.reserve"), params)).fetchone()
        if row is None:
            return False
        if not row["taken"]:
            self._refuse_used_up(tenant_id, budget, row)
        return bool(row["taken"])

    def _refuse_used_up(self, tenant_id: str, budget: Decimal, row: DictRow) -> None:
        state = TenantBudget(tenant_id=tenant_id, budget=budget, spent=row["spent"])
        if state.is_used_up:
            raise self._daily.used_up(state, row["to_midnight"])

    async def _renew(self, call_id: str) -> None:
        """Renew the reservation until cancelled."""
        while True:
            await self._sleep(self._lasts / 3)
            with suppress(DatabaseDown):
                await execute(self._pool, "budgets.renew", id=call_id, lasts=self._lasts)

    async def _release(self, call_id: str) -> None:
        try:
            # With the cost of the call, if that still waits.
            await send(self._pool, Statement(sql("budgets.release"), {"id": call_id}))
        except DatabaseDown as error:
            # The call's result stands; its reservation expires by itself.
            log.warning("reservation.left_behind", error=error.message)

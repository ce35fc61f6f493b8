"""The `Spending` and `Budgets` ports in memory: several over one `Ledger` are several workers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from decimal import Decimal

from core.agent.budgets import DailyBudgets, still_running
from core.agent.prices import Billing
from core.agent.reply_keys import author_prefix
from core.domain.models import Change, ChangeCost, DaySpending, TenantBudget, Usage
from core.domain.ports import Sleep
from core.testing.changes import MemoryChangeLog
from core.testing.inbox import MemoryInbox
from core.testing.ledger import Ledger
from core.testing.replies import MemoryReplies
from core.testing.runs import MemoryRuns


class MemorySpending:
    """What the other stores in memory know of the cost of a change, and the ledger's bills."""

    def __init__(
        self,
        ledger: Ledger,
        *,
        log: MemoryChangeLog,
        runs: MemoryRuns,
        replies: MemoryReplies,
    ) -> None:
        self._ledger = ledger
        self._log = log
        self._runs = runs
        self._replies = replies

    async def of_days(self, tenant_id: str | None, days: int) -> Sequence[DaySpending]:
        first = self._ledger.now.date() - timedelta(days=days - 1)
        found = [
            bill
            for (tenant, day), bill in self._ledger.bills.items()
            if tenant_id in {None, tenant} and day >= first
        ]
        return sorted(found, key=lambda bill: (-bill.day.toordinal(), bill.tenant_id))

    async def of_change(self, change: Change) -> ChangeCost:
        changes = self._log.changes.values()
        prefix = author_prefix(change.key)
        candidate = self._runs.stored.get(change.candidate_id or "")
        of_run = [c for c in changes if candidate and c.candidate_id == candidate.id]
        return ChangeCost(
            author=await self._replies.usage(prefix),
            authored_by=max(1, sum(c.key == change.key for c in changes)),
            run=candidate.usage if candidate else Usage(),
            shared_by=max(1, len(of_run)),
        )

    async def pay(self, tenant_id: str, call_id: str, spent: Usage) -> None:
        self._ledger.pay(tenant_id, spent)
        self._ledger.release(call_id)


class MemoryBudgets:
    """Daily budgets over a ledger."""

    def __init__(
        self,
        ledger: Ledger,
        daily: DailyBudgets,
        *,
        billing: Billing | None = None,
        inbox: MemoryInbox | None = None,
        sleep: Sleep = asyncio.sleep,
        longest_wait: float = 120.0,
        lasts: float = 30.0,
    ) -> None:
        self._ledger = ledger
        self._daily = daily
        self._can_cost = (billing or ledger.billing).can_cost
        self._inbox = inbox
        self._sleep = sleep
        self._longest_wait = longest_wait
        self._lasts = lasts

    @asynccontextmanager
    async def call(self, tenant_id: str, call_id: str) -> AsyncIterator[None]:
        budget = self._limit(tenant_id)
        if budget is not None:
            await self._begin(tenant_id, call_id, budget)
        try:
            yield
        finally:
            self._ledger.release(call_id)

    async def require(self, tenant_id: str) -> None:
        state = self._state(tenant_id)
        if state.is_used_up and self._can_cost:
            raise self._daily.used_up(state, self._ledger.to_midnight)

    async def used_up(self) -> Sequence[TenantBudget]:
        if not self._can_cost:
            return ()
        states = [self._state(tenant) for tenant in sorted(set(self._waiting()))]
        return [state for state in states if state.is_used_up]

    async def today(self, tenant_id: str | None) -> Sequence[TenantBudget]:
        today = self._ledger.now.date()
        known = {tenant for tenant, day in self._ledger.bills if day == today}
        known |= set(self._daily.by_tenant)
        return [self._state(t) for t in (sorted(known) if tenant_id is None else [tenant_id])]

    async def _begin(self, tenant_id: str, call_id: str, budget: Decimal) -> None:
        waited = 0.0
        while not self._ledger.reserve(tenant_id, call_id, budget, self._lasts):
            await self.require(tenant_id)
            if waited >= self._longest_wait:
                raise still_running(tenant_id, self._longest_wait)
            await self._sleep(0.25)
            waited += 0.25

    def _limit(self, tenant_id: str) -> Decimal | None:
        return self._daily.of(tenant_id) if self._can_cost else None

    def _state(self, tenant_id: str) -> TenantBudget:
        return TenantBudget(
            tenant_id=tenant_id,
            budget=self._daily.of(tenant_id),
            spent=self._ledger.spent(tenant_id),
            waiting=self._waiting().count(tenant_id),
        )

    def _waiting(self) -> list[str]:
        pieces = self._inbox.feedback.values() if self._inbox else ()
        return [piece.tenant_id for piece in pieces if not piece.status.is_end]

"""Spending and budgets, in memory and in PostgreSQL; days and seconds pass as the tests say."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from core.adapters.postgres.budgets import PostgresBudgets, PostgresSpending
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.runs import PostgresJournal, PostgresReplies
from core.agent.budgets import DailyBudgets
from core.agent.prices import Billing
from core.domain.ports import Budgets, Journal, Replies, Spending
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.budgets import (
    FIVE_CENTS,
    PRICED,
    BudgetsContract,
    NextDay,
    OpenBudgets,
    PassTime,
)
from core.testing.contracts.spending import SpendingContract
from core.testing.knowledge import MemoryKnowledge
from core.testing.ledger import Ledger
from core.testing.spending import MemoryBudgets, MemorySpending
from core.testing.stores import MemoryInbox, MemoryJournal, MemoryReplies, MemoryRuns
from tests.support.postgres_stores import PostgresStores


class InMemory:
    @pytest.fixture
    def ledger(self) -> Ledger:
        return Ledger(PRICED)

    @pytest.fixture
    def pass_time(self, ledger: Ledger) -> PassTime:
        async def later(seconds: float) -> None:
            ledger.now += timedelta(seconds=seconds)
            await asyncio.sleep(0)

        return later

    @pytest.fixture
    def next_day(self, pass_time: PassTime) -> NextDay:
        return lambda: pass_time(86_400)

    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def runs(self, change_log: MemoryChangeLog) -> MemoryRuns:
        return MemoryRuns(log=change_log)

    @pytest.fixture
    def inbox(self, runs: MemoryRuns) -> MemoryInbox:
        return MemoryInbox(runs=runs)

    @pytest.fixture
    def journal(self, ledger: Ledger, runs: MemoryRuns) -> Journal:
        return MemoryJournal(runs=runs, ledger=ledger)

    @pytest.fixture
    def replies(self, ledger: Ledger) -> MemoryReplies:
        return MemoryReplies(ledger=ledger)

    @pytest.fixture
    def spending(
        self,
        ledger: Ledger,
        change_log: MemoryChangeLog,
        runs: MemoryRuns,
        replies: MemoryReplies,
    ) -> Spending:
        return MemorySpending(ledger, log=change_log, runs=runs, replies=replies)

    @pytest.fixture
    def open_budgets(self, ledger: Ledger, inbox: MemoryInbox) -> OpenBudgets:
        def budgets(
            daily: DailyBudgets = FIVE_CENTS, billing: Billing = PRICED, longest_wait: float = 60
        ) -> Budgets:
            return MemoryBudgets(
                ledger,
                daily,
                billing=billing,
                inbox=inbox,
                sleep=lambda _: asyncio.sleep(0),
                longest_wait=longest_wait,
            )

        return budgets


class InPostgres(PostgresStores):
    @pytest.fixture
    def pass_time(self, pool: Pool) -> PassTime:
        async def older(seconds: float) -> None:
            async with connection(pool) as conn:
                await conn.execute(
                    "UPDATE reservations SET expires_at = expires_at - make_interval(secs => %s)",
                    [seconds],
                )

        return older

    @pytest.fixture
    def next_day(self, pool: Pool) -> NextDay:
        async def tomorrow() -> None:
            async with connection(pool) as conn:
                # Far away and back: moved by one day, a row would meet the next one's key.
                for step in (-10_000, 9_999):
                    await conn.execute("UPDATE spending SET day = day + %s", [step])

        return tomorrow

    @pytest.fixture
    def journal(self, pool: Pool) -> Journal:
        return PostgresJournal(pool, billing=PRICED)

    @pytest.fixture
    def replies(self, pool: Pool) -> Replies:
        return PostgresReplies(pool, billing=PRICED)

    @pytest.fixture
    def spending(self, pool: Pool) -> Spending:
        return PostgresSpending(pool, PRICED)

    @pytest.fixture
    def open_budgets(self, pool: Pool) -> OpenBudgets:
        def budgets(
            daily: DailyBudgets = FIVE_CENTS, billing: Billing = PRICED, longest_wait: float = 60
        ) -> Budgets:
            return PostgresBudgets(
                pool, daily, billing, sleep=asyncio.sleep, longest_wait=longest_wait
            )

        return budgets


class TestSpendingInMemory(InMemory, SpendingContract):
    pass


class TestSpendingInPostgres(InPostgres, SpendingContract):
    pass


class TestBudgetsInMemory(InMemory, BudgetsContract):
    pass


class TestBudgetsInPostgres(InPostgres, BudgetsContract):
    pass

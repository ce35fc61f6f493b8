"""Spending and budgets in PostgreSQL; days and seconds pass as the tests say."""

from __future__ import annotations

import asyncio

import pytest

from core.adapters.postgres.budgets import PostgresBudgets, PostgresSpending
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.runs import PostgresJournal, PostgresReplies
from core.agent.budgets import DailyBudgets
from core.agent.prices import Billing
from core.domain.ports import Budgets, Journal, Replies, Spending
from tests.contracts.suites.budgets import (
    FIVE_CENTS,
    PRICED,
    BudgetsContract,
    NextDay,
    OpenBudgets,
    PassTime,
)
from tests.contracts.suites.spending import SpendingContract
from tests.support.postgres_stores import PostgresStores


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


class TestSpending(InPostgres, SpendingContract):
    pass


class TestBudgets(InPostgres, BudgetsContract):
    pass

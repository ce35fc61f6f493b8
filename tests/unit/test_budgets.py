"""A tenant over budget: its feedback waits, states why, and resumes where it stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from decimal import Decimal
from typing import cast

import pytest

from core.adapters.postgres.budgets import PostgresBudgets
from core.adapters.postgres.queries import Pool
from core.agent.budgets import DailyBudgets, Meter
from core.agent.prices import Billing, Price
from core.domain.models import (
    Feedback,
    FeedbackStatus,
    NewFeedback,
    RunEvent,
    TenantBudget,
    Usage,
)
from core.feedback_matcher import MatchDeps
from core.polling_manager import process_feedback
from core.testing.scripted_model import Turn, calls, says
from tests.support.react import MEMORY
from tests.support.worker import CLERK, DESK, MemoryWorker

DOLLAR = Price(input=Decimal(10_000), output=Decimal(0))  # a scripted call has 100 tokens of input
SAVED = [calls(("commit_to_memory", dict(MEMORY))), says("저장했습니다")]
DIVIDED = {
    "agents": [
        {"agent_id": CLERK.id, "content": "원 단위로"},
        {"agent_id": DESK.id, "content": "원 단위로"},
    ]
}


class Purse:
    """The `Budgets` of one tenant: what a call has cost is on the bill when it has ended."""

    def __init__(self) -> None:
        self.daily = DailyBudgets(Decimal(0))
        self.spent = Decimal(0)
        self.to_midnight = 43_200.0

    def pay(self, _event: RunEvent, spent: Usage) -> None:
        if spent.model_calls:
            self.spent += spent.cost

    def next_day(self) -> None:
        self.spent = Decimal(0)

    @asynccontextmanager
    async def call(self, tenant_id: str, call_id: str) -> AsyncIterator[None]:
        await self.require(tenant_id)
        yield

    async def require(self, tenant_id: str) -> None:
        state = (await self.today(tenant_id))[0]
        if state.is_used_up:
            raise self.daily.used_up(state, self.to_midnight)

    async def used_up(self) -> Sequence[TenantBudget]:
        return [state for state in await self.today(None) if state.is_used_up]

    async def today(self, tenant_id: str | None) -> Sequence[TenantBudget]:
        budget = self.daily.of(tenant_id or "t")
        return [TenantBudget(tenant_id="t", budget=budget, spent=self.spent, waiting=1)]


class BudgetedWorker(MemoryWorker):
    """Each call costs a dollar of the tenant's budget."""

    def __init__(self, budget: int, script: list[Turn]) -> None:
        super().__init__(script=script)
        self.purse = Purse()
        self.observers.append(self.purse.pay)
        self.allow(budget)

    def allow(self, budget: int) -> None:
        self.purse.daily = DailyBudgets(Decimal(budget), currency="USD")
        meter = Meter(DOLLAR, self.purse)
        deps = self._deps()
        self.deps = replace(
            deps,
            matching=MatchDeps(self.model, self.breaker, self.replies, meter=meter),
            react=replace(deps.react, meter=meter),
        )

    async def attempt(self, feedback_id: str) -> Feedback:
        self.inbox.jobs.clear()
        await process_feedback(feedback_id, deps=self.deps)
        return await self.inbox.get(feedback_id)

    async def add(self, *agent_ids: str) -> str:
        piece = NewFeedback(tenant_id="t", agent_ids=agent_ids or (CLERK.id,), content="원 단위로")
        ((feedback_id, _),) = await self.inbox.add("test", [piece])
        return feedback_id


async def test_a_run_goes_on_the_next_day_and_pays_for_no_call_twice() -> None:
    worker = BudgetedWorker(1, SAVED)
    feedback_id = await worker.add()
    held = await worker.attempt(feedback_id)
    assert (held.status, held.attempts) == (FeedbackStatus.QUEUED, 0)
    assert held.error is not None
    assert held.error.startswith(
        "budget: the daily budget of tenant 't' (1.00 USD) is used up: 1.00 spent; work goes on"
        " at 00:00 UTC"
    )
    ((_, delay),) = worker.inbox.jobs
    assert delay == pytest.approx(300)
    worker.purse.next_day()
    done = await worker.attempt(feedback_id)
    assert (done.status, done.attempts) == (FeedbackStatus.COMPLETED, 1)
    assert (done.usage.model_calls, done.usage.cost) == (2, 2)
    assert len(worker.model.seen) == 2


async def test_it_is_told_once_however_often_it_is_looked_at() -> None:
    worker = BudgetedWorker(0, [])
    feedback_id = await worker.add()
    for _ in range(20):
        held = await worker.attempt(feedback_id)
    assert (held.status, held.attempts) == (FeedbackStatus.QUEUED, 0)
    assert worker.happened() == ["feedback.held_back"]
    (told,) = worker.journal.events
    assert told.data["error"] == (
        "the daily budget of tenant 't' (0.00 USD) is used up: 0.00 spent; work goes on at"
        " 00:00 UTC"
    )


async def test_it_is_told_again_where_it_went_on_in_between() -> None:
    looks = calls(("search_similar_knowledge", {"content": "원"}))
    worker = BudgetedWorker(1, [looks, *SAVED])
    feedback_id = await worker.add()
    for _ in range(3):
        await worker.attempt(feedback_id)
    assert worker.happened().count("feedback.held_back") == 1
    worker.purse.next_day()
    for _ in range(3):
        await worker.attempt(feedback_id)
    assert worker.happened().count("feedback.held_back") == 2
    worker.purse.next_day()
    assert (await worker.attempt(feedback_id)).status is FeedbackStatus.COMPLETED


async def test_it_is_looked_at_again_at_midnight_where_that_is_sooner() -> None:
    worker = BudgetedWorker(0, [])
    worker.purse.to_midnight = 60
    await worker.attempt(await worker.add())
    ((_, delay),) = worker.inbox.jobs
    assert delay == pytest.approx(60)


async def test_a_budget_that_was_raised_lets_it_go_on() -> None:
    worker = BudgetedWorker(1, SAVED)
    feedback_id = await worker.add()
    await worker.attempt(feedback_id)
    worker.allow(2)
    assert (await worker.attempt(feedback_id)).status is FeedbackStatus.COMPLETED


async def test_the_matchers_call_is_paid_for_once_too() -> None:
    worker = BudgetedWorker(1, [calls(("MatchAnswer", DIVIDED)), *SAVED, says("이미 압니다")])
    feedback_id = await worker.add(CLERK.id, DESK.id)
    assert (await worker.attempt(feedback_id)).status is FeedbackStatus.QUEUED
    assert len(worker.model.seen) == 1
    worker.allow(3)
    await worker.attempt(feedback_id)
    assert len(worker.model.seen) == 3
    assert worker.purse.spent == 3


async def test_without_a_budget_nothing_is_asked_of_the_database() -> None:
    nowhere = cast("Pool", None)
    none = DailyBudgets(None, {"lab": None, "other": Decimal(5)})
    free = Billing("m", Price(input=Decimal(0), output=Decimal(0)))
    for daily, billing in ((none, Billing("m", DOLLAR)), (DailyBudgets(Decimal(5)), free)):
        budgets = PostgresBudgets(nowhere, daily, billing, sleep=asyncio.sleep)
        async with budgets.call("lab", "c"):
            await budgets.require("lab")
    assert (
        await PostgresBudgets(
            nowhere, DailyBudgets(), Billing("m", DOLLAR), sleep=asyncio.sleep
        ).used_up()
        == ()
    )


async def test_events_say_what_a_call_and_a_run_have_cost() -> None:
    worker = BudgetedWorker(9, SAVED)
    await worker.attempt(await worker.add())
    told = {e.name: e.data.get("cost") for e in worker.journal.events if "cost" in e.data}
    assert told == {"model.called": "1", "run.finished": "2"}

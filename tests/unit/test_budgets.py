"""A tenant over budget: its feedback waits, states why, and resumes where it stopped."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import cast

import pytest

from core.adapters.postgres.budgets import PostgresBudgets
from core.adapters.postgres.queries import Pool
from core.agent.budgets import DailyBudgets, Meter
from core.agent.prices import Billing, Price
from core.domain.models import Feedback, FeedbackStatus, NewFeedback
from core.feedback_matcher import MatchDeps
from core.polling_manager import process_feedback
from core.testing.ledger import Ledger
from core.testing.scripted_model import Turn, calls, says
from core.testing.spending import MemoryBudgets
from core.testing.stores import MemoryJournal, MemoryReplies
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


class BudgetedWorker(MemoryWorker):
    """Each call costs a dollar of the tenant's budget."""

    def __init__(self, budget: int, script: list[Turn]) -> None:
        super().__init__(script=script)
        self.ledger = Ledger(Billing("m", DOLLAR))
        self.replies = MemoryReplies(self._tell, self.ledger)
        self.journal = MemoryJournal(runs=self.runs, observe=self._tell, ledger=self.ledger)
        self.allow(budget)

    def allow(self, budget: int) -> None:
        daily = DailyBudgets(Decimal(budget), currency="USD")
        budgets = MemoryBudgets(self.ledger, daily, sleep=lambda _: asyncio.sleep(0))
        meter = Meter(DOLLAR, budgets)
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
    worker.ledger.now += timedelta(days=1)
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
    worker.ledger.now += timedelta(days=1)
    for _ in range(3):
        await worker.attempt(feedback_id)
    assert worker.happened().count("feedback.held_back") == 2
    worker.ledger.now += timedelta(days=1)
    assert (await worker.attempt(feedback_id)).status is FeedbackStatus.COMPLETED


async def test_it_is_looked_at_again_at_midnight_where_that_is_sooner() -> None:
    worker = BudgetedWorker(0, [])
    worker.ledger.now = worker.ledger.now.replace(hour=23, minute=59)
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
    assert worker.ledger.spent("t") == 3


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

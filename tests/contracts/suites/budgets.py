"""Contract of budgets over all workers; supply `open_budgets` and `next_day`.

Also `journal`, `inbox` and `pass_time`, which lets seconds go by.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Protocol

import pytest

from core.agent.budgets import DailyBudgets
from core.agent.prices import Billing, Price
from core.domain.errors import BudgetUsedUp, CircuitOpen, ModelDown
from core.domain.models import FeedbackStatus, Outcome, RunEvent, Usage
from core.domain.ports import Budgets, Inbox, Journal
from tests.contracts.suites.inbox import claimed, piece

PassTime = Callable[[float], Awaitable[None]]
NextDay = Callable[[], Awaitable[None]]
CENT = Usage(model_calls=1, input_tokens=100, output_tokens=10, cost=Decimal("0.01"))
PRICED = Billing("m", Price(input=Decimal(1), output=Decimal(2)))
FIVE_CENTS = DailyBudgets(Decimal("0.05"), currency="USD")


class OpenBudgets(Protocol):
    """Open the budgets of another worker on the same database."""

    def __call__(
        self, daily: DailyBudgets = FIVE_CENTS, billing: Billing = PRICED, longest_wait: float = 60
    ) -> Budgets:
        """Return budgets that share amounts spent and reserved with the others."""


class BudgetsContract:
    """Tests for any budgets."""

    @pytest.fixture(autouse=True)
    def _ports(self, open_budgets: OpenBudgets, journal: Journal) -> None:
        self.open, self.journal = open_budgets, journal
        self.begun: list[str] = []

    async def test_calls_of_one_cost_land_at_exactly_the_cap(self) -> None:
        workers = [self.open(), self.open(), self.open()]
        ends = await self._all(workers, 24)
        assert len(self.begun) == 5
        assert sum(isinstance(end, BudgetUsedUp) for end in ends) == 19

    async def test_while_no_cost_is_known_one_call_runs_at_a_time_then_many(self) -> None:
        budgets = self.open(DailyBudgets(Decimal(100)), longest_wait=0)
        async with budgets.call("t", "first"):
            with pytest.raises(CircuitOpen):
                await self._call(budgets, "t", "second")
            await self._paid("t", "first")
        both = asyncio.Barrier(2)

        async def meet(call_id: str) -> None:
            async with budgets.call("t", call_id):
                await asyncio.wait_for(both.wait(), 20)

        await asyncio.gather(meet("second"), meet("third"))

    async def test_what_is_said_names_the_tenant_the_budget_and_what_was_spent(self) -> None:
        budgets = self.open()
        for number in range(5):
            await self._call(budgets, "t", f"c{number}")
        with pytest.raises(BudgetUsedUp) as caught:
            await self._call(budgets, "t", "one more")
        assert caught.value.message == (
            "the daily budget of tenant 't' (0.05 USD) is used up: 0.05 spent; work goes on at"
            " 00:00 UTC"
        )
        assert caught.value.retry_after is not None
        assert 0 <= caught.value.retry_after <= 300
        assert caught.value.retryable
        with pytest.raises(BudgetUsedUp):
            await budgets.require("t")

    async def test_other_tenants_go_on(self) -> None:
        budgets = self.open()
        for number in range(5):
            await self._call(budgets, "t", f"c{number}")
        await budgets.require("other")
        await self._call(budgets, "other", "theirs")
        assert self.begun[-1] == "theirs"

    async def test_a_tenants_own_budget_wins_and_none_is_without_limit(self) -> None:
        daily = DailyBudgets(Decimal("0.01"), {"big": Decimal("0.03"), "lab": None})
        budgets = self.open(daily)
        for tenant, calls in (("small", 1), ("big", 3), ("lab", 4)):
            for number in range(calls):
                await self._call(budgets, tenant, f"{tenant}{number}")
        for tenant in ("small", "big"):
            with pytest.raises(BudgetUsedUp):
                await self._call(budgets, tenant, "more")
        await self._call(budgets, "lab", "more")

    async def test_a_new_day_and_a_raised_budget_let_work_go_on(self, next_day: NextDay) -> None:
        budgets = self.open()
        for number in range(5):
            await self._call(budgets, "t", f"c{number}")
        raised = self.open(DailyBudgets(Decimal("0.06")))
        await self._call(raised, "t", "raised")
        with pytest.raises(BudgetUsedUp):
            await self._call(raised, "t", "again")
        await next_day()
        await self._call(budgets, "t", "tomorrow")

    async def test_what_a_dead_worker_set_aside_is_free_again_after_its_time(
        self, pass_time: PassTime
    ) -> None:
        budgets = self.open(longest_wait=0)
        for number in range(4):
            await self._call(budgets, "t", f"c{number}")
        dead = self.open().call("t", "dead")
        await dead.__aenter__()
        with pytest.raises(CircuitOpen) as caught:
            await self._call(budgets, "t", "fifth")
        assert not isinstance(caught.value, BudgetUsedUp)  # it has not: a call runs
        await pass_time(31)
        await self._call(budgets, "t", "fifth")
        await dead.__aexit__(None, None, None)

    async def test_whoever_takes_a_call_up_again_has_what_was_set_aside_for_it(self) -> None:
        budgets = self.open(longest_wait=0)
        dead = self.open().call("t", "cut off")
        await dead.__aenter__()
        await self._call(budgets, "t", "cut off")
        await dead.__aexit__(None, None, None)

    async def test_what_was_set_aside_is_taken_up_again_after_its_time_too(
        self, pass_time: PassTime
    ) -> None:
        budgets = self.open(longest_wait=0)
        for number in range(4):
            await self._call(budgets, "t", f"c{number}")
        dead = self.open().call("t", "cut off")
        await dead.__aenter__()
        await pass_time(31)
        async with budgets.call("t", "cut off"):
            with pytest.raises(CircuitOpen):  # it is set aside anew
                await self._call(budgets, "t", "other")
        await dead.__aexit__(None, None, None)

    async def test_a_call_that_fails_costs_nothing_and_sets_nothing_aside(self) -> None:
        budgets = self.open(longest_wait=0)
        with pytest.raises(ModelDown):
            async with budgets.call("t", "down"):
                raise ModelDown("503")
        for number in range(5):
            await self._call(budgets, "t", f"c{number}")

    async def test_whom_calls_cost_nothing_is_not_held_back(self) -> None:
        budgets = self.open(DailyBudgets(Decimal(0)), Billing("local"))
        await budgets.require("t")
        await self._call(budgets, "t", "free")
        assert await budgets.used_up() == ()

    async def test_those_are_named_whose_feedback_waits_for_the_next_day(
        self, inbox: Inbox
    ) -> None:
        ((first, _),) = await inbox.add("cli", [piece("s-1")])
        await inbox.add("cli", [piece("s-2")])
        tenant_id = (await inbox.get(first)).tenant_id
        budgets = self.open()
        assert list(await budgets.used_up()) == []
        for number in range(5):
            await self._call(budgets, tenant_id, f"c{number}")
            await self._call(budgets, "nothing waits", f"n{number}")
        (found,) = await budgets.used_up()
        assert (found.tenant_id, found.waiting, found.is_used_up) == (tenant_id, 2, True)
        assert (found.budget, found.spent) == (Decimal("0.05"), Decimal("0.05"))
        nothing = self.open(DailyBudgets(None, {tenant_id: Decimal(0)}))
        assert [t.tenant_id for t in await nothing.used_up()] == [tenant_id]
        claim = await claimed(inbox, first)
        await inbox.finish(claim, Outcome(status=FeedbackStatus.NO_ACTION))
        (found,) = await budgets.used_up()
        assert found.waiting == 1

    async def test_a_tenants_day_can_be_looked_at(self) -> None:
        budgets = self.open(DailyBudgets(Decimal(1), {"rich": Decimal(9), "lab": None}))
        await self._call(budgets, "t", "c1")
        assert [(t.tenant_id, t.budget, t.spent) for t in await budgets.today(None)] == [
            ("lab", None, 0),
            ("rich", 9, 0),
            ("t", 1, Decimal("0.01")),
        ]
        (unknown,) = await budgets.today("new")
        assert (unknown.budget, unknown.spent) == (Decimal(1), Decimal(0))

    async def test_a_tenants_day_is_todays_and_counts_what_waits_of_it(
        self, inbox: Inbox, next_day: NextDay
    ) -> None:
        budgets = self.open()
        for tenant_id in ("tenant", "yesterday"):
            await self._call(budgets, tenant_id, f"old {tenant_id}")
        await next_day()
        await self._call(budgets, "tenant", "new")
        for number, tenant_id in enumerate(["tenant"] * 3 + ["other"]):
            new = piece(f"s-{number}").model_copy(update={"tenant_id": tenant_id})
            ((feedback_id, _),) = await inbox.add("cli", [new])
            if number < 2:
                claim = await claimed(inbox, feedback_id)
            if number == 0:
                await inbox.finish(claim, Outcome(status=FeedbackStatus.NO_ACTION))
        (day,) = await budgets.today("tenant")
        assert (day.tenant_id, day.spent, day.waiting) == ("tenant", Decimal("0.01"), 2)
        assert [each.tenant_id for each in await budgets.today(None)] == ["tenant"]
        (day,) = await budgets.today("other")
        assert (day.spent, day.waiting) == (0, 1)

    async def _all(
        self, workers: list[Budgets], calls: int, after: asyncio.Event | None = None
    ) -> list[BaseException | None]:
        if after is not None:
            await after.wait()
        return await asyncio.gather(
            *(self._call(workers[n % len(workers)], "t", f"c{n}") for n in range(calls)),
            return_exceptions=True,
        )

    async def _call(self, budgets: Budgets, tenant_id: str, call_id: str) -> None:
        async with budgets.call(tenant_id, call_id):
            self.begun.append(call_id)
            await asyncio.sleep(0)
            await self._paid(tenant_id, call_id)

    async def _paid(self, tenant_id: str, call_id: str) -> None:
        event = RunEvent(name="model.called", tenant_id=tenant_id, candidate_id=call_id)
        await self.journal.emit(event, CENT)

"""Contract of every reader of spending; supply `spending`, `next_day` and the stores it reads.

Those are `journal`, `replies`, `inbox`, `runs` and `change_log`, whose model is called `m`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from decimal import Decimal

import pytest

from core.domain.hashing import author_prefix
from core.domain.models import Change, DaySpending, RunEvent, Usage
from core.domain.ports import ChangeLog, Inbox, Journal, Replies, Runs, Spending
from tests.contracts.suites.change_log import memory_change
from tests.contracts.suites.inbox import added, matched

NextDay = Callable[[], Awaitable[None]]
TENTH = Usage(model_calls=1, input_tokens=100, output_tokens=10, cost=Decimal("0.1"))


class SpendingContract:
    """Tests for any reader of spending."""

    @pytest.fixture(autouse=True)
    def _ports(self, spending: Spending, journal: Journal, replies: Replies) -> None:
        self.spending, self.journal, self.replies = spending, journal, replies

    async def test_calls_of_runs_and_beside_them_are_one_bill_of_a_tenant_and_a_day(self) -> None:
        await self._called("t", TENTH)
        await self.journal.emit(RunEvent(name="tool.called", tenant_id="t", candidate_id="c"))
        await self.replies.put("match:f:1", 0, {}, TENTH, tenant_id="t")
        await self.spending.pay("t", "look ahead", TENTH)
        await self._called("other", TENTH)
        (bill,) = await self._bills("t")
        assert (bill.tenant_id, bill.model, bill.usage) == ("t", "m", TENTH + TENTH + TENTH)
        assert bill.unpriced_calls == 0

    async def test_a_reply_stored_twice_is_paid_for_once(self) -> None:
        for _ in range(2):
            await self.replies.put("match:f:1", 0, {}, TENTH, tenant_id="t")
        (bill,) = await self._bills("t")
        assert bill.usage == TENTH

    async def test_a_reply_that_no_call_was_made_for_is_on_no_bill(self) -> None:
        await self.replies.put("match:f:1", 0, {}, Usage(), tenant_id="t")
        assert await self._bills("t") == []

    async def test_sums_are_exact(self) -> None:
        for _ in range(10):
            await self._called("t", TENTH)
        (bill,) = await self._bills("t")
        assert bill.usage.cost == 1

    async def test_calls_whose_tokens_nobody_told_are_counted_as_unpriced(self) -> None:
        await self._called("t", Usage(model_calls=1))
        await self._called("t", TENTH)
        (bill,) = await self._bills("t")
        assert (bill.usage.model_calls, bill.unpriced_calls) == (2, 1)

    async def test_days_come_newest_first_and_no_older_than_asked_for(
        self, next_day: NextDay
    ) -> None:
        await self._called("t", TENTH)
        await next_day()
        await self._called("b", TENTH)
        await self._called("a", TENTH)
        assert [bill.tenant_id for bill in await self._bills(None, 1)] == ["a", "b"]
        found = await self._bills(None, 2)
        assert [bill.tenant_id for bill in found] == ["a", "b", "t"]
        assert (found[0].day - found[2].day).days == 1
        assert [bill.tenant_id for bill in await self._bills("t", 30)] == ["t"]

    async def test_a_change_costs_its_author_and_an_equal_share_of_its_run(
        self, inbox: Inbox, runs: Runs, change_log: ChangeLog
    ) -> None:
        candidate, other = await matched(inbox, runs, await added(inbox))
        for _ in range(3):
            await self._called("t", TENTH, candidate.id)
        await self._called("t", TENTH, other.id)
        first = await self._change(change_log, "c1", candidate.id, f"{candidate.thread}:1:0")
        second = await self._change(change_log, "c2", candidate.id, f"{candidate.thread}:10:0")
        for ordinal in range(2):
            key = f"{author_prefix(first.key)}:abc"
            await self.replies.put(key, ordinal, {}, TENTH, tenant_id="t")
        costs = [await self.spending.of_change(change) for change in (first, second)]
        assert [cost.cost for cost in costs] == [Decimal("0.35"), Decimal("0.15")]
        assert [cost.author.model_calls for cost in costs] == [2, 0]
        assert [(cost.run.model_calls, cost.shared_by) for cost in costs] == [(3, 2), (3, 2)]

    async def test_what_no_model_was_asked_for_costs_nothing(self, change_log: ChangeLog) -> None:
        change = await self._change(change_log, "c1", None, "cli:1")
        assert (await self.spending.of_change(change)).cost == 0

    async def _change(
        self, log: ChangeLog, change_id: str, candidate_id: str | None, key: str
    ) -> Change:
        change = memory_change(change_id, None, f"원화 {change_id}")
        of_run = {"key": key, "candidate_id": candidate_id, "target_id": f"m-{change_id}"}
        change = change.model_copy(update=of_run | {"epoch": 1 if candidate_id else 0})
        await log.open(change, {})
        return change

    async def _called(self, tenant_id: str, spent: Usage, candidate_id: str = "c") -> None:
        event = RunEvent(name="model.called", tenant_id=tenant_id, candidate_id=candidate_id)
        await self.journal.emit(event, spent)

    async def _bills(self, tenant_id: str | None, days: int = 1) -> list[DaySpending]:
        return [*await self.spending.of_days(tenant_id, days)]

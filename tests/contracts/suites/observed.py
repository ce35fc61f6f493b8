"""Contract of observers: every writer of events notifies them.

Supply `journal`, `change_log`, `replies` and `told`.
"""

from __future__ import annotations

import pytest

from core.domain.models import NO_USAGE, RunEvent, Usage
from core.domain.ports import ChangeLog, Journal, Replies
from tests.contracts.suites.change_log import history_of, memory_change

Told = list[tuple[RunEvent, Usage]]
HAPPENED = RunEvent(name="change.applied", tenant_id="t", data={"kind": "MEMORY"})


class ObservedContract:
    """Tests for what observers receive; `told` is the list they write to."""

    async def test_an_event_is_told_with_what_was_spent(self, journal: Journal, told: Told) -> None:
        spent = Usage(model_calls=1, input_tokens=7, output_tokens=2)
        await journal.emit(HAPPENED, spent)
        assert told == [(HAPPENED, spent)]

    async def test_the_events_of_a_settlement_are_told_when_it_is_over(
        self, change_log: ChangeLog, told: Told
    ) -> None:
        change = memory_change("c1", None, "원화")
        await change_log.open(change, {})
        async with change_log.unit_of_work(change) as unit:
            await unit.emit(HAPPENED)
            assert told == []
        assert told == [(HAPPENED, NO_USAGE)]

    async def test_what_is_rolled_back_has_not_happened(
        self, change_log: ChangeLog, told: Told
    ) -> None:
        change = memory_change("c1", None, "원화")
        await change_log.open(change, {})

        async def emit_and_break() -> None:
            async with change_log.unit_of_work(change) as unit:
                await unit.emit(HAPPENED)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await emit_and_break()
        assert told == []

    async def test_a_change_that_failed_at_once_is_told_too(
        self, change_log: ChangeLog, told: Told
    ) -> None:
        change = memory_change("c1", None, "원화").model_copy(update={"status": "failed"})
        await change_log.store(change, {}, HAPPENED, history_of(change))
        assert told == [(HAPPENED, NO_USAGE)]

    async def test_each_model_call_outside_the_thread_is_told_with_its_cost(
        self, replies: Replies, told: Told
    ) -> None:
        spent = Usage(model_calls=1, input_tokens=7, output_tokens=2)
        await replies.put("match:f1:1", 0, "first", spent, tenant_id="t")
        await replies.put("match:f1:1", 0, "late, but paid for", spent, tenant_id="t")
        assert [event.name for event, _ in told] == ["reply.stored", "reply.stored"]
        assert [usage for _, usage in told] == [spent, spent]

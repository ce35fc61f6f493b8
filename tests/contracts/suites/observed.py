"""Contract of observers: every writer of events notifies them.

Supply `journal`, `change_log`, `replies`, `inbox`, `intake` and `told`.
"""

from __future__ import annotations

import pytest

from core.domain.models import NO_USAGE, RunEvent, Usage
from core.domain.ports import ChangeLog, Inbox, Intake, Journal, Replies
from tests.contracts.suites.change_log import history_of, memory_change
from tests.contracts.suites.inbox import added

Told = list[tuple[RunEvent, Usage]]
HAPPENED = RunEvent(name="change.applied", tenant_id="t", data={"kind": "MEMORY"})


class ObservedContract:
    """Tests for what observers receive; `told` is the list they write to."""

    async def test_an_event_is_told_with_what_was_spent(self, journal: Journal, told: Told) -> None:
        spent = Usage(model_calls=1, input_tokens=7, output_tokens=2)
        await journal.emit(HAPPENED, spent)
        assert told == [(HAPPENED, spent)]

    async def test_the_events_of_a_unit_of_work_are_told_when_it_is_over(
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

    async def test_a_pause_is_told_and_its_end_is_told_once(
        self, intake: Intake, told: Told
    ) -> None:
        await intake.pause("점검")
        await intake.resume()
        await intake.resume()
        assert [event.name for event, _ in told] == ["queue.paused", "queue.resumed"]

    async def test_what_a_person_cancels_is_told(
        self, inbox: Inbox, intake: Intake, told: Told
    ) -> None:
        feedback_id = await added(inbox)
        told.clear()
        await intake.cancel(feedback_id, "sent twice")
        assert [(event.name, event.feedback_id) for event, _ in told] == [
            ("feedback.cancelled", feedback_id)
        ]

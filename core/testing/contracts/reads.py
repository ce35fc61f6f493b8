"""What every reader must give; a class supplies `reader`, `inbox`, `change_log`, `journal`."""

from __future__ import annotations

import pytest

from core.errors import InvalidInput, NotFound
from core.models import FeedbackStatus, Outcome, RunEvent
from core.ports import ChangeLog, Inbox, Journal, Reader
from core.testing.contracts.change_log import carry_out, history_of, memory_change
from core.testing.contracts.inbox import added, piece


class ReaderContract:
    """Tests for any reader."""

    async def test_feedback_comes_newest_first_page_by_page(
        self, inbox: Inbox, reader: Reader
    ) -> None:
        for batch in (("s-1", "s-2"), ("s-3", "s-4"), ("s-5",)):
            await inbox.add("cli", [piece(source_id) for source_id in batch])
        seen, cursor = [], None
        for size in (2, 2, 1):
            page, cursor = await reader.feedback(
                status=None, tenant_id=None, limit=2, cursor=cursor
            )
            assert len(page) == size
            seen += [item.source_id for item in page]
        assert cursor is None
        assert seen == ["s-5", "s-4", "s-3", "s-2", "s-1"]

    async def test_a_page_is_not_disturbed_by_what_comes_in(
        self, inbox: Inbox, reader: Reader
    ) -> None:
        await inbox.add("cli", [piece("s-1"), piece("s-2")])
        _, cursor = await reader.feedback(status=None, tenant_id=None, limit=1, cursor=None)
        await inbox.add("cli", [piece("s-3")])
        page, _ = await reader.feedback(status=None, tenant_id=None, limit=1, cursor=cursor)
        assert [item.source_id for item in page] == ["s-1"]

    async def test_feedback_is_filtered_and_counted(self, inbox: Inbox, reader: Reader) -> None:
        await inbox.add("cli", [piece("s-1"), piece("s-2")])
        ended = await added(inbox, piece("s-3").model_copy(update={"tenant_id": "other"}))
        await inbox.finish(await inbox.get(ended), Outcome(status=FeedbackStatus.NO_ACTION))
        for filters, expected in (
            ({"status": "no_action", "tenant_id": None}, ["s-3"]),
            ({"status": None, "tenant_id": "tenant"}, ["s-2", "s-1"]),
            ({"status": "queued", "tenant_id": "other"}, []),
        ):
            page, cursor = await reader.feedback(**filters, limit=10, cursor=None)
            assert [item.source_id for item in page] == expected
            assert cursor is None
        assert dict(await reader.counts()) == {"queued": 2, "no_action": 1}

    @pytest.mark.parametrize("cursor", ["x", "!", "한글", "MjAyNi0wMS0wMQ=="])
    async def test_a_broken_cursor_is_invalid(self, reader: Reader, cursor: str) -> None:
        with pytest.raises(InvalidInput, match="no cursor"):
            await reader.feedback(status=None, tenant_id=None, limit=1, cursor=cursor)

    async def test_changes_and_history_are_listed(
        self, change_log: ChangeLog, reader: Reader
    ) -> None:
        change = memory_change("c1", None, "원화")
        await carry_out(change_log, change)
        changes, _ = await reader.changes(status="applied", limit=5, cursor=None)
        assert [found.id for found in changes] == ["c1"]
        assert (await reader.changes(status="held", limit=5, cursor=None)) == ([], None)
        history, _ = await reader.history(feedback_id=None, limit=5, cursor=None)
        record = history_of(change)
        assert [found.id for found in history] == [record.id]
        found = await reader.history_record(record.id)
        assert found.model_copy(update={"created_at": None}) == record
        assert await reader.history(feedback_id="nothing", limit=5, cursor=None) == ([], None)
        with pytest.raises(NotFound):
            await reader.history_record("nothing")

    async def test_events_come_in_order_for_one_feedback(
        self, journal: Journal, reader: Reader
    ) -> None:
        for name in ("feedback.claimed", "feedback.finished"):
            await journal.emit(
                RunEvent(name=name, feedback_id="f1", tenant_id="t", data={"몇": [1, None]})
            )
        await journal.emit(RunEvent(name="feedback.claimed", feedback_id="f2"))
        events = await reader.events("f1")
        assert [(event.name, event.data) for event in events] == [
            ("feedback.claimed", {"몇": [1, None]}),
            ("feedback.finished", {"몇": [1, None]}),
        ]

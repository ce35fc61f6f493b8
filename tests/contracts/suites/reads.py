"""Contract of every reader; a class supplies `reader`, `inbox`, `change_log`, `journal`."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput, NotFound
from core.domain.models import (
    ChangeFilter,
    ChangeStatus,
    FeedbackFilter,
    FeedbackStatus,
    HistoryFilter,
    HistoryStatus,
    Kind,
    Outcome,
    RunEvent,
)
from core.domain.paging import encode_parts, query_digest
from core.domain.ports import ChangeLog, Inbox, Journal, Reader
from tests.contracts.suites.change_log import carry_out, history_of, memory_change
from tests.contracts.suites.inbox import added, piece


class ReaderContract:
    """Tests for any reader."""

    async def test_feedback_comes_newest_first_page_by_page(
        self, inbox: Inbox, reader: Reader
    ) -> None:
        for batch in (("s-1", "s-2"), ("s-3", "s-4"), ("s-5",)):
            await inbox.add("cli", [piece(source_id) for source_id in batch])
        seen, cursor = [], None
        for size in (2, 2, 1):
            page, cursor = await reader.feedback(FeedbackFilter(), limit=2, cursor=cursor)
            assert len(page) == size
            seen += [item.source_id for item in page]
        assert cursor is None
        assert seen == ["s-5", "s-4", "s-3", "s-2", "s-1"]

    async def test_a_page_is_not_disturbed_by_what_comes_in(
        self, inbox: Inbox, reader: Reader
    ) -> None:
        await inbox.add("cli", [piece("s-1"), piece("s-2")])
        _, cursor = await reader.feedback(FeedbackFilter(), limit=1, cursor=None)
        await inbox.add("cli", [piece("s-3")])
        page, _ = await reader.feedback(FeedbackFilter(), limit=1, cursor=cursor)
        assert [item.source_id for item in page] == ["s-1"]

    async def test_feedback_is_filtered_and_counted(self, inbox: Inbox, reader: Reader) -> None:
        await inbox.add("cli", [piece("s-1"), piece("s-2")])
        ended = await added(inbox, piece("s-3").model_copy(update={"tenant_id": "other"}))
        await inbox.finish(await inbox.get(ended), Outcome(status=FeedbackStatus.NO_ACTION))
        for wanted, expected in (
            (FeedbackFilter(statuses=(FeedbackStatus.NO_ACTION,)), ["s-3"]),
            (FeedbackFilter(tenant_id="tenant"), ["s-2", "s-1"]),
            (FeedbackFilter(statuses=(FeedbackStatus.QUEUED,), tenant_id="other"), []),
            (FeedbackFilter(statuses=tuple(FeedbackStatus)), ["s-3", "s-2", "s-1"]),
        ):
            assert await _source_ids(reader, wanted) == expected
        assert dict(await reader.counts()) == {"queued": 2, "no_action": 1}

    async def test_feedback_is_found_by_agent_text_and_time(
        self, inbox: Inbox, reader: Reader
    ) -> None:
        for source_id, agent_id, content in (
            ("s-1", "ann", "Use 100% KRW"),
            ("s-2", "ben", "금액은 원화로"),
            ("s-3", "ann", "인사는 짧게"),
        ):
            new = piece(source_id, content).model_copy(update={"agent_ids": (agent_id, "all")})
            await inbox.add("cli", [new])
        pieces, _ = await reader.feedback(FeedbackFilter(), limit=9, cursor=None)
        second = pieces[1]
        for wanted, expected in (
            (FeedbackFilter(agent_id="ann"), ["s-3", "s-1"]),
            (FeedbackFilter(agent_id="an"), []),
            (FeedbackFilter(text="krw"), ["s-1"]),
            (FeedbackFilter(text="0%"), ["s-1"]),
            (FeedbackFilter(text="%"), ["s-1"]),
            (FeedbackFilter(text="_"), []),
            (FeedbackFilter(text=second.id), ["s-2"]),
            (FeedbackFilter(text="원화", agent_id="ben"), ["s-2"]),
            (FeedbackFilter(text="원화", agent_id="ann"), []),
            (FeedbackFilter(since=second.created_at), ["s-3", "s-2"]),
            (FeedbackFilter(until=second.created_at), ["s-1"]),
        ):
            assert await _source_ids(reader, wanted) == expected, wanted

    async def test_pages_of_what_is_looked_for_are_whole(
        self, inbox: Inbox, reader: Reader
    ) -> None:
        texts = ["원화로" if n % 2 else "짧게" for n in range(9)]
        for number, text in enumerate(texts):
            await inbox.add("cli", [piece(f"s-{number}", text)])
        seen, cursor = [], None
        while True:
            page, cursor = await reader.feedback(
                FeedbackFilter(text="원화"), limit=2, cursor=cursor
            )
            seen += [item.source_id for item in page]
            if cursor is None:
                break
        assert seen == ["s-7", "s-5", "s-3", "s-1"]

    @pytest.mark.parametrize(
        "cursor",
        ["x", "!", "한글", "=", "MjAyNi0wMS0wMQ", "WyJhIl0", "e30", "W1tdLCIiLCIiXQ", "W" * 40_000],
    )
    async def test_a_broken_cursor_is_invalid(self, reader: Reader, cursor: str) -> None:
        with pytest.raises(InvalidInput, match="no cursor"):
            await reader.feedback(FeedbackFilter(), limit=1, cursor=cursor)

    @pytest.mark.parametrize(
        "place",
        [("yesterday", "x"), ("2026-01-01", "x"), ("2026-01-01T00:00+00:00", "a\0b"), ("", "")],
    )
    async def test_a_cursor_that_was_forged_is_invalid(
        self, reader: Reader, place: tuple[str, str]
    ) -> None:
        cursor = encode_parts(place, query_digest("feedback", FeedbackFilter()))
        with pytest.raises(InvalidInput, match="no cursor"):
            await reader.feedback(FeedbackFilter(), limit=1, cursor=cursor)

    async def test_a_cursor_is_of_one_list_and_its_filters(
        self, inbox: Inbox, reader: Reader
    ) -> None:
        await inbox.add("cli", [piece("s-1"), piece("s-2")])
        mine = FeedbackFilter(tenant_id="tenant")
        _, cursor = await reader.feedback(mine, limit=1, cursor=None)
        assert cursor
        assert len((await reader.feedback(mine, limit=7, cursor=cursor))[0]) == 1
        with pytest.raises(InvalidInput, match="of other filters"):
            await reader.feedback(FeedbackFilter(tenant_id="other"), limit=1, cursor=cursor)
        with pytest.raises(InvalidInput, match="of another list"):
            await reader.changes(ChangeFilter(tenant_id="tenant"), limit=1, cursor=cursor)
        with pytest.raises(InvalidInput, match="of another list"):
            await reader.history(HistoryFilter(tenant_id="tenant"), limit=1, cursor=cursor)

    async def test_changes_and_history_are_listed(
        self, change_log: ChangeLog, reader: Reader
    ) -> None:
        change = memory_change("c1", None, "원화")
        await carry_out(change_log, change)
        for wanted, expected in (
            (ChangeFilter(statuses=(ChangeStatus.APPLIED, ChangeStatus.HELD)), ["c1"]),
            (ChangeFilter(statuses=(ChangeStatus.HELD,)), []),
            (ChangeFilter(tenant_id="t", agent_id="a", kind=Kind.MEMORY), ["c1"]),
            (ChangeFilter(target_id="mem-1"), ["c1"]),
            (ChangeFilter(tenant_id="u"), []),
            (ChangeFilter(agent_id="b"), []),
            (ChangeFilter(kind=Kind.SKILL), []),
            (ChangeFilter(target_id="mem-2"), []),
            (ChangeFilter(feedback_id="nothing"), []),
        ):
            changes, _ = await reader.changes(wanted, limit=5, cursor=None)
            assert [found.id for found in changes] == expected, wanted
        history, _ = await reader.history(HistoryFilter(), limit=5, cursor=None)
        record = history_of(change)
        assert [found.id for found in history] == [record.id]
        found = await reader.history_record(record.id)
        assert found.said_at is not None  # nobody said when: now
        assert found.model_copy(update={"created_at": None, "said_at": None}) == record
        for asked, is_there in (
            (HistoryFilter(tenant_id="t", kind=Kind.MEMORY, item_id="mem-1"), True),
            (HistoryFilter(agent_id="a", statuses=(HistoryStatus.APPLIED,)), True),
            (HistoryFilter(statuses=(HistoryStatus.FAILED,)), False),
            (HistoryFilter(tenant_id="u"), False),
            (HistoryFilter(kind=Kind.SKILL), False),
            (HistoryFilter(item_id="mem-2"), False),
            (HistoryFilter(agent_id="b"), False),
            (HistoryFilter(feedback_id="nothing"), False),
        ):
            records, _ = await reader.history(asked, limit=5, cursor=None)
            assert bool(records) is is_there, asked
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


async def _source_ids(reader: Reader, wanted: FeedbackFilter) -> list[str]:
    page, cursor = await reader.feedback(wanted, limit=10, cursor=None)
    assert cursor is None
    return [item.source_id for item in page]

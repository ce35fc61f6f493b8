"""What was said before a piece of feedback and what that taught, in PostgreSQL."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.conversations import PostgresConversations
from core.adapters.postgres.queries import Pool
from core.domain.hashing import state_hash
from core.domain.models import (
    Change,
    ChangeStatus,
    EarlierPiece,
    Feedback,
    Kind,
    NewFeedback,
    Operation,
    Receipt,
    ReceiptStatus,
    Snapshot,
    Verdict,
    VerdictStatus,
)
from core.domain.ports import ChangeLog, Inbox, Runs
from tests.contracts.suites.change_log import remembered
from tests.contracts.suites.inbox import parts_of
from tests.contracts.suites.reviews import HAPPENED
from tests.support.postgres_stores import PostgresStores

START = datetime(2026, 5, 1, tzinfo=UTC)
WON, DOLLARS = "견적 금액은 원화로 적는다", "견적 금액은 달러로 적는다"


class TestConversations(PostgresStores):
    """Pieces said one minute after another, in threads and in answer to each other."""

    @pytest.fixture(autouse=True)
    def _stores(self, pool: Pool, change_log: ChangeLog, inbox: Inbox, runs: Runs) -> None:
        self.change_log, self.inbox, self.runs = change_log, inbox, runs
        self.conversations = PostgresConversations(pool)
        self.minutes = 0

    async def _say(self, source_id: str, source: str = "s", **given: object) -> Feedback:
        self.minutes += 1
        said = {"said_at": START + timedelta(minutes=self.minutes), "content": source_id}
        fields = {"id": source_id, "tenant_id": "tenant", "agent_ids": ("agent-1",)}
        new = NewFeedback.model_validate({**fields, **said, **given})
        ((feedback_id, _),) = await self.inbox.add(source, [new])
        return await self.inbox.get(feedback_id)

    async def _before(self, feedback: Feedback, limit: int = 8) -> list[EarlierPiece]:
        return [*await self.conversations.before(feedback, limit)]

    async def _words(self, feedback: Feedback, limit: int = 8) -> list[str]:
        return [piece.content for piece in await self._before(feedback, limit)]

    async def _teach(self, feedback: Feedback, *states: str | None, item_id: str = "m1") -> None:
        """Bring an item through these texts by applied changes of a piece; None deletes it."""
        before: str | None = None
        for number, text in enumerate(states):
            change = _change(feedback, f"{item_id} {number}", item_id, before, text)
            await self.change_log.open(change, {})
            async with self.change_log.unit_of_work(change) as unit:
                await unit.write_item(change)
                await unit.close(change.id, ChangeStatus.APPLIED)
            before = text

    @pytest.mark.parametrize(
        ("source", "answering"), [("inbox", "inbox/tenant"), ("inbox/tenant", "inbox")]
    )
    async def test_the_source_that_tenants_had_in_common_is_theirs(
        self, source: str, answering: str
    ) -> None:
        await self._say("first", source)
        await self._say("second", source, in_reply_to="first")
        answer = await self._say("third", answering, in_reply_to="second")
        assert await self._words(answer) == ["second", "first"]

    async def test_a_piece_that_stands_alone_has_nothing_before_it(self) -> None:
        await self._say("one")
        assert await self._words(await self._say("two")) == []

    async def test_of_a_thread_comes_what_was_said_before_newest_first(self) -> None:
        for name in ("one", "two"):
            await self._say(name, thread="견적")
        piece = await self._say("three", thread="견적")
        await self._say("four", thread="견적")
        await self._say("elsewhere", thread="다른 견적")
        assert await self._words(piece) == ["two", "one"]

    async def test_a_chain_of_answers_is_followed_back(self) -> None:
        await self._say("one")
        await self._say("two", in_reply_to="one")
        piece = await self._say("three", in_reply_to="two")
        found = await self._before(piece)
        assert [one.content for one in found] == ["two", "one"]
        assert [one.is_answered for one in found] == [True, False]

    async def test_what_is_answered_may_be_named_by_our_id_too(self) -> None:
        first = await self._say("one", source="another")
        assert await self._words(await self._say("two", in_reply_to=first.id)) == ["one"]

    async def test_an_id_of_the_source_goes_before_one_of_ours(self) -> None:
        first = await self._say("one")
        await self._say(first.id, content="named like it")
        assert await self._words(await self._say("two", in_reply_to=first.id)) == ["named like it"]

    async def test_what_is_answered_comes_along_however_long_ago(self) -> None:
        await self._say("asked", thread="t")
        for number in range(5):
            await self._say(f"n{number}", thread="t")
        piece = await self._say("answer", thread="t", in_reply_to="asked")
        assert await self._words(piece, limit=3) == ["n4", "n3", "asked"]

    async def test_another_tenants_piece_is_no_part_of_it(self) -> None:
        other = await self._say("one", tenant_id="other", thread="t")
        piece = await self._say("two", in_reply_to="one", thread="t")
        assert await self._words(piece) == []
        assert await self._words(await self._say("three", in_reply_to=other.id)) == []

    async def test_an_answer_to_nothing_or_to_itself_is_no_error(self) -> None:
        assert await self._words(await self._say("one", in_reply_to="nowhere")) == []
        assert await self._words(await self._say("two", in_reply_to="two")) == []

    async def test_pieces_that_answer_each_other_end(self) -> None:
        await self._say("one", in_reply_to="two")
        await self._say("two", in_reply_to="one")
        piece = await self._say("three", in_reply_to="two")
        assert await self._words(piece) == ["two", "one"]

    async def test_a_piece_comes_with_what_it_taught_as_that_stands(self) -> None:
        first = await self._say("원화로요", output={"합계": 3}, author="김")
        await self._teach(first, WON, DOLLARS)
        await self._teach(first, "삭제된 것", None, item_id="m2")
        (found,) = await self._before(await self._say("취소", in_reply_to="원화로요"))
        assert (found.author, found.output, found.said_at) == ("김", {"합계": 3}, first.said_at)
        told = [(one.id, one.operation, one.known, one.before) for one in found.taught]
        assert told == [
            ("m1", Operation.CREATE, DOLLARS, None),
            ("m1", Operation.UPDATE, DOLLARS, WON),
            ("m2", Operation.CREATE, None, None),
            ("m2", Operation.DELETE, None, "삭제된 것"),
        ]
        assert {one.status for one in found.taught} == {ChangeStatus.APPLIED}

    async def test_what_waits_for_a_person_is_told_as_that(self) -> None:
        first = await self._say("one")
        held = _change(first, "h", "m1", None, WON, status=ChangeStatus.HELD, held=("reviewed",))
        await self.change_log.store(held, {}, HAPPENED)
        (found,) = await self._before(await self._say("two", in_reply_to="one"))
        assert [(one.status, one.known) for one in found.taught] == [(ChangeStatus.HELD, None)]

    async def test_what_was_known_already_is_told_with_its_item(self) -> None:
        first, again = await self._say("one"), await self._say("again")
        await self._teach(first, WON)
        known = Receipt(
            status=ReceiptStatus.KNOWN,
            message="known",
            kind=Kind.MEMORY,
            target_id="m1",
            target_name="m1",
        )
        candidate, *_ = await self.runs.save_candidates(again, parts_of(again))
        verdict = Verdict(status=VerdictStatus.COMPLETED, receipts=(known,))
        await self.runs.finish(await self.runs.start(candidate, 1), verdict)
        (found,) = await self._before(await self._say("two", in_reply_to="again"))
        assert [(one.id, one.status, one.known) for one in found.taught] == [("m1", None, WON)]


def _change(
    feedback: Feedback,
    key: str,
    item_id: str,
    before: str | None,
    after: str | None,
    **given: object,
) -> Change:
    operation = Operation.CREATE if before is None else Operation.UPDATE
    states: dict[str, object] = {"operation": operation if after else Operation.DELETE}
    was, now = [Snapshot(content=text, name=text) if text else None for text in (before, after)]
    states |= {"before": was, "after": now, "base_hash": state_hash(was)}
    about = {"feedback_id": feedback.id, "agent_id": "agent-1", "tenant_id": "tenant"}
    update = {**about, **states, "key": key, "id": key, **given}
    return remembered(item_id, after or "", None).model_copy(update=update)

"""Contract of every store of runs; a test class supplies `inbox`, `runs` and `change_log`."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.domain.errors import LeaseLost, NotFound
from core.domain.messages import Message, term
from core.domain.models import (
    Candidate,
    Change,
    ChangeStatus,
    Fence,
    Hit,
    Kind,
    Receipt,
    ReceiptStatus,
    Usage,
    Verdict,
    VerdictStatus,
)
from core.domain.ports import ChangeLog, Inbox, Runs
from tests.contracts.suites.change_log import memory_change
from tests.contracts.suites.inbox import added, parts_of


async def matched(inbox: Inbox, runs: Runs) -> Sequence[Candidate]:
    """Add feedback for two agents and store a candidate for each."""
    feedback = await inbox.get(await added(inbox))
    return await runs.save_candidates(feedback, parts_of(feedback))


class RunsContract:
    """Tests for any store of runs."""

    async def test_before_matching_there_are_no_candidates(self, inbox: Inbox, runs: Runs) -> None:
        assert list(await runs.candidates(await added(inbox))) == []

    async def test_candidates_keep_the_matchers_order(self, inbox: Inbox, runs: Runs) -> None:
        saved = await matched(inbox, runs)
        assert [(c.agent_id, c.position, c.content) for c in saved] == [
            ("agent-1", 0, "agent-1: 원화"),
            ("agent-2", 1, "agent-2: 원화"),
        ]
        assert [(c.epoch, c.generation, c.verdict) for c in saved] == [(1, 1, None), (0, 1, None)]
        assert list(await runs.candidates(saved[0].feedback_id)) == list(saved)

    async def test_a_second_answer_of_the_matcher_changes_nothing(
        self, inbox: Inbox, runs: Runs
    ) -> None:
        feedback = await inbox.get(await added(inbox))
        first = await runs.save_candidates(feedback, parts_of(feedback)[:1])
        assert list(await runs.save_candidates(feedback, parts_of(feedback))) == []
        assert list(await runs.candidates(feedback.id)) == list(first)

    async def test_an_answer_without_parts_gives_no_candidates(
        self, inbox: Inbox, runs: Runs
    ) -> None:
        feedback = await inbox.get(await added(inbox))
        assert list(await runs.save_candidates(feedback, [])) == []

    async def test_starting_raises_the_epoch_and_takes_the_generation(
        self, inbox: Inbox, runs: Runs
    ) -> None:
        first, second = await matched(inbox, runs)
        started = await runs.start(first, 3)
        assert (started.epoch, started.generation) == (first.epoch + 1, 3)
        assert started.thread == f"{first.id}:3"
        assert (await runs.start(started, 3)).epoch == first.epoch + 2
        assert list(await runs.candidates(first.feedback_id))[1] == second

    async def test_a_candidate_that_is_unknown_cannot_start(self, inbox: Inbox, runs: Runs) -> None:
        first, _ = await matched(inbox, runs)
        with pytest.raises(NotFound):
            await runs.start(first.model_copy(update={"id": "nothing"}), 1)

    async def test_a_verdict_is_kept_whole(self, inbox: Inbox, runs: Runs) -> None:
        first, second = await matched(inbox, runs)
        receipt = Receipt(status=ReceiptStatus.APPLIED, message="기억함", change_id="c1")
        verdict = Verdict(
            status=VerdictStatus.COMPLETED,
            reason="learnt",
            receipts=(receipt,),
            usage=Usage(model_calls=3, input_tokens=5, output_tokens=1),
        )
        await runs.finish(await runs.start(first, 1), verdict)
        kept = await runs.candidates(first.feedback_id)
        assert [candidate.verdict for candidate in kept] == [verdict, None]
        assert kept[1] == second

    async def test_what_a_verdict_says_is_known_with_its_parameters(
        self, inbox: Inbox, runs: Runs
    ) -> None:
        first, _ = await matched(inbox, runs)
        why = Message.of("test.why", "it says {what}", {"what": term("MEMORY")})
        hit = Hit(kind=Kind.MEMORY, id="m1", name="원화", excerpt="", score=1.0, why=why)
        receipt = Receipt(
            status=ReceiptStatus.REFUSED,
            message=Message.of("test.refused", "refused: {why}", {"why": why}),
            warnings=(Message.of("test.warned", "{n} cases", {"n": 2}), "plain"),
            hits=(hit,),
        )
        reason = Message.of("test.reason", "failed", {})
        verdict = Verdict(status=VerdictStatus.FAILED, reason=reason, receipts=(receipt,))
        await runs.finish(await runs.start(first, 1), verdict)
        kept = (await runs.candidates(first.feedback_id))[0].verdict
        assert kept == verdict
        assert [_coded(text) for text in kept.texts()] == [_coded(text) for text in verdict.texts()]

    async def test_whoever_was_taken_over_can_neither_go_on_nor_finish(
        self, inbox: Inbox, runs: Runs
    ) -> None:
        first, _ = await matched(inbox, runs)
        old = await runs.start(first, 1)
        await runs.check(_fence(old))
        new = await runs.start(first, 1)
        with pytest.raises(LeaseLost):
            await runs.check(_fence(old))
        with pytest.raises(LeaseLost):
            await runs.finish(old, Verdict(status=VerdictStatus.COMPLETED))
        assert (await runs.candidates(first.feedback_id))[0].verdict is None
        await runs.check(_fence(new))

    async def test_receipts_are_of_the_candidates_own_changes_that_hold(
        self, inbox: Inbox, runs: Runs, change_log: ChangeLog
    ) -> None:
        first, _ = await matched(inbox, runs)
        started = await runs.start(first, 1)
        for name, status in (
            ("applied", ChangeStatus.APPLIED),
            ("held", ChangeStatus.HELD),
            ("failed", ChangeStatus.FAILED),
            ("reverted", ChangeStatus.REVERTED),
        ):
            await _made(change_log, _change_of(started, name), status)
        await _made(change_log, memory_change("of-nobody", None, "x"), ChangeStatus.APPLIED)
        receipts = await runs.receipts(first.id)
        assert [(receipt.change_id, receipt.status) for receipt in receipts] == [
            ("applied", ReceiptStatus.APPLIED),
            ("held", ReceiptStatus.HELD),
        ]


def _fence(candidate: Candidate) -> Fence:
    return Fence(candidate_id=candidate.id, epoch=candidate.epoch)


def _change_of(candidate: Candidate, name: str) -> Change:
    change = memory_change(name, None, name)
    return change.model_copy(
        update={"candidate_id": candidate.id, "epoch": candidate.epoch, "target_id": name}
    )


def _coded(text: str) -> object:
    return text.to_json() if isinstance(text, Message) else text


async def _made(log: ChangeLog, change: Change, status: ChangeStatus) -> None:
    await log.open(change, {})
    async with log.unit_of_work(change) as unit:
        await unit.close(change.id, status)

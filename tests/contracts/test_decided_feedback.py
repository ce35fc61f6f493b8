"""Feedback whose changes wait for a person: how it ends, among other feedback, in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.queries import Pool
from core.domain.models import (
    Change,
    ChangeStatus,
    Feedback,
    FeedbackStatus,
    Outcome,
    Receipt,
    ReceiptStatus,
    Verdict,
    VerdictStatus,
)
from core.domain.ports import ChangeLog, Inbox, Reviews, Runs
from tests.contracts.suites.inbox import added, claimed, parts_of, piece
from tests.contracts.suites.reviews import HAPPENED, waiting
from tests.support.postgres_stores import PostgresStores

HELD, KNOWN, APPLIED = ReceiptStatus.HELD, ReceiptStatus.KNOWN, ReceiptStatus.APPLIED


class TestDecidedFeedback(PostgresStores):
    """Pieces of feedback, each with a candidate whose run has ended."""

    @pytest.fixture(autouse=True)
    def _stores(
        self, pool: Pool, change_log: ChangeLog, inbox: Inbox, runs: Runs, reviews: Reviews
    ) -> None:
        self.change_log, self.inbox, self.runs, self.reviews = change_log, inbox, runs, reviews
        self.waiters = PostgresDuplicateWaiters(pool)

    async def _run(self, name: str, *statuses: ReceiptStatus) -> Feedback:
        """Run a piece whose candidate comes to these receipts."""
        feedback = await claimed(self.inbox, await added(self.inbox, piece(name)))
        candidate, *_ = await self.runs.save_candidates(feedback, parts_of(feedback))
        receipts = tuple(Receipt(status=status, message=status) for status in statuses)
        verdict = Verdict(status=VerdictStatus.COMPLETED, receipts=receipts)
        await self.runs.finish(await self.runs.start(candidate, 1), verdict)
        return feedback

    async def _hold(self, feedback: Feedback, **given: object) -> Change:
        """Let a change wait that feedback led to."""
        update = {"id": f"of {feedback.id}", "key": feedback.id, "feedback_id": feedback.id}
        change = waiting(f"m {feedback.id}").model_copy(update={**update, **given})
        await self.change_log.store(change, {}, HAPPENED)
        return await self.change_log.get(change.id)

    async def _end(self, feedback: Feedback) -> None:
        await self.inbox.finish(feedback, Outcome(status=FeedbackStatus.HELD))

    async def _reject(self, change: Change) -> None:
        await self.reviews.end(change, ChangeStatus.REJECTED, "kim", "no", HAPPENED)

    async def _apply(self, change: Change) -> None:
        intent = await self.reviews.approve(change, "kim", HAPPENED)
        async with self.change_log.unit_of_work(intent) as unit:
            await unit.close(intent.id, ChangeStatus.APPLIED)

    async def _status(self, feedback: Feedback) -> FeedbackStatus:
        return (await self.inbox.get(feedback.id)).status

    @pytest.mark.parametrize(
        ("receipt", "status"),
        [
            (HELD, FeedbackStatus.NO_ACTION),
            (ReceiptStatus.FAILED, FeedbackStatus.NO_ACTION),
            (KNOWN, FeedbackStatus.COMPLETED),
            (ReceiptStatus.ATTACHED, FeedbackStatus.COMPLETED),
        ],
    )
    async def test_what_was_rejected_ends_by_what_else_came_of_it(
        self, receipt: ReceiptStatus, status: FeedbackStatus
    ) -> None:
        feedback = await self._run("s-1", HELD, receipt)
        change = await self._hold(feedback)
        await self._end(feedback)
        await self._reject(change)
        assert await self._status(feedback) is status

    async def test_what_others_learnt_completes_nobody_elses_feedback(self) -> None:
        mine, known, taught, waits, joined = [
            await self._run(f"s-{n}", KNOWN if n == 1 else HELD) for n in range(5)
        ]
        change = await self._hold(mine)
        applied, open_ = await self._hold(taught), await self._hold(waits)
        again = open_.model_copy(update={"feedback_id": joined.id, "id": "x", "key": "x"})
        assert await self.waiters.join(again)
        await self.waiters.note(again.model_copy(update={"feedback_id": known.id}))
        for feedback in (mine, known, taught, waits, joined):
            await self._end(feedback)
        await self._apply(applied)
        await self._reject(change)
        statuses = [await self._status(one) for one in (mine, known, taught, waits, joined)]
        assert statuses == ["no_action", "held", "completed", "held", "held"]
        await self._apply(open_)
        assert [await self._status(one) for one in (waits, joined)] == ["completed"] * 2

    async def test_a_change_that_only_takes_back_completes_no_feedback(self) -> None:
        feedback = await self._run("s-1", HELD)
        change = await self._hold(feedback)
        undo = [
            await self._hold(feedback, id=f"undo {n}", key=f"u{n}", target_id=f"m{n}", **given)
            for n, given in enumerate([{"reverts": "c"}, {"retracts": ("c",)}])
        ]
        await self._end(feedback)
        for taking_back in undo:
            await self._apply(taking_back)
        assert await self._status(feedback) is FeedbackStatus.HELD
        await self._reject(change)
        assert await self._status(feedback) is FeedbackStatus.NO_ACTION

"""Contract of every intake; a test class supplies each port, and `jobs`: those that wait."""

from __future__ import annotations

import pytest

from core.domain.errors import LeaseLost, NotFound, Refused
from core.domain.hashing import matching_prefix
from core.domain.models import FeedbackStatus, Fence, PauseKind, RunEvent, Usage
from core.domain.ports import Inbox, Intake, Journal, Replies, Runs
from tests.contracts.suites.inbox import (
    DONE,
    FAILED,
    WaitingJobs,
    added,
    claimed,
    matched,
    piece,
    refused,
    verdict_of,
)


class IntakeContract:
    """Tests for any intake."""

    async def test_only_ended_feedback_is_revived(self, inbox: Inbox, intake: Intake) -> None:
        with pytest.raises(NotFound):
            await intake.revive("nothing")
        feedback_id = await added(inbox)
        with pytest.raises(Refused):
            await intake.revive(feedback_id)
        await inbox.claim(feedback_id)
        with pytest.raises(Refused):
            await intake.revive(feedback_id)

    async def test_a_revived_piece_begins_a_generation_with_no_verdicts(
        self, inbox: Inbox, intake: Intake, runs: Runs, jobs: WaitingJobs
    ) -> None:
        feedback_id = await added(inbox)
        claim = await claimed(inbox, feedback_id)
        before = await matched(inbox, runs, feedback_id)
        await runs.finish(await runs.start(before[0], 1), verdict_of(Usage()))
        await inbox.finish(claim, FAILED)
        revived = await intake.revive(feedback_id)
        assert revived == await inbox.get(feedback_id)
        assert (revived.status, revived.generation) == (FeedbackStatus.QUEUED, 2)
        assert (revived.attempts, revived.error, revived.finished_at) == (0, None, None)
        after = await runs.candidates(feedback_id)
        assert [candidate.id for candidate in after] == [candidate.id for candidate in before]
        assert [candidate.verdict for candidate in after] == [None, None]
        assert list(await jobs()) == [feedback_id, feedback_id]
        await refused(inbox, claim)

    async def test_what_is_done_with_one_piece_leaves_others_as_they_are(
        self, inbox: Inbox, intake: Intake, runs: Runs, jobs: WaitingJobs
    ) -> None:
        ended, revived, waits, cancelled, runs_on = [
            await added(inbox, piece(f"s-{n}")) for n in range(5)
        ]
        for feedback_id in (ended, revived):
            claim = await claimed(inbox, feedback_id)
            candidate, *_ = await matched(inbox, runs, feedback_id)
            await runs.finish(await runs.start(candidate, 1), verdict_of(Usage()))
            await inbox.finish(claim, FAILED)
        claim = await claimed(inbox, runs_on)
        candidate, *_ = await matched(inbox, runs, runs_on)
        candidate = await runs.start(candidate, 1)
        kept = [await inbox.get(feedback_id) for feedback_id in (ended, waits, runs_on)]
        verdicts = [one.verdict for one in await runs.candidates(ended)]
        await intake.revive(revived)
        await intake.cancel(cancelled, "sent twice")
        assert [await inbox.get(one.id) for one in kept] == kept
        assert [one.verdict for one in await runs.candidates(ended)] == verdicts
        assert verdicts[0] is not None
        assert cancelled not in await jobs()
        assert waits in await jobs()
        await runs.check(Fence(candidate_id=candidate.id, epoch=candidate.epoch))
        await inbox.finish(claim, DONE)

    async def test_what_waits_can_be_cancelled_and_its_job_goes(
        self, inbox: Inbox, intake: Intake, jobs: WaitingJobs
    ) -> None:
        feedback_id = await added(inbox)
        cancelled = await intake.cancel(feedback_id, "sent twice")
        assert cancelled == await inbox.get(feedback_id)
        assert (cancelled.status, cancelled.error) == (FeedbackStatus.CANCELLED, "sent twice")
        assert cancelled.finished_at is not None
        assert list(await jobs()) == []
        assert await inbox.claim(feedback_id) is None

    async def test_whoever_works_on_a_cancelled_piece_commits_nothing_more(
        self, inbox: Inbox, intake: Intake, runs: Runs
    ) -> None:
        feedback_id = await added(inbox)
        claim = await claimed(inbox, feedback_id)
        first, _ = await matched(inbox, runs, feedback_id)
        started = await runs.start(first, 1)
        await intake.cancel(feedback_id, "sent twice")
        await refused(inbox, claim)
        with pytest.raises(LeaseLost):
            await runs.check(Fence(candidate_id=started.id, epoch=started.epoch))
        with pytest.raises(LeaseLost):
            await runs.finish(started, verdict_of(Usage()))
        assert (await inbox.get(feedback_id)).status is FeedbackStatus.CANCELLED

    async def test_a_cancelled_piece_tells_what_was_spent_on_it(
        self, inbox: Inbox, intake: Intake, runs: Runs, replies: Replies, journal: Journal
    ) -> None:
        feedback_id = await added(inbox)
        await claimed(inbox, feedback_id)
        one = Usage(model_calls=1, input_tokens=10, output_tokens=2)
        await replies.put(f"{matching_prefix(feedback_id)}1", 1, {}, one, tenant_id="t")
        first, _ = await matched(inbox, runs, feedback_id)
        await journal.emit(RunEvent(name="model.called", candidate_id=first.id), one)
        assert (await intake.cancel(feedback_id, "sent twice")).usage == one + one

    async def test_what_has_ended_is_not_cancelled(self, inbox: Inbox, intake: Intake) -> None:
        with pytest.raises(NotFound):
            await intake.cancel("nothing", "why")
        feedback_id = await added(inbox)
        await inbox.finish(await claimed(inbox, feedback_id), DONE)
        with pytest.raises(Refused, match="completed"):
            await intake.cancel(feedback_id, "too late")
        assert (await inbox.get(feedback_id)).status is FeedbackStatus.COMPLETED

    async def test_a_cancelled_piece_can_be_tried_again(
        self, inbox: Inbox, intake: Intake, jobs: WaitingJobs
    ) -> None:
        feedback_id = await added(inbox)
        await intake.cancel(feedback_id, "by mistake")
        with pytest.raises(Refused, match="cancelled"):
            await intake.cancel(feedback_id, "again")
        revived = await intake.revive(feedback_id)
        assert (revived.status, revived.generation) == (FeedbackStatus.QUEUED, 2)
        assert list(await jobs()) == [feedback_id]
        await inbox.finish(await claimed(inbox, feedback_id), DONE)

    async def test_a_pause_lasts_until_it_is_ended(self, intake: Intake) -> None:
        assert await intake.paused() is None
        assert not await intake.resume()
        first = await intake.pause("점검")
        assert (first.kind, first.reason, first.fatal) == (PauseKind.PAUSED, "점검", False)
        second = await intake.pause("longer")
        assert (second.reason, second.since) == ("longer", first.since)
        assert await intake.paused() == second
        assert await intake.pause("") == second
        assert await intake.resume()
        assert await intake.paused() is None

    async def test_a_pause_still_takes_feedback_in(self, inbox: Inbox, intake: Intake) -> None:
        await intake.pause("점검")
        assert (await inbox.get(await added(inbox))).status is FeedbackStatus.QUEUED

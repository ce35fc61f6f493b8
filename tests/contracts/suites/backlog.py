"""Contract of every backlog; a test class supplies it, the inbox, the log and its reviews."""

from __future__ import annotations

from datetime import timedelta

from core.domain.models import ChangeStatus, FeedbackStatus, Outcome, Undecided, Waiting
from core.domain.ports import Backlog, ChangeLog, Inbox, Reviews
from tests.contracts.suites.inbox import added, claimed, piece
from tests.contracts.suites.reviews import HAPPENED, waiting


class BacklogContract:
    """Tests for any backlog."""

    async def test_of_nothing_there_is_nothing(self, backlog: Backlog) -> None:
        assert await backlog.waiting() == Waiting()
        assert await backlog.ended() == {}
        assert await backlog.undecided() == Undecided()
        assert await backlog.going_out() == {}

    async def test_pieces_are_counted_by_where_they_stand(
        self, backlog: Backlog, inbox: Inbox
    ) -> None:
        await inbox.add("cli", [piece("s-1"), piece("s-2")])
        await claimed(inbox, await added(inbox, piece("s-3")))
        for source_id, status in (("s-4", "dead"), ("s-5", "no_action"), ("s-6", "dead")):
            claim = await claimed(inbox, await added(inbox, piece(source_id)))
            await inbox.finish(claim, Outcome(status=FeedbackStatus(status)))
        waiting = await backlog.waiting()
        assert (waiting.queued, waiting.processing) == (2, 1)
        assert await backlog.ended() == {FeedbackStatus.DEAD: 2, FeedbackStatus.NO_ACTION: 1}

    async def test_the_oldest_that_is_queued_grows_older_until_none_is(
        self, backlog: Backlog, inbox: Inbox
    ) -> None:
        feedback_id = await added(inbox, piece("s-1"))
        began = (await backlog.waiting()).oldest_seconds
        await added(inbox, piece("s-2"))
        assert 0 <= began < (await backlog.waiting()).oldest_seconds < 600
        for queued in (feedback_id, (await inbox.add("cli", [piece("s-2")]))[0][0]):
            await claimed(inbox, queued)
        assert (await backlog.waiting()).oldest_seconds == 0

    async def test_changes_that_wait_for_a_person_are_counted_with_the_oldest_age(
        self, backlog: Backlog, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        made = [waiting(f"m{number}") for number in range(4)]
        for change in made:
            await change_log.store(change, {}, HAPPENED)
        await reviews.end(made[0], ChangeStatus.STALE, "", "it moved", HAPPENED)
        await reviews.end(made[1], ChangeStatus.REJECTED, "kim", "no", HAPPENED)
        long_ago = {"prepared_at": await reviews.now() - timedelta(hours=2)}
        await reviews.replace(made[2].model_copy(update=long_ago), made[2], {}, HAPPENED)
        undecided = await backlog.undecided()
        assert (undecided.held, undecided.stale) == (2, 1)
        assert 7200 <= undecided.oldest_seconds < 7800

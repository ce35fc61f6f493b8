"""What every backlog must give; a test class supplies `backlog` and `inbox`."""

from __future__ import annotations

from core.models import FeedbackStatus, Outcome, Waiting
from core.ports import Backlog, Inbox
from core.testing.contracts.inbox import added, claimed, piece


class BacklogContract:
    """Tests for any backlog."""

    async def test_of_nothing_there_is_nothing(self, backlog: Backlog) -> None:
        assert await backlog.waiting() == Waiting()
        assert await backlog.ended() == {}

    async def test_pieces_are_counted_by_where_they_stand(
        self, backlog: Backlog, inbox: Inbox
    ) -> None:
        await inbox.add("cli", [piece("s-1"), piece("s-2")])
        await claimed(inbox, await added(inbox, piece("s-3")))
        for source_id, status in (("s-4", "dead"), ("s-5", "no_action"), ("s-6", "dead")):
            held = await claimed(inbox, await added(inbox, piece(source_id)))
            await inbox.finish(held, Outcome(status=FeedbackStatus(status)))
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
        for waiting in (feedback_id, (await inbox.add("cli", [piece("s-2")]))[0][0]):
            await claimed(inbox, waiting)
        assert (await backlog.waiting()).oldest_seconds == 0

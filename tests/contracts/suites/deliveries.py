"""Contract of deliveries; a test class supplies `inbox`, `deliveries`, `intake` over it."""

from __future__ import annotations

from core.domain.models import Feedback, FeedbackStatus, Outcome
from core.domain.ports import Deliveries, Inbox, Intake
from tests.contracts.suites.inbox import claimed, piece

FAILED = Outcome(status=FeedbackStatus.FAILED, error="it broke")


async def ended(inbox: Inbox, source_id: str, source: str = "platform") -> Feedback:
    """Finish a piece of a source; return it as claimed, with the final status."""
    ((feedback_id, _),) = await inbox.add(source, [piece(source_id)])
    held = await claimed(inbox, feedback_id)
    await inbox.finish(held, FAILED)
    return held.model_copy(update={"status": FAILED.status})


async def unacknowledged(deliveries: Deliveries, limit: int = 10) -> list[str]:
    """Return the source ids of outcomes the source has yet to be told."""
    return [one.source_id for one in await deliveries.unacknowledged("platform", limit)]


class DeliveriesContract:
    """Tests for any deliveries."""

    async def test_known_ids_are_given_with_where_each_stands(
        self, inbox: Inbox, deliveries: Deliveries
    ) -> None:
        await ended(inbox, "끝/1")
        await inbox.add("platform", [piece('waits, "2"')])
        await inbox.add("other", [piece("elsewhere")])
        found = await deliveries.known("platform", ["끝/1", 'waits, "2"', "elsewhere", "new"])
        assert found == {"끝/1": FeedbackStatus.FAILED, 'waits, "2"': FeedbackStatus.QUEUED}
        assert await deliveries.known("platform", []) == {}

    async def test_of_known_ids_those_asked_for_are_given(
        self, inbox: Inbox, deliveries: Deliveries
    ) -> None:
        await inbox.add("platform", [piece("1"), piece("2"), piece("3")])
        assert set(await deliveries.known("platform", ["2"])) == {"2"}

    async def test_ends_are_given_until_the_source_knows_them(
        self, inbox: Inbox, deliveries: Deliveries
    ) -> None:
        first, second = await ended(inbox, "1"), await ended(inbox, "2")
        await ended(inbox, "3", source="other")
        await inbox.add("platform", [piece("4")])
        assert await unacknowledged(deliveries) == ["1", "2"]
        assert await unacknowledged(deliveries, limit=1) == ["1"]
        await deliveries.acknowledged(first)
        await deliveries.acknowledged(first)
        assert await unacknowledged(deliveries) == ["2"]
        await deliveries.acknowledged(second)
        assert await unacknowledged(deliveries) == []

    async def test_an_end_is_given_with_its_reason(
        self, inbox: Inbox, deliveries: Deliveries
    ) -> None:
        held = await ended(inbox, "1")
        (given,) = await deliveries.unacknowledged("platform", 10)
        assert (given.id, given.status, given.error) == (held.id, held.status, "it broke")
        await deliveries.acknowledged(given)
        assert await unacknowledged(deliveries) == []

    async def test_what_is_not_at_its_end_cannot_be_acknowledged(
        self, inbox: Inbox, deliveries: Deliveries
    ) -> None:
        ((feedback_id, _),) = await inbox.add("platform", [piece("1")])
        held = await claimed(inbox, feedback_id)
        await deliveries.acknowledged(held.model_copy(update={"status": FAILED.status}))
        await inbox.finish(held, FAILED)
        assert await unacknowledged(deliveries) == ["1"]

    async def test_a_revived_piece_is_to_be_told_again(
        self, inbox: Inbox, deliveries: Deliveries, intake: Intake
    ) -> None:
        held = await ended(inbox, "1")
        await deliveries.acknowledged(held)
        await intake.revive(held.id)
        await deliveries.acknowledged(held)
        assert await unacknowledged(deliveries) == []
        again = await claimed(inbox, held.id)
        await inbox.finish(again, FAILED)
        await deliveries.acknowledged(held)
        assert await unacknowledged(deliveries) == ["1"]
        await deliveries.acknowledged(again.model_copy(update={"status": FAILED.status}))
        assert await unacknowledged(deliveries) == []

    async def test_a_cancelled_piece_is_to_be_told(
        self, inbox: Inbox, deliveries: Deliveries, intake: Intake
    ) -> None:
        ((feedback_id, _),) = await inbox.add("platform", [piece("1")])
        await intake.cancel(feedback_id, "not wanted")
        (given,) = await deliveries.unacknowledged("platform", 10)
        assert given.status is FeedbackStatus.CANCELLED
        await deliveries.acknowledged(given)
        assert await unacknowledged(deliveries) == []

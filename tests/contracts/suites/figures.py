"""Contract of figures; a test class supplies `figures`, `inbox` and `change_log`."""

from __future__ import annotations

from itertools import pairwise

from core.domain.models import ChangeStatus, FeedbackStatus, NewFeedback, Outcome, RunEvent
from core.domain.models.views import Standing, WaitingReviews
from core.domain.ports import ChangeLog, Figures, Inbox
from tests.contracts.suites.change_log import memory_change

QUARTER, QUARTERS = 900, 96


async def put(inbox: Inbox, tenant: str, status: FeedbackStatus | None = None) -> str:
    """Add a piece of a tenant, and end it."""
    new = NewFeedback(tenant_id=tenant, agent_ids=("a",), content="원화")
    ((feedback_id, _),) = await inbox.add("cli", [new])
    if status is not None:
        claimed = await inbox.claim(feedback_id)
        assert claimed is not None
        await inbox.finish(claimed, Outcome(status=status))
    return feedback_id


class FiguresContract:
    """Tests for any figures."""

    async def test_of_nothing_there_is_nothing(self, figures: Figures) -> None:
        assert await figures.standing(None) == Standing()
        assert await figures.outcomes("t") == []
        assert await figures.reviews(None) == WaitingReviews()
        assert await figures.workers(None) == []
        series = await figures.ended("t", QUARTER, QUARTERS)
        assert len(series.buckets) == QUARTERS
        assert not any(bucket.by_status for bucket in series.buckets)

    async def test_pieces_are_counted_by_where_they_stand_for_each_tenant(
        self, figures: Figures, inbox: Inbox
    ) -> None:
        for status in ("failed", "failed", "completed"):
            await put(inbox, "t", FeedbackStatus(status))
        await put(inbox, "u", FeedbackStatus.DEAD)
        await put(inbox, "t")
        assert await inbox.claim(await put(inbox, "u")) is not None
        of_t, of_all = await figures.standing("t"), await figures.standing(None)
        assert of_t.counts == {"queued": 1, "failed": 2, "completed": 1}
        assert of_t.last_hour == of_t.last_minutes == {"failed": 2, "completed": 1}
        assert of_all.counts == {
            "queued": 1,
            "processing": 1,
            "failed": 2,
            "completed": 1,
            "dead": 1,
        }
        assert of_t.oldest_seconds > 0
        assert of_t.due_seconds > 0
        assert (await figures.standing("u")).oldest_seconds == 0
        assert await figures.standing("nobody") == Standing()

    async def test_what_waits_for_its_next_attempt_is_not_due(
        self, figures: Figures, inbox: Inbox
    ) -> None:
        claimed = await inbox.claim(await put(inbox, "t"))
        assert claimed is not None
        await inbox.give_back(claimed, "model down", 3_600)
        standing = await figures.standing("t")
        assert standing.oldest_seconds > 0
        assert standing.due_seconds == 0

    async def test_what_ended_stands_in_its_step_of_time(
        self, figures: Figures, inbox: Inbox
    ) -> None:
        for status in ("held", "completed", "held"):
            await put(inbox, "t", FeedbackStatus(status))
        await put(inbox, "u", FeedbackStatus.HELD)
        series = await figures.ended("t", QUARTER, QUARTERS)
        ended = [bucket for bucket in series.buckets[-2:] if bucket.by_status]
        assert sum(bucket.by_status.get(FeedbackStatus.HELD, 0) for bucket in ended) == 2
        assert not any(bucket.by_status for bucket in series.buckets[:-2])
        steps = {(b.at - a.at).total_seconds() for a, b in pairwise(series.buckets)}
        assert steps == {QUARTER}
        assert series.buckets[0].at.timestamp() % QUARTER == 0
        month = await figures.ended(None, 86_400, 30)
        assert sum(sum(bucket.by_status.values()) for bucket in month.buckets) == 4

    async def test_changes_are_counted_by_what_came_of_them(
        self, figures: Figures, change_log: ChangeLog
    ) -> None:
        for number in range(3):
            change = memory_change(f"c{number}", None, f"원화 {number}").model_copy(
                update={"status": ChangeStatus.HELD, "held": ("a check warns",)}
            )
            await change_log.store(change, {}, RunEvent(name="change.held"))
        tenant = change.tenant_id
        (outcome,) = await figures.outcomes(tenant)
        assert (outcome.kind, outcome.operation, outcome.status) == ("MEMORY", "CREATE", "held")
        assert (outcome.day, outcome.month) == (3, 3)
        reviews = await figures.reviews(tenant)
        assert (reviews.held, reviews.stale) == (3, 0)
        assert reviews.oldest_seconds >= 0
        assert await figures.reviews("nobody") == WaitingReviews()

    async def test_what_is_still_prepared_or_was_never_held_waits_for_nobody(
        self, figures: Figures, change_log: ChangeLog
    ) -> None:
        change = memory_change("c1", None, "one")
        await change_log.open(change.model_copy(update={"status": ChangeStatus.PREPARED}), {})
        stale = {"status": ChangeStatus.STALE, "target_id": "mem-2", "target_name": "two"}
        other = memory_change("c2", None, "two").model_copy(update=stale)
        await change_log.store(other, {}, RunEvent(name="change.stale"))
        assert [each.status for each in await figures.outcomes("t")] == ["stale"]
        assert await figures.reviews("t") == WaitingReviews()

"""Contract of the store of held changes."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from core.domain.errors import Decided, TargetBusy
from core.domain.hashing import content_hash
from core.domain.models import Change, ChangeStatus, Kind, Operation, RunEvent, Snapshot
from core.domain.ports import ChangeLog, Reviews
from tests.contracts.suites.change_log import remembered

HAPPENED = RunEvent(name="change.held")


SAID_AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


def waiting(item_id: str = "m1", text: str = "원화") -> Change:
    """Return a held change."""
    change = remembered(item_id, text, None).model_copy(
        update={
            "status": ChangeStatus.HELD,
            "held": ("every change is reviewed",),
            "said_at": SAID_AT,
            "heard_at": SAID_AT + timedelta(minutes=3),
        }
    )
    return change.model_copy(update={"content_hash": content_hash(change)})


class ReviewsContract:
    """Tests for any such store; a test class supplies `change_log` and its `reviews`."""

    async def _held(self, change_log: ChangeLog, change: Change) -> Change:
        await change_log.store(change, {}, HAPPENED)
        return await change_log.get(change.id)

    async def test_what_waits_is_kept_whole(self, change_log: ChangeLog) -> None:
        held = await self._held(change_log, waiting())
        times = {"created_at": None, "prepared_at": None}
        assert held.model_copy(update=times) == waiting()

    async def test_an_approved_change_is_an_intent_that_can_be_settled(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        held = await self._held(change_log, waiting())
        opened = await reviews.approve(held, "kim", HAPPENED)
        assert opened == await change_log.get(held.id)
        assert (opened.status, opened.decided_by) == (ChangeStatus.APPLYING, "kim")
        assert opened.decided_at is not None
        async with change_log.unit_of_work(opened) as unit:
            await unit.close(opened.id, ChangeStatus.APPLIED)
        assert (await change_log.get(held.id)).status is ChangeStatus.APPLIED

    async def test_of_many_decisions_at_once_one_counts(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        held = await self._held(change_log, waiting())
        decisions = [
            reviews.approve(held, "a", HAPPENED),
            reviews.end(held, ChangeStatus.REJECTED, "b", "no", HAPPENED),
            reviews.end(held, ChangeStatus.REJECTED, "c", "no", HAPPENED),
            reviews.approve(held, "d", HAPPENED),
        ]
        ended = await asyncio.gather(*decisions, return_exceptions=True)
        assert sum(not isinstance(end, BaseException) for end in ended) == 1
        assert sum(isinstance(end, Decided) for end in ended) == 3

    async def test_a_rejected_change_tells_who_and_why(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        held = await self._held(change_log, waiting())
        await reviews.end(held, ChangeStatus.REJECTED, "kim", "사실이 아니다", HAPPENED)
        ended = await change_log.get(held.id)
        assert (ended.decided_by, ended.decision) == ("kim", "사실이 아니다")

    async def test_a_stale_change_still_waits_but_cannot_be_approved(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        held = await self._held(change_log, waiting())
        await reviews.end(held, ChangeStatus.STALE, "", "it moved", HAPPENED)
        stale = await change_log.get(held.id)
        assert (stale.status, stale.decided_by, stale.error) == ("stale", None, "it moved")
        with pytest.raises(Decided):
            await reviews.approve(stale, "kim", HAPPENED)
        await reviews.replace(held, stale, {}, HAPPENED)
        fresh = await change_log.get(held.id)
        assert (fresh.status, fresh.error) == (ChangeStatus.HELD, None)

    async def test_what_was_replaced_since_it_was_looked_at_is_not_decided(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        held = await self._held(change_log, waiting())
        edited = held.model_copy(update={"after": Snapshot(content="달러", name="m1")})
        edited = edited.model_copy(update={"content_hash": content_hash(edited)})
        await reviews.replace(edited, held, {}, HAPPENED)
        for late in (
            reviews.approve(held, "kim", HAPPENED),
            reviews.end(held, ChangeStatus.REJECTED, "kim", "no", HAPPENED),
            reviews.replace(held, held, {}, HAPPENED),
        ):
            with pytest.raises(Decided):
                await late
        await reviews.approve(edited, "kim", HAPPENED)

    async def test_what_was_prepared_again_waits_since_then(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        held = await self._held(change_log, waiting())
        assert held.prepared_at is not None
        long_ago = held.model_copy(update={"prepared_at": held.prepared_at - timedelta(hours=2)})
        await reviews.replace(long_ago, held, {}, HAPPENED)
        assert len(await reviews.overdue(3600)) == len(await reviews.remind(3600)) == 1
        anew = long_ago.model_copy(update={"prepared_at": await reviews.now()})
        await reviews.replace(anew, held, {}, HAPPENED)
        assert [*await reviews.overdue(3600), *await reviews.remind(3600)] == []
        kept = await change_log.get(held.id)
        assert (kept.created_at, kept.reminded_at) == (held.created_at, None)
        await reviews.replace(long_ago, held, {}, HAPPENED)
        assert len(await reviews.remind(3600)) == 1

    async def test_a_skill_deleted_before_a_list_was_prepared_again_does_not_matter(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        listed = {"kind": Kind.AGENT_SKILLS, "target_id": "a", "before": None}
        held = await self._held(change_log, waiting("a", "refund").model_copy(update=listed))
        gone = {"id": "d", "key": "d", "kind": Kind.SKILL, "target_id": "refund", "held": ()}
        gone |= {"operation": Operation.DELETE, "status": ChangeStatus.APPLYING}
        deletion = waiting().model_copy(update=gone)
        await change_log.open(deletion, {})
        async with change_log.unit_of_work(deletion) as unit:
            await unit.close("d", ChangeStatus.APPLIED)
        fresh = held.model_copy(update={"prepared_at": await reviews.now()})
        await reviews.replace(fresh, held, {}, HAPPENED)
        await reviews.approve(fresh, "kim", HAPPENED)
        opened = await change_log.get(held.id)
        async with change_log.unit_of_work(opened) as unit:
            await unit.set_agent_skills(opened)

    async def test_approving_waits_for_another_change_of_the_target(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        held = await self._held(change_log, waiting())
        update = {"id": "other", "key": "other", "status": ChangeStatus.APPLYING, "held": ()}
        await change_log.open(held.model_copy(update=update), {})
        with pytest.raises(TargetBusy):
            await reviews.approve(held, "kim", HAPPENED)
        assert (await change_log.get(held.id)).status is ChangeStatus.HELD

    async def test_many_may_wait_for_one_target(self, change_log: ChangeLog) -> None:
        for number in range(3):
            update = {"id": f"c{number}", "key": f"c{number}"}
            await self._held(change_log, waiting().model_copy(update=update))

    async def test_a_decision_is_about_one_of_many_that_are_alike(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        tenants = {"c0": "t", "c1": "t", "c2": "u", "c3": "u", "c4": "v"}
        alike = {}
        for change_id, tenant_id in tenants.items():
            update = {"id": change_id, "key": change_id, "tenant_id": tenant_id}
            alike[change_id] = await self._held(change_log, waiting().model_copy(update=update))
        assert len({change.content_hash for change in alike.values()}) == 1
        edited = alike["c0"].model_copy(update={"after": Snapshot(content="달러", name="m1")})
        await reviews.replace(edited, alike["c0"], {}, HAPPENED)
        await reviews.approve(alike["c2"], "kim", HAPPENED)
        await reviews.end(alike["c3"], ChangeStatus.REJECTED, "kim", "no", HAPPENED)
        found = [await change_log.get(change_id) for change_id in tenants]
        assert [change.status for change in found] == [
            "held",
            "held",
            "applying",
            "rejected",
            "held",
        ]
        assert [change.after == edited.after for change in found] == [True, *[False] * 4]

    async def test_what_waits_for_long_is_named_and_once_in_a_while_again(
        self, change_log: ChangeLog, reviews: Reviews
    ) -> None:
        await self._held(change_log, waiting())
        decided = await self._held(change_log, waiting("m2"))
        await reviews.approve(decided, "kim", HAPPENED)
        assert await reviews.overdue(3600) == []
        assert [c.target_id for c in await reviews.overdue(-1)] == ["m1"]
        assert await reviews.remind(3600) == []
        assert [c.target_id for c in await reviews.remind(-1)] == ["m1"]
        assert await reviews.remind(3600) == []

"""Contract of the review queue; a class supplies `change_log` and its `queue`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from core.domain.errors import NotFound
from core.domain.messages import Message
from core.domain.models import Change, ChangeStatus, Kind
from core.domain.models.review import QueuePosition
from core.domain.ports import ChangeLog, ReviewQueue, Reviews
from core.domain.ports.changes import AHEAD
from tests.contracts.suites.reviews import HAPPENED, waiting


class ReviewQueueContract:
    """Tests for any review queue."""

    async def _line(
        self, change_log: ChangeLog, count: int, tenant_id: str | None = None
    ) -> list[Change]:
        """Add held changes, the oldest first."""
        made = []
        for number in range(count):
            name = f"{tenant_id or 'm'}{number}"
            change = waiting(name).model_copy(update={"id": name, "key": name})
            if tenant_id is not None:
                change = change.model_copy(update={"tenant_id": tenant_id})
            await change_log.store(change, {}, HAPPENED)
            made.append(await change_log.get(change.id))
        return made

    async def _position(self, queue: ReviewQueue, change: Change, *but: str) -> QueuePosition:
        return (await queue.open(change.id, tenant_id=None, but=but)).queue_position

    async def test_it_is_given_whole_and_with_its_position(
        self, change_log: ChangeLog, queue: ReviewQueue
    ) -> None:
        first, second, third = await self._line(change_log, 3)
        found = await queue.open(second.id, tenant_id=None, but=())
        assert found.change == second
        assert (found.cause, found.matched) == (None, None)
        assert found.queue_position == QueuePosition(
            waiting=3, position=2, previous=first.id, following=(third.id, first.id)
        )

    async def test_what_was_said_of_it_is_known_with_its_parameters(
        self, change_log: ChangeLog, queue: ReviewQueue, reviews: Reviews
    ) -> None:
        said = [
            Message.of("test.said", "{what} of {kind}", {"what": n, "kind": Kind.SKILL})
            for n in range(5)
        ]
        texts = {"held": (said[0], "said by a person"), "warnings": (said[1],), "reason": said[2]}
        change = waiting("m").model_copy(update=texts)
        await change_log.store(change, {}, HAPPENED)
        await reviews.end(change, ChangeStatus.STALE, "", said[3], HAPPENED)
        await reviews.end(change, ChangeStatus.REJECTED, "kim", said[4], HAPPENED)
        found = (await queue.open(change.id, tenant_id=None, but=())).change
        stored = [found.held[0], *found.warnings, found.reason, found.error, found.decision]
        assert stored == said
        assert [read.to_json() for read in stored if isinstance(read, Message)] == [
            one.to_json() for one in said
        ]
        assert not isinstance(found.held[1], Message)

    async def test_the_line_begins_again_behind_the_last(
        self, change_log: ChangeLog, queue: ReviewQueue
    ) -> None:
        line = await self._line(change_log, AHEAD + 2)
        place = await self._position(queue, line[-1])
        assert place.following == tuple(change.id for change in line[:AHEAD])
        assert (await self._position(queue, line[0])).previous is None

    async def test_what_is_left_out_is_neither_next_nor_first(
        self, change_log: ChangeLog, queue: ReviewQueue
    ) -> None:
        first, second, third = await self._line(change_log, 3)
        assert (await self._position(queue, first, second.id)).following == (third.id,)
        assert list(await queue.oldest(tenant_id=None, but=[first.id])) == [second.id, third.id]

    async def test_a_tenant_has_a_line_of_its_own(
        self, change_log: ChangeLog, queue: ReviewQueue
    ) -> None:
        await self._line(change_log, 2)
        own, other = await self._line(change_log, 2, "u")
        found = await queue.open(own.id, tenant_id="u", but=())
        assert found.queue_position == QueuePosition(waiting=2, position=1, following=(other.id,))
        assert list(await queue.oldest(tenant_id="u", but=())) == [own.id, other.id]

    async def test_what_was_decided_has_no_place_but_neighbours(
        self, change_log: ChangeLog, queue: ReviewQueue, reviews: Reviews
    ) -> None:
        first, second, third = await self._line(change_log, 3)
        await reviews.end(second, ChangeStatus.REJECTED, "kim", "no", HAPPENED)
        assert await self._position(queue, second) == QueuePosition(
            waiting=2, position=None, previous=first.id, following=(third.id, first.id)
        )

    async def test_what_went_stale_still_waits(
        self, change_log: ChangeLog, queue: ReviewQueue, reviews: Reviews
    ) -> None:
        (change,) = await self._line(change_log, 1)
        await reviews.end(change, ChangeStatus.STALE, "", "it moved", HAPPENED)
        assert list(await queue.oldest(tenant_id=None, but=())) == [change.id]
        assert (await self._position(queue, change)).position == 1

    async def test_what_was_taken_back_names_what_did_it(
        self, change_log: ChangeLog, queue: ReviewQueue
    ) -> None:
        gone, undoing, again = await self._undone(change_log, {"reverts": "m0"})
        assert (await queue.open(gone, tenant_id=None, but=())).undone_by == undoing
        assert (await queue.open(again, tenant_id=None, but=())).undone_by is None
        assert (await queue.open(undoing, tenant_id=None, but=())).undone_by is None

    async def test_what_was_retracted_names_what_did_it(
        self, change_log: ChangeLog, queue: ReviewQueue
    ) -> None:
        gone, undoing, _ = await self._undone(change_log, {"retracts": ("m9", "m0")})
        assert (await queue.open(gone, tenant_id=None, but=())).undone_by == undoing

    async def _undone(self, change_log: ChangeLog, update: Mapping[str, object]) -> Sequence[str]:
        """Add a change that was undone, the one that undid it, and an unrelated reverted one."""
        statuses = (ChangeStatus.REVERTED, ChangeStatus.APPLIED, ChangeStatus.REVERTED)
        for number, status in enumerate(statuses):
            name = f"m{number}"
            change = waiting("m").model_copy(
                update={"id": name, "key": name, "status": status, "held": ()}
            )
            if status is ChangeStatus.APPLIED:
                change = change.model_copy(update=update)
            await change_log.store(change, {}, HAPPENED)
        return [f"m{number}" for number in range(len(statuses))]

    async def test_what_is_unknown_is_not_found(self, queue: ReviewQueue) -> None:
        with pytest.raises(NotFound):
            await queue.open("nothing", tenant_id=None, but=())

    async def test_nothing_waits(self, queue: ReviewQueue) -> None:
        assert list(await queue.oldest(tenant_id=None, but=())) == []

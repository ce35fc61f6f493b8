"""Contract of search and change log for knowledge that two runs add concurrently."""

from __future__ import annotations

import asyncio

import pytest

from core.domain.errors import Repeated
from core.domain.hashing import state_hash
from core.domain.models import Change, ChangeStatus, Kind, Operation, Relationship, Snapshot
from core.domain.ports import ChangeLog, Search
from tests.contracts.suites.change_log import remembered

TEXT = "환불은 배송 완료 후 7일 이내에만 가능합니다"
NEAR = "배송이 끝나고 7일 이내에만 환불이 가능합니다"
OTHER = "회의록은 노션에 올립니다"


def rewritten(item_id: str, old: str, new: str, seen: int) -> Change:
    """Return an intent to replace the text of a memory."""
    before = Snapshot(content=old, name=item_id)
    update = {
        "id": f"rewrite-{item_id}-{seen}",
        "key": f"rewrite-{item_id}-{seen}",
        "operation": Operation.UPDATE,
        "before": before,
        "base_hash": state_hash(before),
    }
    return remembered(item_id, new, seen).model_copy(update=update)


def unrelated(item_id: str, text: str, seen: int) -> Change:
    """Return an intent to create a memory declared unrelated to known ones."""
    update = {"relationship": Relationship.UNRELATED}
    return remembered(item_id, text, seen).model_copy(update=update)


class NeighboursContract:
    """Tests for any such pair; a test class supplies `change_log` and the `search` over it."""

    async def _mark(self, search: Search) -> int:
        near = await search.near(TEXT, tenant_id="t", agent_id="a", kind=Kind.MEMORY, limit=5)
        return near.seen

    async def _write(self, change_log: ChangeLog, change: Change) -> None:
        await change_log.open(change, {})
        async with change_log.unit_of_work(change) as unit:
            await unit.write_item(change)
            await unit.close(change.id, ChangeStatus.APPLIED)

    async def test_what_was_added_since_the_comparison_makes_a_near_change_stale(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        for number, text in enumerate((OTHER, TEXT)):
            seen = await self._mark(search)
            await self._write(change_log, remembered(f"m{number}", text, seen))
        with pytest.raises(Repeated, match="m1"):
            await self._write(change_log, remembered("m2", NEAR, seen))
        found = await search.near(NEAR, tenant_id="t", agent_id="a", kind=Kind.MEMORY, limit=5)
        assert found.items[0].id == "m1"
        assert "m2" not in {item.id for item in found.items}

    async def test_the_same_words_at_once_name_the_item_that_has_them(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        seen = await self._mark(search)
        await self._write(change_log, remembered("m1", TEXT, seen))
        with pytest.raises(Repeated) as raised:
            await self._write(change_log, remembered("m2", TEXT, seen))
        assert raised.value.item_id == "m1"

    async def test_what_was_known_at_the_comparison_does_not(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        await self._write(change_log, remembered("m1", TEXT, await self._mark(search)))
        await self._write(change_log, remembered("m2", NEAR, await self._mark(search)))

    async def test_other_texts_other_agents_and_what_was_not_compared_do_not(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        seen = await self._mark(search)
        await self._write(change_log, remembered("m1", OTHER, seen))
        await self._write(change_log, remembered("m2", NEAR, seen, agent_id="b"))
        await self._write(change_log, remembered("m3", TEXT, seen))
        await self._write(change_log, remembered("m4", NEAR, None))

    async def test_of_two_that_are_recorded_at_the_same_moment_one_is_stale(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        seen = await self._mark(search)
        texts = (TEXT, NEAR, OTHER)
        ended = await asyncio.gather(
            *(self._write(change_log, remembered(f"m{n}", t, seen)) for n, t in enumerate(texts)),
            return_exceptions=True,
        )
        assert [type(end) for end in ended[:2] if end] == [Repeated]
        assert ended[2] is None

    async def test_what_was_rewritten_since_the_comparison_makes_a_near_change_stale(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        await self._write(change_log, remembered("m1", OTHER, await self._mark(search)))
        seen = await self._mark(search)
        await self._write(change_log, rewritten("m1", OTHER, TEXT, seen))
        with pytest.raises(Repeated, match="m1") as stale:
            await self._write(change_log, remembered("m2", NEAR, seen))
        assert stale.value.item_id == "m1"

    async def test_a_rewriting_is_compared_with_what_was_added_since(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        await self._write(change_log, remembered("m1", OTHER, await self._mark(search)))
        seen = await self._mark(search)
        await self._write(change_log, remembered("m2", TEXT, seen))
        with pytest.raises(Repeated, match="m2"):
            await self._write(change_log, rewritten("m1", OTHER, NEAR, seen))
        await self._write(change_log, rewritten("m2", TEXT, NEAR, await self._mark(search)))

    async def test_what_is_said_to_be_unrelated_is_compared_with_what_came_later(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        seen = await self._mark(search)
        for number, name in enumerate(("Kim", "Lee")):
            await self._write(change_log, unrelated(f"m{number}", f"Ms. {name} wants KRW", seen))
        with pytest.raises(Repeated, match="m0"):
            await self._write(change_log, unrelated("m2", "Ms. Kim wishes for KRW", seen))

    async def test_two_that_are_rewritten_into_one_at_the_same_moment_end_as_one(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        for item_id in ("m1", "m2"):
            await self._write(change_log, remembered(item_id, f"{item_id} is blue", None))
        seen = await self._mark(search)
        ended = await asyncio.gather(
            self._write(change_log, rewritten("m1", "m1 is blue", TEXT, seen)),
            self._write(change_log, rewritten("m2", "m2 is blue", NEAR, seen)),
            return_exceptions=True,
        )
        assert [type(end) for end in ended if end] == [Repeated]

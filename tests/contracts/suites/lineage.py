"""Contract of the store of lineage; a test class supplies two stores."""

from __future__ import annotations

import pytest

from core.domain.models import Kind, NewFeedback
from core.domain.ports import ChangeLog, Inbox, Lineage
from tests.contracts.suites.knowledge_past import carry, step

ALL = 1 << 30


class LineageContract:
    """Tests for any store of lineage: `lineage`, and the `change_log` that writes."""

    @pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.SKILL])
    async def test_each_change_of_an_item_is_told_in_order(
        self, lineage: Lineage, change_log: ChangeLog, kind: Kind
    ) -> None:
        await carry(
            change_log,
            step(1, None, "one", kind=kind),
            step(2, "one", None, kind=kind),
            step(3, None, "two", kind=kind),
            step(4, "two", "three", kind=kind, reverts=f"change-{kind}-t-3"),
        )
        made = await lineage.made(kind, "t", "item", limit=9, max_bytes=ALL)
        states = [tuple(s and s.content for s in (m.before, m.after)) for m in made]
        assert states == [(None, "one"), ("one", None), (None, "two"), ("two", "three")]
        assert [m.version for m in made] == [1, None, 2, 3]
        assert [m.takes_back for m in made] == [False, False, False, True]
        assert [m.by.feedback_id for m in made] == [f"feedback-{n}" for n in (1, 2, 3, 4)]
        assert made[-1].by.reverts == f"change-{kind}-t-3"
        assert made[-1].valid_to is None
        assert made[-2].valid_to == made[-1].valid_from
        if kind is Kind.SKILL:
            assert made[0].after is not None
            assert set(made[0].after.files or ()) == {"SKILL.md"}

    async def test_only_the_newest_are_read_where_there_is_much(
        self, lineage: Lineage, change_log: ChangeLog
    ) -> None:
        await carry(
            change_log,
            step(1, None, "1" * 100),
            step(2, "1" * 100, "2" * 100),
            step(3, "2" * 100, "3" * 100),
        )

        async def versions(limit: int, max_bytes: int) -> list[int | None]:
            made = await lineage.made(Kind.MEMORY, "t", "item", limit=limit, max_bytes=max_bytes)
            return [m.version for m in made]

        assert await versions(2, ALL) == [2, 3]
        assert await versions(9, 400) == [2, 3]
        assert await versions(9, 1) == [3]
        assert await versions(9, 0) == [1, 2, 3]
        blank = await lineage.made(Kind.MEMORY, "t", "item", limit=9, max_bytes=0)
        assert {(m.before, m.after) for m in blank} == {(None, None)}

    async def test_what_was_never_known_has_no_lineage(self, lineage: Lineage) -> None:
        assert await lineage.made(Kind.SKILL, "t", "item", limit=9, max_bytes=ALL) == []
        assert await lineage.taught("t", agent_id=None, limit=9) == []
        assert await lineage.counts("t") == []

    async def test_who_taught_what_is_known_now_newest_first(
        self, lineage: Lineage, change_log: ChangeLog
    ) -> None:
        await carry(change_log, step(1, None, "one"), step(2, "one", "two"))
        await carry(change_log, step(3, None, "theirs", tenant_id="T"))
        found = await lineage.taught("t", agent_id="a", limit=9)
        assert [(t.feedback_id, t.item_id) for t in found] == [
            ("feedback-2", "item"),
            ("feedback-1", "item"),
        ]
        assert len(await lineage.taught("t", agent_id=None, limit=1)) == 1
        assert await lineage.taught("t", agent_id="b", limit=9) == []
        assert [(c.agent_id, c.kind, c.count) for c in await lineage.counts("t")] == [
            ("a", "MEMORY", 1)
        ]
        await carry(change_log, step(4, "two", None))
        assert await lineage.taught("t", agent_id=None, limit=9) == []
        assert await lineage.counts("t") == []

    async def test_a_piece_is_taught_by_who_said_it(
        self, lineage: Lineage, change_log: ChangeLog, inbox: Inbox
    ) -> None:
        for name in ("kim", "lee"):
            one = NewFeedback(id=name, tenant_id="t", agent_ids=("a",), content=name, author=name)
            ((feedback_id, _),) = await inbox.add("cli", [one])
            of_it = {"target_id": f"item-{name}", "feedback_id": feedback_id}
            change = step(ord(name[0]), None, name).model_copy(update=of_it)
            await carry(change_log, change)
        found = await lineage.taught("t", agent_id=None, limit=9)
        assert [(t.item_id, t.author) for t in found] == [("item-lee", "lee"), ("item-kim", "kim")]
        for name in ("kim", "lee"):
            (made,) = await lineage.made(Kind.MEMORY, "t", f"item-{name}", limit=9, max_bytes=ALL)
            assert made.by.author == name

"""Decision tables on the platform: what a change writes there, once, and what it leaves alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import cast
from uuid import UUID

import pytest

from core.delivery.platform_rules import DIFF_CHARS, RuleWriter, table_id, version_id
from core.domain.models import (
    Change,
    HistoryRecord,
    HistoryStatus,
    Kind,
    MergeMode,
    Snapshot,
)
from core.domain.models.audit import ERASED
from core.domain.ports import WriteBackRecords
from core.testing.knowledge import MemoryKnowledge
from tests.support.platform_rows import Rows
from tests.support.react import item_change

AT = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
TENANT, RULE = "t1", "r"
ID = table_id(TENANT, RULE)


def change(
    change_id: str,
    content: str | None,
    before: str | None = None,
    mode: MergeMode | None = None,
) -> Change:
    made = item_change(Kind.DMN_RULE, RULE, "limit", content or "")
    return made.model_copy(
        update={
            "id": change_id,
            "merge_mode": mode,
            "reason": f"why {change_id}",
            "before": None if before is None else Snapshot(content=before, name="limit"),
            "after": None if content is None else Snapshot(content=content, name="limit"),
        }
    )


class World:
    """The platform, what is known here, and which changes were recorded after another."""

    def __init__(self) -> None:
        self.rows = Rows()
        self.knowledge = MemoryKnowledge()
        self.knowledge.write(change("there", "any"))
        self.after: dict[str, Sequence[str]] = {}

    async def later(self, one: Change) -> Sequence[str]:
        return self.after.get(one.id, ())

    @property
    def writer(self) -> RuleWriter:
        return RuleWriter(self.rows, cast("WriteBackRecords", self), self.knowledge)

    async def write(self, one: Change, at: datetime | None = AT) -> Sequence[str]:
        record = HistoryRecord.of(one, "h", HistoryStatus.APPLIED)
        return await self.writer.write(one, record.model_copy(update={"created_at": at}))

    def forget(self) -> None:
        """Have the table no more, as once it was deleted here."""
        self.knowledge = MemoryKnowledge()

    def seed(self, table: str, **row: object) -> None:
        self.rows.tables[table].append(row)

    def table(self) -> dict[str, object]:
        (row,) = [row for row in self.rows.tables["proc_def"] if row["tenant_id"] == TENANT]
        return row

    def versions(self) -> list[tuple[object, object]]:
        rows = self.rows.tables["proc_def_version"]
        return [(row["uuid"], row["version"]) for row in rows if row.get("tenant_id") == TENANT]


async def test_a_new_table_is_a_row_with_its_first_version() -> None:
    world = World()
    assert await world.write(change("c1", "one")) == ()
    row = world.table()
    assert UUID(str(row.pop("uuid")))
    assert row == {
        "id": ID, "tenant_id": TENANT, "definition": None, "name": "limit", "bpmn": "one",
        "owner": "a1", "type": "dmn", "prod_version": "1.0.0", "isdeleted": False,
    }  # fmt: skip
    assert world.rows.tables["proc_def_version"] == [
        {
            "arcv_id": f"{ID}_1.0.0", "proc_def_id": ID, "version": "1.0.0",
            "version_tag": "major", "snapshot": "one", "timeStamp": AT.isoformat(), "diff": None,
            "message": "why c1", "uuid": version_id("c1"), "tenant_id": TENANT,
            "parent_version": None,
        }
    ]  # fmt: skip


async def test_a_changed_table_has_one_row_and_a_version_each() -> None:
    world = World()
    # Of another tenant, with the same id: neither its row nor its versions are this one's.
    other = {"tenant_id": "t2", "id": ID, "bpmn": "theirs", "prod_version": "7.0.0"}
    world.seed("proc_def", uuid="u2", **other)
    world.seed("proc_def_version", uuid="v2", proc_def_id=ID, tenant_id="t2", version="8.0.0")
    world.seed("proc_def_version", uuid="v3", proc_def_id="o", tenant_id=TENANT, version="9.0.0")
    await world.write(change("c1", "one\ntwo"))
    await world.write(change("c2", "one\nTWO", "one\ntwo", MergeMode.EXTEND), at=None)
    assert world.versions()[1:] == [(version_id("c1"), "1.0.0"), (version_id("c2"), "1.1.0")]
    assert (world.table()["bpmn"], world.table()["prod_version"]) == ("one\nTWO", "1.1.0")
    last = world.rows.tables["proc_def_version"][-1]
    assert (last["parent_version"], last["version_tag"]) == ("1.0.0", "minor")
    assert last["timeStamp"] is None
    assert str(last["diff"]).splitlines() == [
        "--- ", "+++ ", "@@ -1,2 +1,2 @@", " one", "-two", "+TWO",
    ]  # fmt: skip
    assert world.rows.tables["proc_def"][0] == {"uuid": "u2", **other}


async def test_what_is_delivered_twice_counts_once() -> None:
    world = World()
    first, second = change("c1", "one"), change("c2", "two", "one", MergeMode.REFINE)
    await world.write(first)
    for _ in range(2):
        await world.write(second)
    assert world.versions() == [(version_id("c1"), "1.0.0"), (version_id("c2"), "1.0.1")]
    assert world.table()["prod_version"] == "1.0.1"


async def test_a_later_content_that_is_there_is_not_overwritten() -> None:
    world = World()
    world.after = {"c1": ["c2"]}
    await world.write(change("c1", "one"))  # the later one has not arrived yet
    assert world.table()["bpmn"] == "one"
    await world.write(change("c2", "two", "one"))
    await world.write(change("c1", "one"))
    assert (world.table()["bpmn"], world.table()["prod_version"]) == ("two", "2.0.0")
    assert len(world.versions()) == 2


async def test_a_table_that_is_gone_here_is_marked_and_keeps_its_text() -> None:
    world = World()
    await world.write(change("c1", "one"))
    assert world.table()["isdeleted"] is False
    world.forget()
    await world.write(change("c2", None, "one"))
    assert (world.table()["isdeleted"], world.table()["bpmn"]) == (True, "one")
    assert len(world.versions()) == 1
    # What is written before its deletion arrives is marked as well.
    late = World()
    late.forget()
    await late.write(change("c1", "one"))
    assert late.table()["isdeleted"] is True


@pytest.mark.parametrize(
    ("own", "given", "version"),
    [
        ({"bpmn": "one", "prod_version": "3.0.0"}, (), "3.0.0"),  # it is there already
        ({"bpmn": "one", "prod_version": ""}, (), "1.0.0"),
        ({"bpmn": "other", "prod_version": "3.0.0"}, (), "4.0.0"),
        ({"bpmn": "one", "prod_version": "3.0.0"}, ("2.0.0",), "4.0.0"),  # as it was once before
        ({"bpmn": "other", "prod_version": "3.0.0"}, ("5.0.0", None), "6.0.0"),
        ({"bpmn": "other", "prod_version": "3.0.0"}, ("2.0.0",), "4.0.0"),
    ],
)
async def test_a_version_follows_the_highest_that_is_there(
    own: dict[str, object], given: Sequence[str | None], version: str
) -> None:
    world = World()
    world.seed("proc_def", uuid="u", id=ID, tenant_id=TENANT, **own)
    for number, one in enumerate(given):
        world.seed(
            "proc_def_version", uuid=f"v{number}", proc_def_id=ID, tenant_id=TENANT, version=one
        )
    await world.write(change("c1", "one"))
    assert (world.table()["prod_version"], world.table()["uuid"]) == (version, "u")
    is_new = version != own["prod_version"]
    assert ((version_id("c1"), version) in world.versions()) == is_new


async def test_without_a_table_of_versions_only_the_last_change_is_written() -> None:
    world = World()
    world.rows.missing = {"proc_def_version"}
    assert await world.write(change("c1", "one")) == ()
    assert world.table()["prod_version"] == "1.0.0"
    await world.write(change("c1", "one"))  # once more
    assert world.table()["prod_version"] == "1.0.0"
    world.after = {"c2": ["c3"]}
    await world.write(change("c2", "two", "one"))
    assert world.table()["bpmn"] == "one"
    await world.write(change("c3", "three", "two", MergeMode.EXTEND))
    assert (world.table()["bpmn"], world.table()["prod_version"]) == ("three", "1.1.0")


async def test_a_table_that_is_not_there_is_told_unless_it_is_not_wanted() -> None:
    world = World()
    world.rows.missing = {"proc_def"}
    (why,) = await world.write(change("c1", "one"))
    assert "no table proc_def" in why
    world.rows.missing, world.rows.unwanted = set(), {"proc_def"}
    assert await world.write(change("c1", "one")) == ()


@pytest.mark.parametrize(("more", "is_told"), [(0, True), (1, False)])
async def test_a_difference_is_told_up_to_a_length(more: int, is_told: bool) -> None:
    world = World()
    before, after = "a" * (DIFF_CHARS // 2), "b" * (DIFF_CHARS // 2 + more)
    await world.write(change("c1", after, before))
    assert (world.rows.tables["proc_def_version"][0]["diff"] is not None) == is_told


@pytest.mark.parametrize("is_gone", [True, False])
async def test_erasing_empties_what_was_said_and_a_table_that_is_gone(is_gone: bool) -> None:
    world = World()
    for number in (1, 2):
        await world.write(change(f"c{number}", "said", "before"))
    if is_gone:
        world.forget()
    erased = change("c1", ERASED).model_copy(update={"reason": ERASED})
    assert await world.writer.erase(erased) == ()
    first, second = world.rows.tables["proc_def_version"]
    assert (first["snapshot"], first["diff"], first["message"]) == (ERASED, None, ERASED)
    assert (second["snapshot"], second["message"]) == ("said", "why c2")
    assert second["diff"]
    table = world.table()
    told = (table["name"], table["bpmn"], table["isdeleted"])
    assert told == ((ERASED, ERASED, True) if is_gone else ("limit", "said", False))


@pytest.mark.parametrize("content", ["it stands", None])
async def test_of_a_content_that_stands_only_the_reason_is_erased(content: str | None) -> None:
    world = World()
    await world.write(change("c1", "it stands", "before"))
    world.forget()
    erased = change("c1", content).model_copy(update={"reason": ERASED})
    await world.writer.erase(erased)
    (version,) = world.rows.tables["proc_def_version"]
    assert (version["snapshot"], version["message"]) == ("it stands", ERASED)
    assert version["diff"]
    assert (world.table()["bpmn"], world.table()["isdeleted"]) == ("it stands", False)


@pytest.mark.parametrize("how", ["missing", "unwanted"])
@pytest.mark.parametrize("which", ["proc_def", "proc_def_version"])
async def test_erasing_goes_on_where_a_table_is_not_there(how: str, which: str) -> None:
    world = World()
    await world.write(change("c1", "said"))
    world.forget()
    setattr(world.rows, how, {which})
    assert await world.writer.erase(change("c1", ERASED)) == ()
    others = {"proc_def", "proc_def_version"} - {which}
    assert all(ERASED in str(world.rows.tables[name]) for name in others)
    assert ERASED not in str(world.rows.tables[which])

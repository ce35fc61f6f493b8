"""Records of history on the platform: what a row says of each kind, and which are left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

import pytest

from core.delivery.platform_history import HistoryWriter, record_id
from core.domain.hashing import sha256
from core.domain.models import FileRef, HistoryRecord, HistoryStatus, Kind, Reach
from core.domain.models.audit import ERASED
from core.domain.models.base import Scope
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from tests.support.platform_rows import Rows
from tests.support.react import item_change

AGENT = "0b0f8c9e-3d65-4d7a-9a11-2d5c4bb1a001"
AT = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
TABLE = "agent_knowledge_history"


def record(kind: Kind = Kind.MEMORY, **given: object) -> HistoryRecord:
    change = item_change(kind, "i1", "unit", "now").model_copy(update={"agent_id": AGENT})
    made = HistoryRecord.of(change, "h1", HistoryStatus.APPLIED)
    return made.model_copy(update={"created_at": AT, "feedback_content": "said", **given})


class World:
    """The platform, and what was warned of."""

    def __init__(self) -> None:
        self.rows = Rows()
        self.log = MemoryChangeLog(MemoryKnowledge())
        self.warned: list[tuple[str, str]] = []

    @property
    def writer(self) -> HistoryWriter:
        return HistoryWriter(
            self.rows, self.log, lambda agent, why: self.warned.append((agent, why))
        )

    async def row(self, one: HistoryRecord) -> Mapping[str, object]:
        assert await self.writer.write([one]) == ()
        return self.rows.tables[TABLE][-1]

    def said(self) -> list[object]:
        return [row["feedback_content"] for row in self.rows.tables[TABLE]]


async def test_a_row_has_all_that_is_on_record() -> None:
    one = record(Kind.DMN_RULE, previous_content="before", feedback_id="f1")
    row = await World().row(one)
    assert row == {
        "id": record_id(one), "knowledge_type": "DMN_RULE", "knowledge_id": "i1",
        "knowledge_name": "unit", "agent_id": AGENT, "tenant_id": "t1", "operation": "CREATE",
        "previous_content": "before", "new_content": "now", "feedback_content": "said",
        "created_at": AT.isoformat(),
    }  # fmt: skip
    assert UUID(record_id(one))
    assert (await World().row(record(created_at=None)))["created_at"] is None


async def test_each_attempt_is_a_row_and_each_record_is_one() -> None:
    world = World()
    attempts = [record(), record(attempt=2), record(status=HistoryStatus.FAILED)]
    for _ in range(2):
        assert await world.writer.write([*attempts, record(change_id="c2")]) == ()
    assert len(world.rows.tables[TABLE]) == 4


async def test_a_memory_is_told_with_what_is_known_of_it() -> None:
    reach = Reach(valid_until=AT, scope=Scope.USER, user="kim")
    row = await World().row(
        record(previous_content="원화로", new_reach=reach, feedback_id="f1", change_id="c1")
    )
    known = {
        "agent_id": AGENT, "tenant_id": "t1", "name": "unit", "feedback_id": "f1",
        "change_id": "c1",
    }  # fmt: skip
    assert json.loads(str(row["previous_content"])) == {"memory": "원화로", "metadata": known}
    assert "원화로" in str(row["previous_content"])
    now = json.loads(str(row["new_content"]))
    assert now["memory"] == "now"
    more = {name: now["metadata"][name] for name in now["metadata"].keys() - known.keys()}
    assert more == {
        name: value for name, value in reach.model_dump(mode="json").items() if value is not None
    }
    assert more["user"] == "kim"
    created = await World().row(record(previous_content=None))
    assert created["previous_content"] is None


async def test_a_skill_is_told_file_by_file_with_its_document_as_on_record() -> None:
    world = World()
    files = {"SKILL.md": b"stored", "b.md": "둘".encode(), "a.png": b"\x89\xff", "nul": b"a\0"}
    world.log.put_blobs({sha256(data): data for data in files.values()})
    refs = {path: FileRef(sha256=sha256(data), size=len(data)) for path, data in files.items()}
    row = await world.row(record(Kind.SKILL, new_files=refs, previous_content="plain"))
    assert json.loads(str(row["new_content"])) == {
        "SKILL.md": "now",
        "a.png": "data:application/octet-stream;base64,if8=",
        "b.md": "둘",
        "nul": "data:application/octet-stream;base64,YQA=",
    }
    assert "둘" in str(row["new_content"])
    assert json.loads(str(row["previous_content"])) == {"SKILL.md": "plain"}


async def test_a_list_of_skills_has_no_row_and_is_not_missed() -> None:
    world = World()
    assert await world.writer.write([record(Kind.AGENT_SKILLS)]) == ()
    assert (world.rows.tables, world.warned) == ({}, [])


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (record(knowledge_type="PLAYBOOK"), "PLAYBOOK"),
        (record(agent_id=""), "agent"),
    ],
)
async def test_what_the_platform_has_no_place_for_is_told(one: HistoryRecord, why: str) -> None:
    world = World()
    (said,) = await world.writer.write([one, record()])
    assert why in said
    assert (world.rows.tables, world.warned) == ({}, [])


@pytest.mark.parametrize(("agent", "why"), [("clerk", "UUID"), (AGENT, f"no user {AGENT}")])
async def test_an_agent_that_the_platform_does_not_have_is_warned_of(agent: str, why: str) -> None:
    world = World()
    world.rows.strangers = {AGENT}
    (said,) = await world.writer.write([record(agent_id=agent)])
    assert agent in said
    assert why in said
    ((whose, warned),) = world.warned
    assert whose == agent
    assert why in warned


async def test_a_table_of_history_that_is_not_there_is_told_unless_unwanted() -> None:
    world = World()
    world.rows.missing = {TABLE}
    for told in (await world.writer.write([record()]), await world.writer.erase([record()])):
        assert len(told) == 1
        assert f"no table {TABLE}" in told[0]
    world.rows.missing, world.rows.unwanted = set(), {TABLE}
    assert await world.writer.write([record()]) == await world.writer.erase([record()]) == ()
    assert world.warned == []


async def test_erasing_empties_what_was_said_and_what_has_no_name_any_more() -> None:
    world = World()
    first, second = record(), record(attempt=2)
    await world.writer.write([first, second])
    kept = {**world.rows.tables[TABLE][1]}
    words = {"feedback_content": ERASED}
    assert await world.writer.erase([first.model_copy(update=words)]) == ()
    assert world.said() == [ERASED, "said"]
    assert world.rows.tables[TABLE][0] == {**kept, "id": record_id(first), **words}
    whole = {**words, "knowledge_name": ERASED, "new_content": ERASED, "previous_content": None}
    await world.writer.erase([first.model_copy(update=whole), second.model_copy(update=words)])
    assert world.said() == [ERASED, ERASED]
    emptied, other = world.rows.tables[TABLE]
    assert (emptied["knowledge_name"], other["knowledge_name"]) == (ERASED, "unit")
    assert json.loads(str(emptied["new_content"]))["memory"] == ERASED
    assert other["new_content"] == kept["new_content"]

"""Contract of the stores of knowledge over time; a test class supplies three."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.domain.errors import NotFound
from core.domain.hashing import sha256, state_hash
from core.domain.models import (
    Change,
    ChangeStatus,
    FileRef,
    HistoryStatus,
    Kind,
    KnowledgeItem,
    Operation,
    Relationship,
    Snapshot,
)
from core.domain.ports import ChangeLog, Knowledge, KnowledgePast
from tests.contracts.suites.change_log import history_of

_TICK = timedelta(microseconds=1)
_LONG_AGO = datetime(2001, 1, 1, tzinfo=UTC)


def step(
    number: int,
    before: str | None,
    after: str | None,
    *,
    kind: Kind = Kind.MEMORY,
    relationship: Relationship | None = None,
    reverts: str | None = None,
    tenant_id: str = "t",
) -> Change:
    """Return an intent to change `item` from one text to another; None is absent."""
    states = [None if text is None else _state(kind, text) for text in (before, after)]
    operation = Operation.UPDATE
    if before is None or after is None:
        operation = Operation.CREATE if before is None else Operation.DELETE
    return Change(
        id=f"change-{kind}-{tenant_id}-{number}",
        key=f"key-{kind}-{tenant_id}-{number}",
        digest="d",
        tenant_id=tenant_id,
        agent_id="a",
        kind=kind,
        target_id="item",
        target_name="item",
        operation=operation,
        before=states[0],
        after=states[1],
        base_hash=state_hash(states[0]),
        status=ChangeStatus.APPLYING,
        relationship=relationship,
        reverts=reverts,
        feedback_id=f"feedback-{number}",
    )


def _state(kind: Kind, text: str) -> Snapshot:
    if kind is not Kind.SKILL:
        return Snapshot(content=text, name="item")
    data = text.encode()
    files = {"SKILL.md": FileRef(sha256=sha256(data), size=len(data))}
    return Snapshot(content=text, name="item", files=files)


async def carry(log: ChangeLog, *changes: Change) -> None:
    """Apply changes one after another, each with its record."""
    for change in changes:
        texts = [state.content.encode() for state in (change.before, change.after) if state]
        await log.open(change, {sha256(text): text for text in texts})
        async with log.unit_of_work(change) as unit:
            if change.kind is not Kind.SKILL:
                await unit.write_item(change)
            record = history_of(change)
            files = change.after.files if change.after else None
            status = HistoryStatus.REVERTED if change.reverts else HistoryStatus.APPLIED
            await unit.record_knowledge_history(
                record.model_copy(
                    update={
                        "new_files": files,
                        "status": status,
                        "feedback_id": change.feedback_id,
                    }
                )
            )
            await unit.close(change.id, ChangeStatus.APPLIED)


class KnowledgePastContract:
    """Tests for any store of knowledge: `knowledge`, `past`, and the `change_log` that writes."""

    @pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL])
    async def test_each_version_is_read_as_it_stood_in_its_span(
        self, knowledge: Knowledge, change_log: ChangeLog, kind: Kind
    ) -> None:
        await carry(
            change_log,
            step(1, None, _text(kind, 1), kind=kind),
            step(2, _text(kind, 1), _text(kind, 2), kind=kind, relationship=Relationship.CONFLICTS),
            step(
                3, _text(kind, 2), _text(kind, 3), kind=kind, relationship=Relationship.SUPERSEDES
            ),
        )
        versions = await knowledge.versions(kind, "t", "item")
        assert [item.version for item in versions] == [1, 2, 3]
        assert [item.relationship for item in versions] == [None, "CONFLICTS", "SUPERSEDES"]
        assert [item.feedback_id for item in versions] == [f"feedback-{n}" for n in (1, 2, 3)]
        for item in versions:
            found, files = await knowledge.as_of(kind, "t", "item", _start(item))
            assert found == item
            assert found.content == _text(kind, item.version)
            assert set(files) == ({"SKILL.md"} if kind is Kind.SKILL else set())
        assert [v.valid_to for v in versions] == [*(v.valid_from for v in versions[1:]), None]

    @pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.SKILL])
    async def test_a_span_takes_in_its_start_and_leaves_out_its_end(
        self, knowledge: Knowledge, change_log: ChangeLog, kind: Kind
    ) -> None:
        await carry(change_log, step(1, None, "one", kind=kind), step(2, "one", "two", kind=kind))
        first, second = await knowledge.versions(kind, "t", "item")
        before, _ = await knowledge.as_of(kind, "t", "item", _start(second) - _TICK)
        after, _ = await knowledge.as_of(kind, "t", "item", _start(second))
        assert (before, after) == (first, second)
        assert (await knowledge.as_of(kind, "t", "item", datetime.max.replace(tzinfo=UTC)))[0] == (
            second
        )

    @pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.SKILL])
    async def test_before_it_was_known_the_error_names_the_first_version(
        self, knowledge: Knowledge, change_log: ChangeLog, kind: Kind
    ) -> None:
        await carry(change_log, step(1, None, "one", kind=kind))
        (first,) = await knowledge.versions(kind, "t", "item")
        with pytest.raises(NotFound) as caught:
            await knowledge.as_of(kind, "t", "item", _LONG_AGO)
        assert f"--as-of {_start(first).isoformat()}" in caught.value.hint
        assert "version 1" in caught.value.hint

    @pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.SKILL])
    async def test_a_deletion_closes_and_what_was_there_stays_readable(
        self, knowledge: Knowledge, change_log: ChangeLog, kind: Kind
    ) -> None:
        await carry(change_log, step(1, None, "one", kind=kind), step(2, "one", None, kind=kind))
        (first,) = await knowledge.versions(kind, "t", "item")
        assert first.valid_to is not None
        with pytest.raises(NotFound) as caught:
            await knowledge.as_of(kind, "t", "item", first.valid_to)
        assert f"--as-of {(first.valid_to - _TICK).isoformat()}" in caught.value.hint
        found, _ = await knowledge.as_of(kind, "t", "item", first.valid_to - _TICK)
        assert found.content == "one"

    @pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.SKILL])
    async def test_what_was_deleted_and_made_again_goes_on_counting(
        self, knowledge: Knowledge, change_log: ChangeLog, kind: Kind
    ) -> None:
        await carry(
            change_log,
            step(1, None, "one", kind=kind),
            step(2, "one", None, kind=kind),
            step(3, None, "again", kind=kind),
        )
        first, second = await knowledge.versions(kind, "t", "item")
        assert (first.version, second.version) == (1, 2)
        assert first.valid_to is not None
        assert first.valid_to <= _start(second)
        assert (await knowledge.as_of(kind, "t", "item", _start(second)))[0].content == "again"

    async def test_a_revert_is_a_version_of_its_own(
        self, knowledge: Knowledge, change_log: ChangeLog
    ) -> None:
        kind = Kind.SKILL
        await carry(change_log, step(1, None, "one", kind=kind), step(2, "one", "two", kind=kind))
        undone = f"change-{kind}-t-2"
        await carry(change_log, step(3, "two", "one", kind=kind, reverts=undone))
        versions = await knowledge.versions(kind, "t", "item")
        assert [item.content for item in versions] == ["one", "two", "one"]
        assert versions[-1].change_id == f"change-{kind}-t-3"
        now, files = await knowledge.as_of(kind, "t", "item", _start(versions[-1]))
        assert (now.version, now.content, files["SKILL.md"].size) == (3, "one", 3)

    async def test_one_tenants_past_is_not_anothers(
        self, knowledge: Knowledge, change_log: ChangeLog
    ) -> None:
        await carry(change_log, step(1, None, "one"), step(1, None, "other", tenant_id="T"))
        (theirs,) = await knowledge.versions(Kind.MEMORY, "T", "item")
        assert (theirs.content, theirs.version) == ("other", 1)
        with pytest.raises(NotFound):
            await knowledge.as_of(Kind.SKILL, "t", "item", _start(theirs))

    async def test_what_was_never_known_has_no_past(self, knowledge: Knowledge) -> None:
        for kind in (Kind.MEMORY, Kind.SKILL):
            with pytest.raises(NotFound):
                await knowledge.versions(kind, "t", "item")
            with pytest.raises(NotFound, match="there was no"):
                await knowledge.as_of(kind, "t", "item", _LONG_AGO)

    async def test_the_last_version_tells_where_an_id_is_known_or_was(
        self, past: KnowledgePast, change_log: ChangeLog
    ) -> None:
        await carry(change_log, step(1, None, "one"), step(2, "one", "two"))
        await carry(change_log, step(1, None, "s", kind=Kind.SKILL))
        await carry(change_log, step(2, "s", None, kind=Kind.SKILL))
        await carry(change_log, step(1, None, "x", tenant_id="T"))
        found = await past.last("item", tenant_id=None, kind=None)
        assert [(item.tenant_id, item.kind, item.version) for item in found] == [
            ("T", "MEMORY", 1),
            ("t", "MEMORY", 2),
            ("t", "SKILL", 1),
        ]
        assert [item.valid_to is None for item in found] == [True, True, False]
        assert [item.kind for item in await past.last("item", tenant_id="t", kind=Kind.SKILL)] == [
            "SKILL"
        ]
        assert await past.last("nothing", tenant_id=None, kind=None) == []

    @pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.SKILL])
    async def test_one_version_is_read_by_its_number(
        self, past: KnowledgePast, change_log: ChangeLog, kind: Kind
    ) -> None:
        await carry(change_log, step(1, None, "one", kind=kind), step(2, "one", "two", kind=kind))
        first, files = await past.version(kind, "t", "item", 1)
        assert (first.content, first.version, first.valid_to is None) == ("one", 1, False)
        assert set(files) == ({"SKILL.md"} if kind is Kind.SKILL else set())
        assert (await past.version(kind, "t", "item", 2))[0].content == "two"
        for tenant_id, number in (("t", 3), ("T", 1)):
            with pytest.raises(NotFound):
                await past.version(kind, tenant_id, "item", number)


def _start(item: KnowledgeItem) -> datetime:
    assert item.valid_from is not None
    return item.valid_from


def _text(kind: Kind, number: int) -> str:
    """Return the text of a version; for a decision table the one the search index reads."""
    if kind is not Kind.DMN_RULE:
        return f"text {number}"
    return (
        '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="n" '
        'namespace="n"><decision id="e" name="item"><decisionTable id="t"><input>'
        "<inputExpression><text>a</text></inputExpression></input><output/>"
        f"<rule><inputEntry><text>{number}</text></inputEntry><outputEntry><text>1</text>"
        "</outputEntry></rule></decisionTable></decision></definitions>"
    )

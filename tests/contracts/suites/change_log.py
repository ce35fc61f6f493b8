"""Contract of every change log; a test class supplies `change_log` and `knowledge`."""

from __future__ import annotations

import pytest

from core.domain.errors import NotFound, Stale, TargetBusy
from core.domain.hashing import sha256, state_hash
from core.domain.models import (
    Change,
    ChangeStatus,
    FileRef,
    HistoryRecord,
    HistoryStatus,
    Kind,
    Operation,
    RunEvent,
    Snapshot,
)
from core.domain.ports import ChangeLog, Concluded, Knowledge


def memory_change(change_id: str, before: str | None, after: str | None) -> Change:
    """Return a change of memory `mem-1` from one text to another, ready to be opened."""
    states = [
        None if text is None else Snapshot(content=text, name=text) for text in (before, after)
    ]
    operation = Operation.UPDATE
    if before is None or after is None:
        operation = Operation.CREATE if before is None else Operation.DELETE
    return Change(
        id=change_id,
        key=f"key-{change_id}",
        digest="d",
        tenant_id="t",
        agent_id="a",
        kind=Kind.MEMORY,
        target_id="mem-1",
        target_name=after or before or "",
        operation=operation,
        before=states[0],
        after=states[1],
        base_hash=state_hash(states[0]),
        status=ChangeStatus.APPLYING,
    )


def history_of(change: Change) -> HistoryRecord:
    """Return the history record of an applied change."""
    return HistoryRecord(
        id=f"history-{change.id}",
        knowledge_type=change.kind,
        knowledge_id=change.target_id,
        knowledge_name=change.target_name,
        agent_id=change.agent_id,
        tenant_id=change.tenant_id,
        operation=change.operation,
        previous_content=change.before.content if change.before else None,
        new_content=change.after.content if change.after else None,
        feedback_content="",
        feedback_id=None,
        change_id=change.id,
        attempt=1,
        status=HistoryStatus.APPLIED,
    )


async def carry_out(log: ChangeLog, change: Change) -> None:
    """Open and apply a change."""
    await log.open(change, {})
    async with log.unit_of_work(change) as unit:
        await unit.write_item(change)
        await unit.record_knowledge_history(history_of(change))
        await unit.close(change.id, ChangeStatus.APPLIED)


async def break_half_way(log: ChangeLog, change: Change) -> None:
    """Apply a change and fail before the transaction commits."""
    async with log.unit_of_work(change) as unit:
        await unit.write_item(change)
        await unit.close(change.id, ChangeStatus.APPLIED)
        raise ZeroDivisionError


def remembered(item_id: str, text: str, seen: int | None, *, agent_id: str = "a") -> Change:
    """Make an intent that creates a memory, compared with what was known up to `seen`."""
    return Change(
        id=f"change-{item_id}",
        key=f"key-{item_id}",
        digest="d",
        tenant_id="t",
        agent_id=agent_id,
        kind=Kind.MEMORY,
        target_id=item_id,
        target_name=item_id,
        operation=Operation.CREATE,
        before=None,
        after=Snapshot(content=text, name=item_id),
        base_hash=state_hash(None),
        status=ChangeStatus.APPLYING,
        seen=seen,
    )


class ChangeLogContract:
    """Tests for any change log."""

    async def test_a_settled_change_is_found_by_its_key(self, change_log: ChangeLog) -> None:
        change = memory_change("c1", None, "원화")
        await carry_out(change_log, change)
        found = await change_log.find("key-c1")
        assert found is not None
        assert found.status is ChangeStatus.APPLIED
        assert found.after == change.after
        assert await change_log.find("key-other") is None

    async def test_an_unknown_change_is_not_found(self, change_log: ChangeLog) -> None:
        with pytest.raises(NotFound):
            await change_log.get("nothing")

    async def test_a_second_intent_on_a_target_waits(self, change_log: ChangeLog) -> None:
        await change_log.open(memory_change("c1", None, "one"), {})
        with pytest.raises(TargetBusy):
            await change_log.open(memory_change("c2", None, "two"), {})

    async def test_a_key_is_opened_once_an_attempt(self, change_log: ChangeLog) -> None:
        change = memory_change("c1", None, "one")
        await carry_out(change_log, change)
        with pytest.raises(Stale):
            await change_log.open(change.model_copy(update={"id": "c2"}), {})

    async def test_an_ended_change_is_not_settled_again(self, change_log: ChangeLog) -> None:
        change = memory_change("c1", None, "one")
        await carry_out(change_log, change)
        with pytest.raises(Stale):
            async with change_log.unit_of_work(change):
                pytest.fail("the transaction must not open")

    async def test_an_error_rolls_everything_back(
        self, change_log: ChangeLog, knowledge: Knowledge
    ) -> None:
        change = memory_change("c1", None, "one")
        await change_log.open(change, {})
        with pytest.raises(ZeroDivisionError):
            await break_half_way(change_log, change)
        assert (await change_log.get("c1")).status is ChangeStatus.APPLYING
        assert await knowledge.list(tenant_id="t", agent_id=None, kind=None) == []

    async def test_an_item_keeps_the_span_of_each_version(
        self, change_log: ChangeLog, knowledge: Knowledge
    ) -> None:
        await carry_out(change_log, memory_change("c1", None, "one"))
        await carry_out(change_log, memory_change("c2", "one", "two"))
        await carry_out(change_log, memory_change("c3", "two", None))
        first, second = await knowledge.versions(Kind.MEMORY, "t", "mem-1")
        assert (first.content, first.version) == ("one", 1)
        assert (second.content, second.version) == ("two", 2)
        assert first.valid_to == second.valid_from
        assert second.valid_to is not None
        with pytest.raises(NotFound):
            await knowledge.get(Kind.MEMORY, "t", "mem-1")

    async def test_an_item_that_moved_is_stale(self, change_log: ChangeLog) -> None:
        await carry_out(change_log, memory_change("c1", None, "one"))
        late = memory_change("c2", "zero", "two")
        await change_log.open(late, {})
        with pytest.raises(Stale):
            async with change_log.unit_of_work(late) as unit:
                await unit.write_item(late)

    async def test_an_item_that_came_into_being_meanwhile_is_stale(
        self, change_log: ChangeLog, knowledge: Knowledge
    ) -> None:
        await carry_out(change_log, memory_change("c1", None, "one"))
        late = memory_change("c2", None, "two")
        await change_log.open(late, {})
        with pytest.raises(Stale):
            async with change_log.unit_of_work(late) as unit:
                await unit.write_item(late)
        assert (await knowledge.get(Kind.MEMORY, "t", "mem-1")).content == "one"

    async def test_an_exact_duplicate_is_found_whatever_its_form(
        self, change_log: ChangeLog, knowledge: Knowledge
    ) -> None:
        await carry_out(change_log, memory_change("c1", None, "Amounts in 원화"))
        decomposed = "amounts  in \u110b\u116f\u11ab\u1112\u116a"
        found = await knowledge.find_same(Kind.MEMORY, "t", "a", decomposed)
        assert found is not None
        assert await knowledge.find_same(Kind.MEMORY, "t", "b", decomposed) is None

    async def test_texts_that_differ_in_the_case_of_a_path_are_two(
        self, change_log: ChangeLog, knowledge: Knowledge
    ) -> None:
        await carry_out(change_log, memory_change("c1", None, "Logs go to /data/A"))
        assert await knowledge.find_same(Kind.MEMORY, "t", "a", "logs go to /data/a") is None
        assert await knowledge.find_same(Kind.MEMORY, "t", "a", "logs go to /data/A") is not None

    async def test_a_skill_deleted_meanwhile_is_given_to_nobody(
        self, change_log: ChangeLog
    ) -> None:
        attach = memory_change("c-1", "", "refund").model_copy(
            update={"kind": Kind.AGENT_SKILLS, "target_id": "a"}
        )
        delete = memory_change("c-2", "refund", None).model_copy(
            update={"kind": Kind.SKILL, "target_id": "refund"}
        )
        await change_log.open(attach, {})
        await change_log.open(delete, {})
        async with change_log.unit_of_work(delete) as unit:
            await unit.close(delete.id, ChangeStatus.APPLIED)
        with pytest.raises(Stale, match="deleted meanwhile"):
            async with change_log.unit_of_work(attach) as unit:
                await unit.set_agent_skills(attach)

    async def test_of_skills_deleted_meanwhile_the_first_by_name_is_told(
        self, change_log: ChangeLog
    ) -> None:
        attach = memory_change("c-1", "", "audit\nrefund").model_copy(
            update={"kind": Kind.AGENT_SKILLS, "target_id": "a"}
        )
        await change_log.open(attach, {})
        for name in ("refund", "audit"):
            deletion = memory_change(name, name, None).model_copy(
                update={"kind": Kind.SKILL, "target_id": name}
            )
            await change_log.open(deletion, {})
        with pytest.raises(Stale, match="audit"):
            async with change_log.unit_of_work(attach) as unit:
                await unit.set_agent_skills(attach)

    async def test_blobs_come_back_by_their_hash(self, change_log: ChangeLog) -> None:
        data = b"\x00\xff"
        ref = FileRef(sha256=sha256(data), size=2)
        blobs = {ref.sha256: data, sha256(b"another"): b"another"}
        await change_log.open(memory_change("c1", None, "one"), blobs)
        assert await change_log.blobs([ref]) == {ref.sha256: data}
        with pytest.raises(NotFound):
            await change_log.blobs([FileRef(sha256=sha256(b"other"), size=5)])

    async def test_many_memories_are_concluded_together(
        self, change_log: ChangeLog, knowledge: Knowledge
    ) -> None:
        made = [concluded(number) for number in range(3)]
        await change_log.conclude(made)
        found = await change_log.find_all([one.change.key for one in made] + ["unused"])
        assert {key: change.status for key, change in found.items()} == {
            one.change.key: ChangeStatus.APPLIED for one in made
        }
        for one in made:
            item = await knowledge.get(Kind.MEMORY, "t", one.change.target_id)
            assert (item.content, item.change_id) == (one.change.target_name, one.change.id)

    async def test_of_memories_one_of_which_is_taken_none_is_written(
        self, change_log: ChangeLog, knowledge: Knowledge
    ) -> None:
        await change_log.conclude([concluded(1)])
        with pytest.raises(Stale):
            await change_log.conclude([concluded(2), concluded(1)])
        assert await change_log.find_all([concluded(2).change.key]) == {}
        assert len(await knowledge.some(Kind.MEMORY, "t", "a", since=None, limit=9)) == 1

    async def test_what_has_an_id_or_a_text_is_found_at_once(
        self, change_log: ChangeLog, knowledge: Knowledge
    ) -> None:
        await change_log.conclude([concluded(number) for number in range(4)])
        taken = await knowledge.taken(
            Kind.MEMORY, "t", "a", ids=["many-1", "none"], contents=["TEXT  2.", "text 9"]
        )
        assert {item.id for item in taken} == {"many-1", "many-2"}
        of_another = await knowledge.taken(Kind.MEMORY, "t", "b", ids=[], contents=["text 2"])
        assert of_another == []


def concluded(number: int) -> Concluded:
    """Return a new memory with its history and event."""
    change = memory_change(f"many-{number}", None, f"text {number}").model_copy(
        update={"target_id": f"many-{number}", "status": ChangeStatus.APPLIED}
    )
    return Concluded(change, history_of(change), RunEvent(name="change.applied", tenant_id="t"))

"""Skills: the author is corrected, the store is written in steps, nothing is lost."""

from __future__ import annotations

import pytest

from core.domain.errors import SkillApiDown
from core.domain.hashing import state_hash
from core.domain.messages import Message
from core.domain.models import (
    SKILL_MD,
    ChangeStatus,
    FileRef,
    HistoryStatus,
    Kind,
    Operation,
    Origin,
    ReceiptStatus,
    RestoreRequest,
    SkillFile,
    Snapshot,
)
from core.learning_committers.skill_committer import commit_to_skill
from tests.support.skills import (
    ADD_STEP,
    FEES,
    NEW_FEES,
    REFUND,
    World,
)


async def test_the_author_writes_from_the_feedback_when_no_artifact_is_given() -> None:
    world = World([REFUND])
    receipt = await commit_to_skill("a", feedback_content="나눠서 환불", deps=world.deps("k"))
    assert receipt.target_id == "partial-refund"
    assert world.author.asked[0].feedback_content == "나눠서 환불"
    assert (await world.agents.get("t", "a")).skills == ("partial-refund",)
    assert set(world.files()) == {"SKILL.md", "references/fees.md", "scripts/split.py"}


async def test_the_author_is_told_what_was_wrong_and_asked_again() -> None:
    bad = REFUND.model_copy(update={"name": "x; touch y"})
    world = World([bad, REFUND])
    receipt = await commit_to_skill("a", deps=world.deps("k"))
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.author.told[0] == []
    assert any("x; touch y" in problem for problem in world.author.told[1])


async def test_an_artifact_that_never_validates_is_a_failure_on_record() -> None:
    bad = REFUND.model_copy(update={"description": ""})
    world = World([bad] * 3)
    receipt = await commit_to_skill("a", deps=world.deps("k"))
    assert receipt.status is ReceiptStatus.FAILED
    assert "3 rounds" in receipt.message
    assert not world.store.skills
    (record,) = world.log.history
    assert record.status is HistoryStatus.FAILED
    assert record.new_content is not None
    assert "<!-- [이력] skill-creator 반영 실패:" in record.new_content


@pytest.mark.parametrize("given", ["partial-refund", None])
async def test_a_taken_name_is_refused_with_the_item(given: str | None) -> None:
    world = World([REFUND])
    await world.create()
    receipt = await commit_to_skill("a", skill_id=given, deps=world.deps("k"))
    assert receipt.status is ReceiptStatus.REFUSED
    assert receipt.hits[0].id == "partial-refund"
    assert "UPDATE and skill_id partial-refund" in receipt.message
    assert len(world.author.asked) == (0 if given else 1)


async def test_an_update_changes_what_the_edits_name_and_nothing_else() -> None:
    world = World([ADD_STEP])
    await world.create()
    before = world.files()
    receipt = await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=world.deps("k")
    )
    assert receipt.status is ReceiptStatus.APPLIED
    after = world.files()
    assert "2. 승인을 받는다" in after["SKILL.md"].decode()
    assert (
        after["SKILL.md"].decode().replace("\n2. 승인을 받는다", "").split()
        == before["SKILL.md"].decode().split()
    )
    assert after["references/fees.md"] == NEW_FEES.encode()
    assert "scripts/split.py" not in after
    assert world.author.asked[0].existing is not None


async def test_the_history_holds_the_whole_folder_before_and_after() -> None:
    world = World([ADD_STEP])
    await world.create()
    await commit_to_skill(
        "a", operation=Operation.UPDATE, skill_id="partial-refund", deps=world.deps("k")
    )
    record = world.log.history[-1]
    assert record.previous_files is not None
    assert record.new_files is not None
    assert record.previous_files["scripts/split.py"].executable
    assert set(record.new_files) == {"SKILL.md", "references/fees.md"}
    blobs = await world.log.blobs(list(record.previous_files.values()))
    assert blobs[record.previous_files["references/fees.md"].sha256] == FEES.encode()


@pytest.mark.parametrize("fails_in", [0, 1])
async def test_an_upload_cut_off_goes_on_from_what_the_store_holds(fails_in: int) -> None:
    world = World([ADD_STEP])
    await world.create()
    world.store.fails_in = fails_in
    given = {"operation": Operation.UPDATE, "skill_id": "partial-refund"}
    with pytest.raises(SkillApiDown):
        await commit_to_skill("a", **given, deps=world.deps("k"))  # type: ignore[arg-type]
    receipt = await commit_to_skill("a", **given, deps=world.deps("k"))  # type: ignore[arg-type]
    assert receipt.status is ReceiptStatus.APPLIED
    assert "scripts/split.py" not in world.files()
    assert len(world.author.asked) == 1
    assert [r.status for r in world.log.history[1:]] == [
        HistoryStatus.FAILED,
        HistoryStatus.APPLIED,
    ]


async def test_a_skill_that_someone_else_changed_meanwhile_is_prepared_again() -> None:
    world = World([ADD_STEP, ADD_STEP])
    await world.create()
    world.store.fails_in = 0
    given = {"operation": Operation.UPDATE, "skill_id": "partial-refund"}
    with pytest.raises(SkillApiDown):
        await commit_to_skill("a", **given, deps=world.deps("k"))  # type: ignore[arg-type]
    bundle = world.store.skills["t", "partial-refund"]
    files = {**bundle.files, "assets/theirs.txt": SkillFile(data=b"theirs")}
    world.store.skills["t", "partial-refund"] = bundle.model_copy(update={"files": files})
    receipt = await commit_to_skill("a", **given, deps=world.deps("k"))  # type: ignore[arg-type]
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.files()["assets/theirs.txt"] == b"theirs"
    (theirs,) = [one for one in world.log.changes.values() if one.origin is Origin.OUTSIDE]
    ours = [one for one in world.log.changes.values() if one is not theirs]
    statuses = [change.status for change in ours]
    assert ours[-1].before == theirs.after
    assert statuses == [ChangeStatus.APPLIED, ChangeStatus.STALE, ChangeStatus.APPLIED]


async def test_deleting_and_reverting_brings_the_folder_back_byte_for_byte() -> None:
    world = World()
    await world.create()
    before = world.store.skills["t", "partial-refund"]
    receipt = await commit_to_skill(
        "a", operation=Operation.DELETE, skill_id="partial-refund", deps=world.deps("k")
    )
    assert not world.store.skills
    assert (await world.agents.get("t", "a")).skills == ()
    await world.gate.revert(receipt.change_id or "", "still needed")
    assert world.store.skills["t", "partial-refund"] == before
    assert (await world.agents.get("t", "a")).skills == ("partial-refund",)


async def test_a_dry_run_says_that_files_to_restore_are_not_stored_any_more() -> None:
    world = World(dry_run=True)
    lost = Snapshot(content="", name="a", files={SKILL_MD: FileRef(sha256="0" * 64, size=1)})
    request = RestoreRequest(
        operation=Operation.CREATE,
        target_kind=Kind.SKILL,
        target_id="a",
        state=lost,
        expected_hash=state_hash(None),
        reason="still needed",
    )
    receipt = await world.gate.submit(request, world.deps("k").context)
    assert receipt.status is ReceiptStatus.REFUSED
    assert "is missing" in receipt.message


@pytest.mark.parametrize("operation", [Operation.UPDATE, Operation.DELETE])
async def test_what_is_no_skill_is_neither_changed_nor_deleted(operation: Operation) -> None:
    world = World([ADD_STEP])
    await world.create()
    for skill_id, code in (("none", "no.skill"), (None, "skill.id_missing")):
        receipt = await commit_to_skill(
            "a", operation=operation, skill_id=skill_id, deps=world.deps(f"k{skill_id}")
        )
        assert receipt.status is ReceiptStatus.REFUSED
        wanted = Message(code, name="none") if skill_id else Message(code, operation=operation)
        assert str(wanted) in receipt.message
    assert world.author.asked == []
    assert len(world.store.skills) == 1

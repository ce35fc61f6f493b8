"""What others make of skills past the gate is on record: once, whole, and to be taken back."""

from __future__ import annotations

import pytest

from core.domain.errors import Stale
from core.domain.models import (
    SKILL_MD,
    Bundle,
    Change,
    ChangeStatus,
    Operation,
    Origin,
    ReceiptStatus,
    SkillFile,
)
from core.learning_committers.skill_committer import commit_to_skill
from tests.support.skills import ADD_STEP, REFUND, World

NAME = REFUND.name
KEY = ("t", NAME)


@pytest.fixture
async def world() -> World:
    world = World(answers=[ADD_STEP])
    await world.create()
    return world


def overwrite(world: World, path: str = SKILL_MD, text: bytes = b"rm -rf /") -> None:
    """Write to the skill as somebody does who does not know of the gate."""
    files = {**world.store.skills[KEY].files, path: SkillFile(data=text)}
    world.store.skills[KEY] = Bundle(name=NAME, files=files)


def found(world: World) -> list[Change]:
    return [one for one in world.log.changes.values() if one.origin is Origin.OUTSIDE]


async def test_what_the_gate_wrote_is_not_taken_for_somebody_elses(world: World) -> None:
    await world.outside.look(*KEY)
    await world.outside.see(*KEY, world.store.skills[KEY])
    assert found(world) == []


async def test_an_edit_is_on_record_once_with_what_was_there_and_what_is(world: World) -> None:
    before = world.files()
    overwrite(world)
    for _ in range(3):
        await world.outside.see(*KEY, world.store.skills[KEY])
    (change,) = found(world)
    assert (change.operation, change.status) == (Operation.UPDATE, ChangeStatus.APPLIED)
    assert change.before is not None
    assert change.after is not None
    for state, files in ((change.before, before), (change.after, world.files())):
        blobs = await world.log.blobs([*(state.files or {}).values()])
        assert {p: blobs[ref.sha256] for p, ref in (state.files or {}).items()} == files
    record = world.log.history[-1]
    assert (record.change_id, record.new_content) == (change.id, "rm -rf /")
    assert [event.name for event in world.log.events].count("skill.changed_outside") == 1


async def test_creation_and_deletion_past_the_gate_are_on_record_too(world: World) -> None:
    bundle = world.store.skills.pop(KEY)
    await world.outside.look(*KEY)
    world.store.skills[KEY] = bundle
    await world.outside.look(*KEY)
    foreign = bundle.model_copy(update={"name": "foreign"})
    world.store.skills["t", "foreign"] = foreign
    await world.outside.see("t", "foreign", foreign)
    made = [(one.target_id, one.operation) for one in found(world)]
    assert made == [
        (NAME, Operation.DELETE),
        (NAME, Operation.CREATE),
        ("foreign", Operation.CREATE),
    ]


async def test_it_is_taken_back_like_any_other_change(world: World) -> None:
    before = world.files()
    overwrite(world)
    await world.outside.look(*KEY)
    (change,) = found(world)
    receipt = await world.gate.revert(change.id, "not ours")
    assert receipt.status is ReceiptStatus.APPLIED, receipt.message
    assert world.files() == before
    await world.outside.look(*KEY)
    assert len(found(world)) == 1


async def test_the_gate_looks_before_it_changes_a_skill(world: World) -> None:
    overwrite(world, "references/new.md", b"# new\n")
    deps = world.deps("u")
    receipt = await commit_to_skill("a", None, Operation.UPDATE, NAME, deps=deps)
    assert receipt.status is ReceiptStatus.APPLIED, receipt.message
    (theirs,) = found(world)
    assert world.log.changes[receipt.change_id or ""].before == theirs.after
    assert [row.change_id for row in world.log.history[-2:]] == [theirs.id, receipt.change_id]


async def test_the_gate_looks_before_it_applies_what_was_approved(world: World) -> None:
    world.hold_all()
    held = await commit_to_skill("a", None, Operation.UPDATE, NAME, deps=world.deps("u"))
    overwrite(world, "references/new.md", b"# new\n")
    with pytest.raises(Stale):
        await world.gate.decisions.approve(held.change_id or "", by="kim")
    assert len(found(world)) == 1
    receipt = await world.gate.decisions.approve(held.change_id or "", by="kim")
    assert receipt.status is ReceiptStatus.APPLIED, receipt.message
    await world.outside.look(*KEY)  # the held change is older, but was applied later
    assert len(found(world)) == 1


async def test_half_of_our_own_change_is_not_taken_for_somebody_elses(world: World) -> None:
    (made,) = world.log.changes.values()
    update = {"id": "next", "key": "next", "status": ChangeStatus.APPLYING}
    await world.log.open(made.model_copy(update=update), {})
    overwrite(world)
    await world.outside.look(*KEY)
    assert found(world) == []


async def test_what_is_no_text_is_on_record_with_its_bytes(world: World) -> None:
    overwrite(world, SKILL_MD, b"\xff\x00broken")
    await world.outside.look(*KEY)
    (change,) = found(world)
    assert change.after is not None
    ref = (change.after.files or {})[SKILL_MD]
    assert (await world.log.blobs([ref]))[ref.sha256] == b"\xff\x00broken"
    assert "\0" not in change.after.content

"""Tables, skills, lists and items of packages that wait, prepared again on what is there."""

from __future__ import annotations

import pytest

from core.changes.policy.review_policy import apply_all
from core.changes.steps import StoredStates
from core.decision_table import parse_xml
from core.domain.hashing import state_hash
from core.domain.models import (
    Change,
    ChangeStatus,
    Edited,
    HitPolicy,
    Kind,
    RestoreRequest,
    RuleRequest,
    SkillRequest,
)
from tests.support.all_kinds import (
    Everything,
    listed,
    poem,
    review_all,
    skill,
    table,
)
from tests.unit.test_merging import Rows
from tests.unit.test_merging import table as xml
from tests.unit.test_prepared_again import (
    BASE,
    CLERK,
    CREATE,
    DELETE,
    FEES,
    LEAD,
    READ,
    UPDATE,
    Became,
    became,
    said_after,
)
from tests.unit.test_skills_fetched import GIT
from tests.unit.test_skills_installed import NEWER, Installing, files
from tests.unit.test_skills_installed import STEPS as PAY_STEPS


async def test_a_skill_in_the_way_of_a_new_one_keeps_its_name() -> None:
    world = Everything()
    about = "Refund a parcel that came late."
    waits = await world.hold(skill("refund", READ, about=about))
    other = skill("money-back", READ.replace("Read it", "Look at it"), about=about)
    await world.learn(other)
    again = await world.again(waits)
    assert (again.operation, again.target_id) == (UPDATE, "money-back")
    assert (again.merge_mode, again.contradicts) == ("REPLACE", "")
    text = said_after(again) or ""
    assert "\nname: money-back\n" in text
    assert text.endswith(READ)


async def test_an_upgrade_prepared_again_keeps_where_it_is_from() -> None:
    tenant = Installing()
    await tenant.install()
    tenant.publishing.trees[GIT] = files(NEWER)
    tenant.world.policy = review_all
    await tenant.upgrade("v2")
    tenant.world.policy = apply_all
    held = tenant.last()
    again = await tenant.world.again(held)
    assert (again.status, said_after(again)) == (ChangeStatus.HELD, said_after(held))
    assert isinstance(again.request, SkillRequest)
    assert again.request.upgrades is None  # what was learnt is in it already
    learnt = skill("pay", PAY_STEPS + "3. Tell them.\n", about="How to pay a bill.", new=False)
    await tenant.world.learn(learnt)
    moved = await tenant.world.again(again)
    assert (said_after(moved) or "").endswith(f"{NEWER}3. Tell them.\n")
    await tenant.world.gate.decisions.approve(held.id, by="kim", seen=moved.content_hash)
    (one,) = await tenant.shelf.list("t")
    assert one.published.ref == "v2"


@pytest.mark.parametrize("with_folder", [True, False])
async def test_a_state_to_be_restored_is_prepared_again_with_its_files(with_folder: bool) -> None:
    world = Everything()
    first = await world.learn(skill("refund", READ, {"a.md": b"# A\n"}))
    second = await world.learn(skill("refund", READ + FEES, new=False))
    assert first.after is not None
    folder = await StoredStates(world.log).folder(first.after.files or {})
    request = RestoreRequest(
        operation=UPDATE,
        target_kind=Kind.SKILL,
        target_id="refund",
        state=first.after,
        folder=folder if with_folder else None,
        expected_hash=state_hash(second.after),
    )
    waits = await world.hold(request)
    again = await world.again(waits)
    assert (again.status, again.content_hash) == (ChangeStatus.HELD, waits.content_hash)
    await world.gate.decisions.approve(waits.id, by="kim")
    found = await world.store.read("refund", "t")
    assert found is not None
    assert found.files == folder


def rows_of(change: Change) -> list[tuple[str, str, str]]:
    assert change.after is not None
    table = parse_xml(change.after.content)
    return [(row.inputs[0], row.outputs[0], row.annotation) for row in table.rows]


RULES = [
    # Rows that a table lacks are put beside; those of the same case take their place.
    ({"x": CLERK}, [CLERK, LEAD], "EXTEND", "EXTENDS", None),
    ({"x": ("> 100", '"board"', "theirs")}, [LEAD], "REFINE", "REFINES", ""),
    (
        {"x": ("> 100", '"board"', "theirs"), "y": CLERK},
        [LEAD, CLERK],
        "REFINE",
        "REFINES",
        "",
    ),
]


@pytest.mark.parametrize(("theirs", "rows", "mode", "relationship", "contradicts"), RULES)
async def test_a_new_table_goes_into_one_of_its_name(
    theirs: Rows, rows: list[tuple[str, str, str]], mode: str, relationship: str, contradicts: str
) -> None:
    world = Everything()
    waits = await world.hold(table(xml({"a": LEAD}), is_import=True))
    other = await world.learn(table(xml(theirs), is_import=True))
    again = await world.again(waits)
    assert (again.operation, again.target_id) == (UPDATE, other.target_id)
    assert rows_of(again) == rows
    assert (again.merge_mode, again.relationship) == (mode, relationship)
    assert again.contradicts == contradicts
    assert any("1" in warning for warning in again.warnings) is (contradicts is not None)


TABLE_EDITS = [
    # (mine, theirs, rows, is a choice)
    (
        {**BASE, "r1": ("> 100", '"boss"', "mine")},
        {**BASE, "r2": ("<= 100", '"staff"', "theirs")},
        [("> 100", '"boss"', "mine"), ("<= 100", '"staff"', "theirs")],
        False,
    ),
    (
        {**BASE, "r1": ("> 100", '"boss"', "mine")},
        {**BASE, "r1": ("> 100", '"board"', "theirs")},
        [("> 100", '"boss"', "mine"), CLERK],
        True,
    ),
    ({"r1": LEAD}, {**BASE, "r1": ("> 100", '"boss"', "x")}, [("> 100", '"boss"', "x")], False),
]


@pytest.mark.parametrize(("mine", "theirs", "rows", "is_choice"), TABLE_EDITS)
async def test_an_edit_of_a_table_is_done_row_by_row(
    mine: Rows, theirs: Rows, rows: list[tuple[str, str, str]], is_choice: bool
) -> None:
    world = Everything()
    await world.learn(table(xml(BASE), target_id="t1", operation=CREATE, is_import=True))
    waits = await world.hold(table(xml(mine), "t1", is_import=True))
    await world.learn(table(xml(theirs), "t1", is_import=True))
    again = await world.again(waits)
    assert rows_of(again) == rows
    assert (again.operation, again.merge_mode, again.relationship) == (UPDATE, "REFINE", "REFINES")
    assert again.contradicts == ("" if is_choice else None)


async def test_rows_that_are_all_there_by_now_leave_nothing_to_decide() -> None:
    world = Everything()
    await world.learn(table(xml(BASE), target_id="t1", operation=CREATE, is_import=True))
    boss = ("> 100", '"boss"', "mine")
    waits = await world.hold(table(xml({**BASE, "r1": boss}), "t1", is_import=True))
    both = {"r1": boss, "r2": ("<= 100", '"staff"', "theirs")}
    await world.learn(table(xml(both), "t1", is_import=True))
    assert (await world.again(waits)).status is ChangeStatus.REJECTED


async def test_a_table_that_decides_another_way_is_a_choice_as_a_whole() -> None:
    world = Everything()
    mine = xml({"a": LEAD})
    waits = await world.hold(table(mine, is_import=True))
    theirs = xml({"b": CLERK}, policy=HitPolicy.FIRST)
    other = await world.learn(table(theirs, is_import=True))
    again = await world.again(waits)
    assert (again.operation, again.target_id) == (UPDATE, other.target_id)
    assert (again.merge_mode, again.contradicts) == ("REPLACE", "")
    assert rows_of(again) == [LEAD]
    assert any("decide in different ways" in warning for warning in again.warnings)


async def test_what_took_the_place_of_a_deleted_table_is_overridden_as_a_whole() -> None:
    world = Everything()
    await world.learn(table(xml(BASE), target_id="t1", operation=CREATE, is_import=True))
    waits = await world.hold(table(xml({"r1": LEAD}), "t1", is_import=True))
    await world.learn(RuleRequest(operation=DELETE, target_id="t1"))
    theirs = xml({"b": CLERK}, policy=HitPolicy.FIRST)
    other = await world.learn(table(theirs, is_import=True))
    mine = xml({"r1": ("> 100", '"boss"', "mine")})
    edited = await world.gate.decisions.edit(waits.id, Edited(content=mine), by="kim")
    assert (edited.operation, edited.target_id) == (UPDATE, other.target_id)
    assert rows_of(edited) == [("> 100", '"boss"', "mine")]
    again = await world.again(edited)
    assert (again.target_id, rows_of(again)) == (other.target_id, rows_of(edited))


async def test_cases_by_which_rows_were_asked_for_stay_with_them() -> None:
    world = Everything()
    drafted = {
        "name": "approval",
        "inputs": [{"name": "amount", "type": "number"}],
        "outputs": [{"name": "who"}],
        "rows": [
            {
                "inputs": {"amount": "> 100"},
                "outputs": {"who": '"lead"'},
                "annotation": "large",
                "example": {"amount": 777},
            }
        ],
    }
    asked = RuleRequest.model_validate({"operation": "CREATE", "rule": drafted})
    waits = await world.hold(asked)
    await world.learn(table(xml({"b": CLERK}), is_import=True))
    again = await world.again(waits)
    assert again.after is not None
    assert "777" in again.after.content
    assert rows_of(again) == [CLERK, LEAD]


async def test_an_edit_of_a_skill_is_done_to_the_files_as_they_are_now() -> None:
    world = Everything()
    await world.learn(skill("refund", READ, {"a.md": b"# A\n", "b.md": b"# B\n"}))
    mine = skill("refund", READ, {"a.md": b"# A1\n", "b.md": b"# B\n"}, new=False)
    waits = await world.hold(mine)
    theirs = skill("refund", READ, {"a.md": b"# A\n", "b.md": b"# B2\n"}, new=False)
    await world.learn(theirs)
    again = await world.again(waits)
    assert again.contradicts is None
    assert again.after is not None
    blobs = await world.log.blobs([*(again.after.files or {}).values()])
    made = {path: blobs[ref.sha256] for path, ref in (again.after.files or {}).items()}
    assert (made["a.md"], made["b.md"]) == (b"# A1\n", b"# B2\n")
    # Where both wrote into one line it is a choice between the two.
    await world.learn(skill("refund", READ, {"a.md": b"# A9\n", "b.md": b"# B\n"}, new=False))
    choice = await world.again(again)
    assert choice.contradicts == ""
    assert any("'refund'" in warning for warning in choice.warnings)


async def test_a_list_is_set_as_it_was_asked_for() -> None:
    world = Everything()
    for name in ("pay", "refund"):
        await world.learn(skill(name, f"# {name}\n\n1. {name} it\n", about=f"{name} at the {name}"))
    waits = await world.hold(listed("pay"))
    await world.learn(listed("refund"))
    again = await world.again(waits)
    assert again.status is ChangeStatus.HELD
    assert again.before is not None
    assert again.after is not None
    assert (again.before.content, again.after.content) == ("refund", "pay")
    await world.learn(listed("pay"))
    assert (await world.again(again)).status is ChangeStatus.REJECTED


async def test_an_item_of_a_package_is_put_in_the_place_of_what_it_says_by_now() -> None:
    world = Everything()
    await world.learn(poem("Sea", "a", target_id="p", operation=CREATE))
    waits = await world.hold(poem("Sea", "b", target="p"))
    await world.learn(poem("Sea", "c", target="p"))
    again = await world.again(waits)
    assert became(again, "'Sea'") == Became(
        UPDATE, "REPLACE", "SUPERSEDES", "", "title: Sea\nlines:\n- b", "'Sea'"
    )
    await world.learn(poem("Sea", "b", target="p"))
    assert (await world.again(again)).status is ChangeStatus.REJECTED

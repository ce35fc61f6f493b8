"""What becomes of a change that waits once its target, or one like it, has changed."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from core.decision_table import parse_xml
from core.domain.errors import Decided, NotFound, Refused, Stale
from core.domain.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    Edited,
    HitPolicy,
    Kind,
    KindRequest,
    MemoryRequest,
    MergeMode,
    Operation,
    RuleRequest,
    SkillFile,
    SkillRequest,
)
from tests.support.all_kinds import (
    POEM,
    Asking,
    Everything,
    listed,
    note,
    poem,
    skill,
    table,
)
from tests.unit.test_merging import Rows
from tests.unit.test_merging import table as xml

CREATE, UPDATE, DELETE = Operation.CREATE, Operation.UPDATE, Operation.DELETE
THIRTY, FOURTEEN = "Invoices are due in 30 days", "Invoices are due in 14 days"
PLANTS = "The office has plants"
LEAD, CLERK = ("> 100", '"lead"', "large"), ("<= 100", '"clerk"', "small")
BASE: Rows = {"r1": LEAD, "r2": CLERK}
READ, FEES, MORE = "# Steps\n\n1. Read it\n", "\n## Fees\n\nNone.\n", "\n## More\n\nCall them.\n"


@dataclass(frozen=True)
class Became:
    """What a change is by now; `contradicts` is "" where it overrides what is there."""

    operation: Operation
    mode: MergeMode | str | None
    relationship: str | None
    contradicts: str | None
    content: str
    warned: str = ""


def became(change: Change, warned: str = "") -> Became:
    assert change.status is ChangeStatus.HELD
    assert change.after is not None
    assert any(warned in warning for warning in change.warnings) is bool(change.warnings)
    return Became(
        change.operation,
        change.merge_mode,
        change.relationship,
        change.contradicts,
        change.after.content,
        warned,
    )


def said_before(change: Change) -> str | None:
    return change.before.content if change.before else None


def said_after(change: Change) -> str | None:
    return change.after.content if change.after else None


NEW = [
    # It overrides what it contradicts, and is put beside what it does not.
    (
        note(THIRTY),
        note(FOURTEEN),
        Became(UPDATE, "REPLACE", "SUPERSEDES", "", THIRTY, "14 days"),
    ),
    (
        note(THIRTY),
        note(f"{FOURTEEN}\n{PLANTS}"),
        Became(UPDATE, "REFINE", "REFINES", "", f"{THIRTY}\n{PLANTS}", "14 days"),
    ),
    (
        note("Fragile goods travel in boxes"),
        note("Fragile goods travel in padded boxes"),
        Became(
            UPDATE,
            "EXTEND",
            "EXTENDS",
            None,
            "Fragile goods travel in padded boxes\nFragile goods travel in boxes",
        ),
    ),
    # What is about somebody else is a memory of its own.
    (
        note("Ms. Kim wants amounts in KRW"),
        note("Ms. Park wants amounts in KRW"),
        Became(CREATE, None, "UNRELATED", None, "Ms. Kim wants amounts in KRW"),
    ),
    (note(THIRTY), note(PLANTS), Became(CREATE, None, None, None, THIRTY)),
    # Somebody has used the id that it asked for.
    (
        note(THIRTY, target_id="due", operation=CREATE),
        note(FOURTEEN, target_id="due", operation=CREATE),
        Became(UPDATE, "REPLACE", "SUPERSEDES", "", THIRTY, "14 days"),
    ),
    (
        poem("Sea", "a"),
        poem("sea", "b"),
        Became(UPDATE, "REPLACE", "SUPERSEDES", "", "title: Sea\nlines:\n- a", "'sea'"),
    ),
    (
        skill("refund", READ + MORE),
        skill("refund", READ + FEES),
        Became(
            UPDATE,
            "EXTEND",
            "EXTENDS",
            None,
            f"---\nname: refund\ndescription: How to refund.\n---\n\n{READ}{FEES}{MORE}",
        ),
    ),
    (
        skill("refund", READ),
        skill("refund", READ.replace("Read", "Burn")),
        Became(
            UPDATE,
            "REPLACE",
            "SUPERSEDES",
            "",
            f"---\nname: refund\ndescription: How to refund.\n---\n\n{READ}",
            "'refund'",
        ),
    ),
]


@pytest.mark.parametrize(("mine", "theirs", "found"), NEW)
async def test_what_was_new_meets_an_item_that_has_arrived(
    mine: ChangeRequest, theirs: ChangeRequest, found: Became
) -> None:
    world = Everything()
    waits = await world.hold(mine)
    other = await world.learn(theirs)
    again = await world.again(waits)
    assert became(again, found.warned) == found
    assert (again.target_id == other.target_id) is (found.operation is UPDATE)
    assert said_before(again) == (said_after(other) if found.operation is UPDATE else None)
    assert (again.reason, again.feedback_id) == (waits.reason, waits.feedback_id)
    assert world.told()[-1] == "change.prepared_again"
    assert world.log.events[-1].data["by"] == "kim"
    # What is shown is what is applied.
    await world.gate.decisions.approve(waits.id, by="kim", seen=again.content_hash)
    assert found.content in [item.after.content for item in _applied(world) if item.after]


def _applied(world: Everything) -> list[Change]:
    return [one for one in world.log.changes.values() if one.status is ChangeStatus.APPLIED]


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (note(THIRTY), note(THIRTY)),
        (note(THIRTY, target_id="due", operation=CREATE), note(THIRTY)),
        (table(xml(BASE), is_import=True), table(xml(BASE), is_import=True)),
        (poem("Sea", "a"), poem("Sea", "a")),
        (skill("refund", READ), skill("refund", READ + FEES)),
    ],
)
async def test_what_is_there_by_now_is_ended(mine: ChangeRequest, theirs: ChangeRequest) -> None:
    world = Everything()
    waits = await world.hold(mine)
    await world.learn(theirs)
    ended = await world.again(waits)
    assert (ended.status, ended.decided_by) == (ChangeStatus.REJECTED, None)
    assert "says this by now" in ended.decision
    assert world.told()[-1] == "change.known_by_now"
    with pytest.raises(Decided):
        await world.again(waits)


MANY = "one line\ntwo line\nthree line"
EDITS = [
    # An edit of the whole stays one; what it says in the place of the same words is a choice.
    (
        MANY,
        note("one line\ntwo line\nlast line", "m"),
        note("first line\ntwo line\nthree line", "m"),
        Became(UPDATE, None, "SUPERSEDES", None, "one line\ntwo line\nlast line"),
    ),
    (
        THIRTY,
        note(FOURTEEN, "m"),
        note("Invoices are due in 7 days", "m"),
        Became(UPDATE, "REPLACE", "SUPERSEDES", "", FOURTEEN, "7 days"),
    ),
    # An addition stays one, and takes the place of the line that it contradicts.
    (
        PLANTS,
        note(FOURTEEN, "m", merge_mode="EXTEND"),
        note("Reports are due on Monday", "m", merge_mode="EXTEND"),
        Became(UPDATE, "EXTEND", None, None, f"{PLANTS}\nReports are due on Monday\n{FOURTEEN}"),
    ),
    (
        PLANTS,
        note(f" {FOURTEEN} ", "m", merge_mode="EXTEND"),
        note("Invoices are due in 7 days", "m", merge_mode="EXTEND"),
        Became(UPDATE, "REFINE", "REFINES", "", f"{PLANTS}\n{FOURTEEN}", "7 days"),
    ),
    # A part is changed where it still stands.
    (
        f"{THIRTY}. {PLANTS}.",
        note("in 14 days", "m", merge_mode="REFINE", part="in 30 days"),
        note(f"{THIRTY}. {PLANTS} and cats.", "m"),
        Became(UPDATE, "REFINE", None, None, f"{FOURTEEN}. {PLANTS} and cats."),
    ),
    (
        f"{THIRTY}. {PLANTS}.",
        note("in 14 days", "m", part="in 30 days"),
        note(f"Invoices are due soon. {PLANTS}.", "m"),
        Became(UPDATE, "REPLACE", "SUPERSEDES", "", f"{FOURTEEN}. {PLANTS}.", "'in 30 days'"),
    ),
]


@pytest.mark.parametrize(("base", "mine", "theirs", "found"), EDITS)
async def test_an_edit_of_a_memory_is_done_to_what_it_says_by_now(
    base: str, mine: MemoryRequest, theirs: MemoryRequest, found: Became
) -> None:
    world = Everything()
    await world.learn(note(base, target_id="m", operation=CREATE))
    waits = await world.hold(mine)
    theirs_now = await world.learn(theirs)
    again = await world.again(waits)
    assert became(again, found.warned) == found
    assert (again.target_id, said_before(again)) == ("m", said_after(theirs_now))


async def test_an_edit_whose_target_is_as_it_was_stays_as_it_is() -> None:
    world = Everything()
    await world.learn(note(THIRTY, target_id="m", operation=CREATE))
    waits = await world.hold(note(FOURTEEN, "m"))
    again = await world.again(waits)
    assert (again.content_hash, again.before) == (waits.content_hash, waits.before)
    # What arrives near it is told to who decides, and does not refuse it.
    assert (waits.seen is None, again.seen) == (False, None)
    # Once others have said just that, nothing is left of it.
    await world.learn(note(FOURTEEN, "m"))
    assert (await world.again(again)).status is ChangeStatus.REJECTED


async def test_what_a_person_has_edited_is_merged_line_by_line() -> None:
    world = Everything()
    await world.learn(note(MANY, target_id="m", operation=CREATE))
    waits = await world.hold(note("one line\ntwo line\nlast line", "m"))
    edited = await world.gate.decisions.edit(
        waits.id, Edited(content="one line\ntwo line\nmy line"), by="kim"
    )
    assert edited.edited_by == "kim"
    await world.learn(note("first line\ntwo line\nthree line", "m"))
    again = await world.again(edited)
    merged = "first line\ntwo line\nmy line"
    assert became(again) == Became(UPDATE, "REFINE", "SUPERSEDES", None, merged)


async def test_what_overrides_something_goes_on_doing_so() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    await world.learn(note(FOURTEEN, target_id="m", operation=CREATE))
    choice = await world.again(waits)
    await world.learn(note(f"{FOURTEEN}\n{PLANTS}", "m"))
    again = await world.again(choice)
    assert again.contradicts == ""
    assert again.after is not None
    assert again.after.content == f"{THIRTY}\n{PLANTS}"


@pytest.mark.parametrize("kind", [Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL, POEM])
async def test_what_was_deleted_meanwhile_is_created_anew(kind: Kind) -> None:
    world = Everything()
    made, edit, gone = {
        Kind.MEMORY: (
            note(PLANTS, target_id="m", operation=CREATE),
            note(THIRTY, "m"),
            MemoryRequest(operation=DELETE, target_id="m"),
        ),
        Kind.DMN_RULE: (
            table(xml(BASE), target_id="m", operation=CREATE, is_import=True),
            table(xml({"r1": LEAD}), "m", is_import=True),
            RuleRequest(operation=DELETE, target_id="m"),
        ),
        Kind.SKILL: (
            skill("refund", READ),
            skill("refund", READ + FEES, new=False),
            SkillRequest(operation=DELETE, target_id="refund"),
        ),
        POEM: (
            poem("Sea", "a", target_id="m", operation=CREATE),
            poem("Sea", "b", target="m"),
            KindRequest(operation=DELETE, target_kind=POEM, target_id="m"),
        ),
    }[kind]
    await world.learn(made)
    waits = await world.hold(edit)
    await world.learn(gone)
    again = await world.again(waits)
    assert again.status is ChangeStatus.HELD
    assert (again.operation, again.merge_mode, again.before) == (CREATE, None, None)
    assert (again.contradicts, again.relationship) == ("", waits.relationship)
    assert again.after is not None
    assert waits.after is not None
    assert again.after.name == waits.after.name
    if kind is not Kind.DMN_RULE:  # rows are written anew
        assert again.after.content == waits.after.content
    assert any("deleted" in warning for warning in again.warnings)
    assert (again.target_id == waits.target_id) is (kind is Kind.SKILL)


async def test_what_was_deleted_and_written_anew_by_others_is_put_beside() -> None:
    world = Everything()
    await world.learn(note(PLANTS, target_id="m", operation=CREATE))
    waits = await world.hold(note(THIRTY, "m"))
    await world.learn(MemoryRequest(operation=DELETE, target_id="m"))
    other = await world.learn(poem("Sea", "a"))
    assert other.kind == POEM
    await world.learn(note(FOURTEEN, target_id="n", operation=CREATE))
    again = await world.again(waits)
    assert (again.operation, again.contradicts) == (CREATE, "")


async def test_a_deletion_stays_one_and_ends_once_the_item_is_gone() -> None:
    world = Everything()
    await world.learn(note(PLANTS, target_id="m", operation=CREATE))
    gone = MemoryRequest(operation=DELETE, target_id="m")
    waits = await world.hold(gone)
    moved = await world.learn(note(f"{PLANTS} and cats", "m"))
    again = await world.again(waits)
    assert (again.status, again.operation) == (ChangeStatus.HELD, DELETE)
    assert (said_before(again), again.after) == (said_after(moved), None)
    await world.learn(gone)
    ended = await world.again(again)
    assert ended.status is ChangeStatus.REJECTED
    assert "deleted already" in ended.decision


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


async def test_a_state_that_cannot_be_restored_by_now_goes_stale() -> None:
    world = Everything()
    made = await world.learn(note(THIRTY, target_id="m", operation=CREATE))
    before, world.policy = world.policy, lambda _: ("new",)
    receipt = await world.gate.revert(made.id, "wrong")
    world.policy = before
    await world.learn(note(FOURTEEN, "m"))
    with pytest.raises(Stale) as raised:
        await world.gate.decisions.prepare_again(receipt.change_id or "", by="kim")
    stale = await world.log.get(receipt.change_id or "")
    assert stale.status is ChangeStatus.STALE
    assert raised.value.hint
    assert world.told()[-1] == "change.went_stale"


async def test_a_model_decides_again_where_code_cannot_tell() -> None:
    asking = Asking(refuses={"f-busy"})
    world = Everything(ask_again=asking)
    waits = await world.hold(skill("refund", READ), feedback_id="f-1")
    twin = await world.submit_held(skill("refund", READ), feedback_id="f-2")
    assert twin.change_id == waits.id
    await world.submit_held(skill("refund", READ), feedback_id="f-busy")
    await world.learn(skill("refund", READ.replace("Read", "Burn")))
    ended = await world.again(waits)
    assert ended.status is ChangeStatus.REJECTED
    assert asking.asked == ["f-1", "f-2"]
    assert world.told()[-2:] == ["change.went_stale", "change.asked_again"]
    assert ended.decision.code == "review.asked_again"  # type: ignore[attr-defined]


@pytest.mark.parametrize("why", ["edited", "at work", "of a person", "without feedback"])
async def test_no_model_is_asked_about_what_a_person_said_or_is_at_work(why: str) -> None:
    asking = Asking(refuses={"f-1"} if why == "at work" else set())
    world = Everything(ask_again=asking)
    given: dict[str, object] = {"feedback_id": None if why == "without feedback" else "f-1"}
    if why == "of a person":
        given["origin"] = "PERSON"
    waits = await world.hold(skill("refund", READ), **given)
    if why == "edited":
        files = {"SKILL.md": SkillFile(data=_document("refund", "# Steps\n\n1. Bin it\n"))}
        await world.gate.decisions.edit(waits.id, Edited(files=files), by="kim")
    await world.learn(skill("refund", READ.replace("Read", "Burn")))
    choice = await world.again(waits)
    assert (choice.status, choice.contradicts) == (ChangeStatus.HELD, "")
    assert asking.asked == []


def _document(name: str, body: str) -> bytes:
    return f"---\nname: {name}\ndescription: How to {name}.\n---\n\n{body}".encode()


async def test_what_was_approved_is_told_to_what_waits_beside_it() -> None:
    asking = Asking()
    world = Everything(ask_again=asking)
    first = await world.hold(note(THIRTY), feedback_id="f-1")
    against = await world.hold(note(FOURTEEN))
    other = await world.hold(note(PLANTS))
    await world.gate.decisions.approve(first.id, by="kim")
    choice, same = await world.log.get(against.id), await world.log.get(other.id)
    assert choice.contradicts == first.id
    assert (choice.operation, choice.target_id) == (UPDATE, first.target_id)
    assert same == other
    assert asking.passed == ["f-1"]
    told = world.log.events[-1]
    assert (told.name, told.data["because_of"]) == ("change.prepared_again", first.id)
    assert "by" not in told.data


async def test_a_choice_is_approved_only_by_who_has_seen_it() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    await world.learn(note(FOURTEEN))
    choice = await world.again(waits)
    with pytest.raises(Refused) as raised:
        await world.gate.decisions.approve(choice.id, by="kim")
    assert choice.content_hash in str(raised.value.hint)
    await world.gate.decisions.approve(choice.id, by="kim", seen=choice.content_hash)
    assert await world.says() == [THIRTY]


async def test_both_of_a_contradiction_can_be_kept_where_they_are_two_things() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    with pytest.raises(Refused):  # nothing contradicts it
        await world.gate.decisions.keep_both(waits.id, by="kim")
    await world.learn(note(FOURTEEN))
    choice = await world.again(waits)
    dry = await world.dry().decisions.keep_both(choice.id, by="kim", seen=choice.content_hash)
    assert dry.status == "prepared"
    assert (await world.log.get(choice.id)) == choice
    done = await world.gate.decisions.keep_both(choice.id, by="kim", seen=choice.content_hash)
    assert await world.says() == sorted([THIRTY, FOURTEEN])
    kept = await world.log.get(choice.id)
    assert (kept.operation, kept.merge_mode, kept.relationship) == (CREATE, None, "UNRELATED")
    assert done.change_id == choice.id
    # Of two tables of one name there is one.
    waits = await world.hold(table(xml({"a": LEAD}), is_import=True))
    await world.learn(table(xml({"b": ("> 100", '"x"', "")}), is_import=True))
    choice = await world.again(waits)
    with pytest.raises(Refused):
        await world.gate.decisions.keep_both(choice.id, by="kim")


async def test_a_dry_run_prepares_nothing_again() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY))
    other = await world.learn(note(FOURTEEN))
    shown = await world.dry().decisions.prepare_again(waits.id, by="kim")
    assert (shown.target_id, shown.contradicts) == (other.target_id, "")
    assert await world.log.get(waits.id) == waits
    with pytest.raises(NotFound):
        await world.dry().decisions.prepare_again("nothing", by="kim")

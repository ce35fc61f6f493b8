"""What becomes of a change that waits once its target, or one like it, has changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from core.domain.errors import Decided, Stale
from core.domain.messages import Message
from core.domain.models import (
    Change,
    ChangeRequest,
    ChangeStatus,
    Edited,
    Kind,
    KindRequest,
    MemoryRequest,
    MergeMode,
    Operation,
    RuleRequest,
    SkillRequest,
)
from tests.support.all_kinds import (
    POEM,
    Everything,
    note,
    poem,
    skill,
    table,
)
from tests.support.seeding import AT
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
    # Once others have said just that, in whatever form, nothing is left of it.
    await world.learn(note(f"{FOURTEEN}.", "m"))
    assert (await world.again(again)).status is ChangeStatus.REJECTED
    other = await world.hold(note(THIRTY, "m"))
    await world.learn(note(THIRTY, "m"))
    assert (await world.again(other)).status is ChangeStatus.REJECTED


LATER = AT + timedelta(days=9_000)


@pytest.mark.parametrize(
    ("mine", "theirs", "mine_ends", "theirs_end", "ends"),
    [
        # What takes the place of a memory says how long it holds; what is added does not.
        (THIRTY, FOURTEEN, None, LATER, None),
        (THIRTY, FOURTEEN, LATER, None, LATER),
        (f"{PLANTS} now", PLANTS, None, LATER, LATER),
        (f"{PLANTS} now", PLANTS, LATER, None, LATER),
    ],
)
async def test_how_long_a_memory_holds_is_said_by_what_overrides_it(
    mine: str,
    theirs: str,
    mine_ends: datetime | None,
    theirs_end: datetime | None,
    ends: datetime | None,
) -> None:
    world = Everything()
    waits = await world.hold(note(mine, valid_until=mine_ends))
    await world.learn(note(theirs, valid_until=theirs_end))
    again = await world.again(waits)
    assert again.operation is UPDATE
    assert again.after is not None
    assert again.after.reach.valid_until == ends


async def test_the_id_that_was_asked_for_decides_whatever_else_is_near() -> None:
    world = Everything()
    waits = await world.hold(note(THIRTY, target_id="due", operation=CREATE))
    await world.learn(note(PLANTS, target_id="due", operation=CREATE))
    await world.learn(note(FOURTEEN))
    again = await world.again(waits)
    assert (again.target_id, again.merge_mode) == ("due", "EXTEND")
    assert said_after(again) == f"{PLANTS}\n{THIRTY}"


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


async def test_what_others_have_said_meanwhile_may_still_be_edited() -> None:
    world = Everything()
    await world.learn(note(FOURTEEN, target_id="m", operation=CREATE))
    waits = await world.hold(note(THIRTY, "m"))
    await world.learn(note(THIRTY, "m"))
    edited = await world.gate.decisions.edit(waits.id, Edited(content=MANY), by="kim")
    assert (edited.status, said_after(edited)) == (ChangeStatus.HELD, MANY)


async def test_who_approves_what_others_have_said_is_told_that_it_has_ended() -> None:
    world = Everything()
    await world.learn(note(FOURTEEN, target_id="m", operation=CREATE))
    waits = await world.hold(note(THIRTY, "m"))
    await world.learn(note(THIRTY, "m"))
    with pytest.raises(Stale) as raised:
        await world.gate.decisions.approve(waits.id, by="kim")
    assert raised.value.message == Message("review.ended_meanwhile", name=waits.target_name)
    assert (await world.log.get(waits.id)).status is ChangeStatus.REJECTED


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

"""Of a change that comes late: whether all of it stands, a part, or nothing, and beside what."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import cast

import pytest

from core.changes.gate.drafts import repeated
from core.changes.said_order.settle import GONE, Settled, named, repeated_parts, settle
from core.domain.hashing import memory_name, state_hash
from core.domain.models import (
    Change,
    Kind,
    LaterWord,
    MemoryRequest,
    MergeMode,
    Operation,
    Origin,
    Reach,
    Relationship,
    RowEdit,
    RuleDraft,
    RuleRequest,
    Scope,
    SkillRequest,
    Snapshot,
)
from core.domain.ports import ChangeLog, Steps
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from tests.support.react import item_change
from tests.support.seeding import AT
from tests.unit.test_said_order_tables import BASE, rows_of, table

CREATE, UPDATE, DELETE = Operation.CREATE, Operation.UPDATE, Operation.DELETE
HOUR = timedelta(hours=1)


def state(content: str | None, reach: Reach | None = None) -> Snapshot | None:
    if content is None:
        return None
    return Snapshot(content=content, name=memory_name(content), reach=reach or Reach())


def change(
    before: str | None, after: str | None, kind: Kind = Kind.MEMORY, number: int = 0, **more: object
) -> Change:
    operation = CREATE if before is None else DELETE if after is None else UPDATE
    given: dict[str, object] = {
        "id": f"c{number}", "before": state(before), "after": state(after), "origin": Origin.AGENT,
        "operation": operation, "said_at": AT + number * HOUR, "heard_at": AT,
    }  # fmt: skip
    return item_change(kind, "m", "the name", "x").model_copy(update=given | more)


def word(number: int, target: str = "m", **more: object) -> LaterWord:
    at = AT + number * HOUR
    given = {"change_id": f"c{number}", "feedback_id": f"f{number}", "target_id": target}
    return LaterWord.model_validate({**given, "said_at": at, "heard_at": at, **more})


class Chain:
    """The steps that made a target what it is."""

    def __init__(self, *steps: Change) -> None:
        self._steps = steps

    async def chain(self, kind: Kind, tenant_id: str, target_id: str) -> Sequence[Change]:
        del kind, tenant_id, target_id
        return self._steps


async def settled(made: Change, words: Sequence[LaterWord], *steps: Change) -> Settled:
    log = cast("ChangeLog", MemoryChangeLog(MemoryKnowledge()))
    return await settle(made, {}, words, cast("Steps", Chain(*steps)), log)


FIRST = change(None, "a\nb", number=1)


async def test_without_a_later_word_all_of_it_stands() -> None:
    made = change("a\nb", "a\nc")
    found = await settled(made, [])
    assert found == Settled(made, {})
    elsewhere = await settled(made, [word(9, "other")])
    assert elsewhere == Settled(made, {})


async def test_what_was_made_later_is_not_created_again() -> None:
    made = change(None, "a")
    found = await settled(made, [word(8), word(9)])
    assert (found.is_whole, found.overtaken_by) == (True, word(9))


@pytest.mark.parametrize(
    ("steps", "made", "result", "left"),
    [
        # c9 was said later than the change, c1 before.
        (
            [FIRST, change("a\nb", "a\nb\nc", number=9)], change("a\nb\nc", "a\nB\nc"),
            "a\nB\nc", False,
        ),
        ([FIRST, change("a\nb", "a\nB", number=9)], change("a\nB", "a\nx"), None, False),
        (
            [FIRST, change("a\nb", "a\nB", number=9)], change("a\nB", "a\nB\nc"), "a\nB\nc", False,
        ),
        (
            [FIRST, change("a\nb", "a\nB", number=9)], change("a\nB", "A\nx\nc"), None, False,
        ),
        ([FIRST, change("a\nb", "a\nb\nc", number=9)], change("a\nb\nc", None), "c", False),
        ([change(None, "a", number=9)], change("a", None), None, False),
        ([change(None, "a", number=9)], change("a", "a\nc"), "c\na", False),
        (
            [change(None, "a", number=1), change("a", "B", number=9)], change("B", "B\nc"),
            "B\nc", False,
        ),
        (
            [FIRST, change("a\nb", "a\nB", number=9)], change("a\nB", "A\nB\nc"), "a\nB\nc", True,
        ),
    ],
)  # fmt: skip
async def test_of_an_edit_stands_what_no_later_word_has_set(
    steps: Sequence[Change], made: Change, result: str | None, left: bool
) -> None:
    found = await settled(made, [word(9)], *steps)
    assert found.is_whole is (result is None)
    if result is None:
        assert (found.overtaken_by, found.change) == (word(9), made)
        return
    assert found.change.after is not None
    assert found.change.after.content == result
    assert bool(found.change.warnings) is left
    is_as_asked = made.after is not None and made.after.content == result
    assert (found.change == made) is is_as_asked
    if not is_as_asked:
        assert (found.change.operation, found.overtaken_by) == (UPDATE, word(9))
        assert found.change.content_hash != made.content_hash


async def test_a_memory_goes_if_nothing_said_later_is_left_in_it() -> None:
    added = change("a\nb", "a\nb\nc", number=9)
    taken_off = change("a\nb\nc", "a\nb", number=10, origin=Origin.PERSON)
    made = change("a\nb", None)
    assert await settled(made, [word(9)], FIRST, added, taken_off) == Settled(made, {})


async def test_what_was_said_again_later_is_added_to_but_not_rewritten() -> None:
    again = word(9, change_id=None)
    rewritten = await settled(change("a\nb", "a\nB"), [again], FIRST)
    assert (rewritten.is_whole, rewritten.overtaken_by) == (True, again)
    added = change("a\nb", "a\nb\nc")
    assert await settled(added, [again], FIRST) == Settled(added, {})


async def test_a_later_deletion_or_another_whole_stands() -> None:
    made = change("a\nb", "a\nb\nc")
    gone = change("a\nb", None, number=9)
    back = change(None, "a\nb", number=10, origin=Origin.PERSON)
    whole = await settled(made, [word(9)], FIRST, gone, back)
    assert whole.is_whole


@pytest.mark.parametrize(
    ("relationship", "was", "made", "result"),
    [
        (Relationship.EXTENDS, "Parking is free", "Guests use the east gate", True),
        (Relationship.COMPLEMENTS, "Parking is free", "Guests use the east gate", True),
        (None, "Parking is free", "Guests use the east gate", False),
        (Relationship.SUPERSEDES, "Parking is free", "Guests use the east gate", False),
        (Relationship.EXTENDS, "주차는 지하 2층에 합니다", "주차는 지하 1층에 합니다", False),
    ],
)
async def test_an_earlier_whole_stands_before_what_was_added_later(
    relationship: Relationship | None, was: str, made: str, result: bool
) -> None:
    """Whatever came to the later one meanwhile; not where the two contradict."""
    first = change(None, was, number=8, relationship=relationship)
    added = change(was, f"{was}\nmore", number=9)
    words = [word(8), word(9)]
    found = await settled(change(f"{was}\nmore", made), words, first, added)
    assert found.is_whole is not result
    if result:
        assert found.change.after is not None
        assert found.change.after.content == f"{made}\n{was}\nmore"
        assert (found.change.warnings, found.overtaken_by) == ((), word(9))


async def test_what_a_later_whole_put_itself_in_the_place_of_is_not_added_to_it() -> None:
    first = change(None, "a", number=9, relationship=Relationship.SUPERSEDES)
    found = await settled(change("a", "a\nb"), [word(9)], first)
    assert (found.is_whole, found.overtaken_by) == (True, word(9))


OTHER = {"gone": Snapshot(content="Refunds are paid within 3 days", name="Refunds")}


@pytest.mark.parametrize(
    ("kind", "after", "more", "is_gone"),
    [
        (Kind.MEMORY, "Refunds are paid within 3 days", {}, True),
        (Kind.MEMORY, "Refunds are paid within 5 days", {}, True),
        (Kind.MEMORY, "Ms. Kim wants amounts in KRW", {}, False),
        (
            Kind.MEMORY, "Refunds are paid within 5 days",
            {"relationship": Relationship.UNRELATED}, False,
        ),
        (
            Kind.MEMORY, "Refunds are paid within 3 days",
            {"relationship": Relationship.UNRELATED}, True,
        ),
        (Kind.MEMORY, None, {}, False),
        (Kind.DMN_RULE, "<x/>", {"target_name": "REFUNDS"}, True),
        (Kind.DMN_RULE, "<x/>", {"target_name": "Orders"}, False),
    ],
)  # fmt: skip
async def test_what_was_done_away_with_later_elsewhere_does_not_come_back(
    kind: Kind, after: str | None, more: dict[str, object], is_gone: bool
) -> None:
    made = change(None, after, kind, 0, operation=CREATE, **more)
    found = await settled(made, [word(8, "other", **OTHER), word(9, "other", gone=None)])
    assert found.is_whole is is_gone
    assert found.overtaken_by == (word(8, "other", **OTHER) if is_gone else None)


@pytest.mark.parametrize(
    ("text", "is_undoing", "is_gone"),
    [
        ("Refunds are paid within 5 days", False, True),
        ("Refunds are paid within 5 days", True, False),
        ("Refunds are paid within 3 days", True, True),
    ],
)
@pytest.mark.parametrize("before", [None, "Orders go out on Mondays"])
async def test_what_was_taken_back_later_says_nothing_of_what_is_near(
    before: str | None, text: str, is_undoing: bool, is_gone: bool
) -> None:
    made = change(before, text if before is None else f"{before}\n{text}")
    taken = word(8, "other", **OTHER, is_undoing=is_undoing)
    found = await settled(made, [taken])
    assert (found.is_whole, found.overtaken_by) == (is_gone, taken if is_gone else None)


@pytest.mark.parametrize(
    ("before", "after", "later", "result", "left"),
    [
        # The list was `a b` when something said later put `c` on it, or took `b` off.
        ("a\nb\nc", "a\nb\nc\nd", ("a\nb", "a\nb\nc"), "a\nb\nc\nd", ""),
        ("a\nb\nc", "a\nb", ("a\nb", "a\nb\nc"), None, ""),
        ("a\nb\nc", "a\nd", ("a\nb", "a\nb\nc"), "a\nc\nd", "c"),
        ("a", "a\nb\nd", ("a\nb", "a"), "a\nd", "b"),
    ],
)
async def test_names_that_were_set_later_stay_on_a_list_or_off_it(
    before: str, after: str, later: tuple[str, str], result: str | None, left: str
) -> None:
    kind = Kind.AGENT_SKILLS
    step = change(*later, kind, 9)
    found = await settled(change(before, after, kind), [word(9)], step)
    assert found.is_whole is (result is None)
    if result is not None:
        assert found.change.after is not None
        assert found.change.after.content == result
        assert [left in said for said in found.change.warnings] == ([True] if left else [])


async def test_a_skill_that_was_taken_off_later_takes_no_other_name_along() -> None:
    """Its deletion was asked for, and others list it too: it is a change of the list."""
    asked = SkillRequest(operation=DELETE, target_id="b")
    off = change("a\nb", "a", Kind.AGENT_SKILLS, 9, request=asked)
    made = change("a", "a\nc", Kind.AGENT_SKILLS)
    first = change(None, "a\nb", Kind.AGENT_SKILLS, 1)
    found = await settled(made, [word(9)], first, off)
    assert found.is_whole is False
    assert found.change.after is not None
    assert found.change.after.content == "a\nc"


async def test_reach_is_set_by_whoever_said_it_last() -> None:
    tenant, user = Reach(scope=Scope.TENANT), Reach(scope=Scope.USER, user="kim")
    was, now = state("a"), state("a", reach=tenant)
    sets = change("a", "a", number=9).model_copy(update={"before": was, "after": now})
    says = change("a", "a\nb", number=9)
    late = change("a", "a\nc").model_copy(
        update={"before": now, "after": state("a\nc", reach=user)}
    )
    first = change(None, "a", number=1)
    kept = await settled(late, [word(9)], first, sets)
    assert kept.change.after is not None
    assert (kept.change.after.content, kept.change.after.reach) == ("a\nc", tenant)
    more = {"before": state("a\nb"), "after": state("a\nb\nc", reach=user)}
    set_late = await settled(late.model_copy(update=more), [word(9)], first, says)
    assert set_late.change.after is not None
    assert set_late.change.after.reach == user


RULE = Kind.DMN_RULE
SET = {**BASE, "r1": ("> 100", '"director"', "3")}
ONE = {"r1": BASE["r1"]}
WANTED = {"r1": ("> 100", '"boss"', "3"), "r2": ("<= 100", '"clerk"', "2")}
LEARNT = change(None, table(BASE), RULE, 1)
SET_LATER = change(table(BASE), table(SET), RULE, 9)
NAMED_LATER = change(table(BASE, "other"), table(BASE), RULE, 9)
SAID_AGAIN = word(9, change_id=None, units=(("cell", "r1", "out who"),))


@pytest.mark.parametrize(("steps", "says"), [((SET_LATER,), word(9)), ((), SAID_AGAIN)])
async def test_of_an_edit_of_a_table_what_was_said_later_is_left(
    steps: Sequence[Change], says: LaterWord
) -> None:
    made = change(table(SET), table(WANTED, "renamed"), RULE)
    found = await settled(made, [says], LEARNT, *steps)
    assert found.change.after is not None
    assert rows_of(found.change.after.content) == {**WANTED, "r1": SET["r1"]}
    assert found.change.after.name == found.change.target_name == "renamed"
    assert ["about r1" in warning for warning in found.change.warnings] == [True]


@pytest.mark.parametrize(
    ("says", "of_later"), [(state_hash(state(table(ONE))), "clerk"), ("unknown", "boss")]
)
async def test_what_was_repeated_as_a_whole_holds_no_rows_of_after_it(
    says: str, of_later: str
) -> None:
    grown = {**ONE, "r2": ("<= 100", '"boss"', "2")}
    first = change(None, table(ONE), RULE, -2)
    added = change(table(ONE), table(grown), RULE, -1)
    made = change(table(grown), table({**grown, "r2": ("<= 100", '"clerk"', "2")}), RULE)
    found = await settled(made, [word(9, change_id=None, says=says)], first, added)
    assert found.change.after is not None
    assert rows_of(found.change.after.content)["r2"][1] == f'"{of_later}"'


DELETED = RuleRequest(operation=DELETE, target_id="m")
DELETED_IN_PART = change(table(BASE), table(ONE), RULE, 9, request=DELETED)
OVERTAKEN = word(9, change_id=None, units=(GONE,))


@pytest.mark.parametrize(("steps", "says"), [((DELETED_IN_PART,), word(9)), ((), OVERTAKEN)])
async def test_what_was_said_before_a_deletion_is_gone_though_rows_are_left(
    steps: Sequence[Change], says: LaterWord
) -> None:
    made = change(table(ONE), table({**ONE, "r2": WANTED["r2"]}), RULE)
    assert (await settled(made, [says], LEARNT, *steps)).is_whole


async def test_of_a_deleted_table_stay_the_rows_that_were_set_later() -> None:
    kept = await settled(change(table(SET), None, RULE), [word(9)], LEARNT, SET_LATER)
    assert kept.change.after is not None
    assert rows_of(kept.change.after.content) == {"r1": SET["r1"]}
    made = change(table(BASE), None, RULE)
    assert await settled(made, [word(9)], LEARNT, NAMED_LATER) == Settled(made, {})


async def test_an_edit_of_rows_stands_whole_beside_a_later_name() -> None:
    made = change(table(BASE), table({**BASE, "r2": WANTED["r2"]}), RULE)
    found = await settled(made, [word(9)], LEARNT, NAMED_LATER)
    assert found.change.after is not None
    assert rows_of(found.change.after.content) == {**BASE, "r2": WANTED["r2"]}
    assert (found.is_whole, found.change.warnings) == (False, ())


async def test_a_table_that_cannot_be_read_stays_as_it_is() -> None:
    made = change("<broken", table(BASE), RULE)
    assert (await settled(made, [word(9)], LEARNT, SET_LATER)).is_whole


async def test_what_is_left_of_a_deleted_memory_is_named_by_its_text() -> None:
    later = change("a\nb", "a\nb\nc", number=9)
    found = await settled(change("a\nb\nc", None), [word(9)], FIRST, later)
    assert found.change.target_name == memory_name("c")


def test_a_later_word_is_named_by_its_piece_or_its_change() -> None:
    assert named(word(3)) == {"feedback": "f3", "said_at": "2026-01-05 12:00"}
    assert named(word(3, feedback_id=None))["feedback"] == "c3"
    assert named(word(3, feedback_id=None, change_id=None))["feedback"] == ""


def test_only_of_tables_the_parts_that_are_repeated_are_told() -> None:
    asked = MemoryRequest(operation=UPDATE, target_id="m", content="x", reason="r")
    assert repeated_parts(change("a", "b", request=asked)) == ()
    assert repeated_parts(change("a", "b", Kind.DMN_RULE)) == ()


def test_who_replaces_all_by_what_is_there_leaves_nothing_of_before() -> None:
    asked = MemoryRequest(operation=UPDATE, target_id="m", content="x", reason="r")
    made = change("x", "x", request=asked, feedback_id="f")
    assert repeated(made) == ()
    mode = {"merge_mode": MergeMode.REPLACE}
    replaced = made.model_copy(update=mode | {"request": asked.model_copy(update=mode)})
    assert repeated(replaced) == [GONE]


R1 = RowEdit(inputs={"amount": "> 100"}, outputs={"who": '"lead"'})
R1_PARTS = [("cell", "r1", "in amount"), ("cell", "r1", "out who")]


@pytest.mark.parametrize(
    ("asked", "rows", "parts", "is_all"),
    [
        ({"rule": RuleDraft(rows=(R1,))}, ONE, R1_PARTS, True),
        ({"rule": RuleDraft(rows=(R1,))}, {**ONE, "r2": WANTED["r2"]}, R1_PARTS, False),
        ({"document": table(ONE)}, {**ONE, "r2": WANTED["r2"]}, [], True),
    ],
    ids=["all its rows", "one of two rows", "a document"],
)
@pytest.mark.parametrize("operation", [CREATE, UPDATE])
def test_a_table_is_repeated_as_a_whole_by_who_creates_all_its_rows(
    asked: dict[str, object],
    rows: dict[str, tuple[str, str, str]],
    parts: object,
    is_all: bool,
    operation: Operation,
) -> None:
    target = None if operation is CREATE else "m"
    request = RuleRequest.model_validate(
        {"operation": operation, "target_id": target, "reason": "r", **asked}
    )
    made = change(table(rows), table(rows), RULE, request=request, feedback_id="f")
    assert repeated_parts(made) == parts
    assert repeated(made) == (None if is_all and operation is CREATE else parts)

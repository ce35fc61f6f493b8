"""Each cell alone is read as it is evaluated, and a test that is null stays null."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.decision_table import check_table
from core.decision_table.checks.boxes import Space
from core.decision_table.checks.lines import lines_of
from core.decision_table.checks.reading import (
    Opaque,
    Reader,
    Truth,
    Unreadable,
    always,
    any_item,
    both,
    compared,
    either,
)
from core.decision_table.checks.segments import (
    EVERYTHING,
    LOWEST,
    Spans,
    before,
    bits,
    run,
    union,
)
from core.decision_table.feel import parse_tests, to_json
from core.domain.models import DefectKind, InputColumn
from tests.support.table_cells import ALLOWED, CELLS, matching, table

MORE = {
    "number": (
        "? > 1 and true", "? > 1 and false", "? > 5 or 1 = 1", "? > 5 or 1 = 2", "? > 1 and null",
        "? > 1 or null", "not(? > 1 or null)", "not(? > 1 and ? < 5)", "not(? > 1 or ? = 0)",
        "2 = ?", "2 != ?", "2 < ?", "2 <= ?", "2 > ?", "2 >= ?", "? in [1..5]", "? in (<= 2)",
        "? in 2", "? in ([1, 5])", "? in (1, [2..5))", "not(? in (1, 2))", "? between 2 and 5",
        "not(? between 2 and 5)", "? = null", "null = ?", "[[1, 2], 5]", "[[1, 2]]",
        "not([[1, 2]])", "[]", "[null, 2]",
        "[1..2], (5..6]", "not([])", "not(< 2)", "? != 2 and ? != 5", "not(not(? = 2))",
    ),
    "boolean": ("? = true", "not(?)", "? and true", "? or ? = null", "1 = 1", "? != true"),
    "string": ('? in ("a", "c")', 'not(? < "b")', '"b" > ?', "[]", '["a", "b"]'),
    "time": ('? = @"09:00:00"', 'not(? between @"08:00:00" and @"10:00:00")'),
    "Any": ("? = 2", '? in (2, "a")', "not(? > 2)", "[true, 2]", "not(? = null)", "not(true)"),
}  # fmt: skip


def columns() -> Iterator[tuple[str, str]]:
    for kind, allowed in ALLOWED.items():
        for values in allowed:
            yield kind, values


@pytest.mark.parametrize(("kind", "allowed"), [*columns()])
def test_a_cell_holds_for_the_values_for_which_it_is_evaluated_to_hold(
    kind: str, allowed: str
) -> None:
    column = InputColumn(name="x", type=kind, allowed=allowed)
    for text in (*CELLS[kind], *MORE.get(kind, ())):
        made = table([column], [[text]])
        space = Space(made)
        (read,), (box,) = space.columns, space.boxes
        assert not box.cells[0].why, text
        held = set(bits(box.cells[0].must))
        for number, segment in enumerate(read.domain.segments):
            holds = bool(matching(made, {"x": to_json(segment.pick.value)}))
            assert holds is (number in held), (text, segment.pick.value)


def test_cells_together_are_cut_wherever_one_of_them_turns() -> None:
    for kind, texts in CELLS.items():
        rows = [[text] for text in (*texts, *MORE.get(kind, ())) if kind != "Any" or "2" in text]
        made = table([InputColumn(name="x", type=kind)], rows)
        space = Space(made)
        for number, segment in enumerate(space.columns[0].domain.segments):
            case = {"x": to_json(segment.pick.value)}
            held = [box.row.id for box in space.boxes if box.must[0] >> number & 1]
            assert matching(made, case) == held, case


LINES = ("a", "b")
KEYS = range(4)
Known = Mapping[tuple[str, int], bool | None]


def truth_of(known: Known) -> Truth:
    """Return a truth that is null where nothing is known."""

    def where(kept: set[bool | None], line: str) -> Spans:
        runs = [run(before(k), before(k + 1)) for k in KEYS if known.get((line, k)) in kept]
        return union(runs)

    named = {line for line, _ in known}
    yes = {line: where({True}, line) for line in named}
    if all(known.get((line, k)) is not None for line in named for k in KEYS):
        return Truth(yes, yes)
    return Truth(yes, {line: where({True, None}, line) for line in named})


def value(truth: Truth, line: str, key: int) -> bool | None:
    def holds(spans: Spans) -> bool:
        return any(low <= before(key) < high for low, high in spans)

    if holds(truth.yes.get(line, ())):
        return True
    return None if line not in truth.open or holds(truth.open[line]) else False


KNOWN = st.lists(st.sampled_from(LINES), max_size=2, unique=True).flatmap(
    lambda lines: (
        st.fixed_dictionaries(
            {(line, key): st.sampled_from((True, False, None)) for line in lines for key in KEYS}
        )
        | st.fixed_dictionaries({(line, key): st.booleans() for line in lines for key in KEYS})
    )
)


@given(st.lists(KNOWN, min_size=1, max_size=3))
def test_tests_are_joined_as_three_valued_logic_joins_them(parts: list[Known]) -> None:
    truths = [truth_of(part) for part in parts]
    for line in LINES:
        for key in KEYS:
            values = [part.get((line, key)) for part in parts]
            assert [value(truth, line, key) for truth in truths] == values
            negated = [None if one is None else not one for one in values]
            assert [value(truth.negated(), line, key) for truth in truths] == negated
            some = True if True in values else None if None in values else False
            assert value(either(truths), line, key) is some
            every = False if False in values else None if None in values else True
            assert value(both(truths), line, key) is every
    for whole in (either(truths), both(truths), *truths):
        if whole.decided:
            assert None not in {value(whole, line, key) for line in whole.yes for key in KEYS}


def test_an_item_of_a_list_is_null_only_where_nothing_compares() -> None:
    one = truth_of({("a", key): key == 1 for key in KEYS})
    other = Truth({"b": run(before(2), before(3))}, {"b": EVERYTHING})
    found = any_item([one, other], LINES)
    assert [value(found, "a", key) for key in KEYS] == [False, True, False, False]
    assert [value(found, "b", key) for key in KEYS] == [False, False, True, False]
    assert value(found, "c", 0) is None
    assert found.decided
    assert value(any_item([], LINES), "a", 0) is False
    assert value(any_item([Truth({}, {})], LINES), "a", 0) is None


def test_null_is_equal_to_no_value_and_truths_have_no_order() -> None:
    assert compared("=", None, LINES) == always(LINES, holds=False)
    assert compared("!=", None, LINES) == always(LINES)
    assert always(LINES).yes == dict.fromkeys(LINES, EVERYTHING)
    nothing = Truth({}, {})
    assert compared("<", None, LINES) == compared("<", True, ("boolean",)) == nothing
    assert compared("=", "a", ("boolean",)) == nothing
    (point,) = compared("=", True, ("boolean",)).yes["boolean"]
    assert point == (before(1), (0, 1, 1))
    below, above = compared("!=", True, ("boolean",)).yes["boolean"]
    assert (below[0], below[1], above[0]) == (LOWEST, before(1), (0, 1, 1))


OPAQUE = [
    ("number", "? > other", "other", False),
    ("number", "other", "other", False),
    ("number", "abs(?) > 2", "", True),
    ("number", "? + 1 = 3", "", True),
    ("number", "3 = ? + 1", "", True),
    ("number", "? + 1 between 2 and 3", "", True),
    ("number", "? + 1 in (2, 3)", "", True),
    ("number", "if ? > 2 then true else false", "", True),
    ("date", "< today()", "", False),
    ("date", '? < today() - duration("P1D")', "", False),
    ("string", "string length(?) > 2", "", True),
    ("number", "? = [1, 2]", "list", False),
]
UNREADABLE = [
    ("number", '"a"'),
    ("number", "true"),
    ("number", '< "a"'),
    ("number", '? = "a"'),
    ("number", '[1, "a"]'),
    ("number", '["a".."b"]'),
    ("number", '? in ("a")'),
    ("number", "1 = 1"),
    ("number", "not(1 = 2)"),
    ("string", "2"),
    ("date", '@"09:00:00"'),
    ("boolean", "1"),
    ("number", "1 / 0"),
]


@pytest.mark.parametrize(("kind", "text", "name", "pointwise"), OPAQUE)
def test_what_a_cell_computes_is_not_guessed(
    kind: str, text: str, name: str, pointwise: bool
) -> None:
    with pytest.raises(Opaque) as raised:
        Reader(kind, lines_of(kind)).read(parse_tests(text, ("other",)))
    assert raised.value.pointwise is pointwise
    assert name in str(raised.value)


@pytest.mark.parametrize(("kind", "text"), UNREADABLE)
def test_what_an_input_can_never_be_is_told(kind: str, text: str) -> None:
    with pytest.raises(Unreadable):
        Reader(kind, lines_of(kind)).read(parse_tests(text))


def test_a_cell_that_computes_is_tried_value_by_value_where_each_is_known() -> None:
    truths = table(
        [InputColumn(name="x", type="boolean")], [["? = not(?)"], ["not(?) = false"], ["true"]]
    )
    space = Space(truths)
    assert [box.cells[0].why for box in space.boxes] == ["", "", ""]
    assert [sorted(bits(box.must[0])) for box in space.boxes] == [[2], [1], [1]]  # null = not(null)
    allowed = InputColumn(name="x", type="number", allowed="1, 2, 3, null")
    odd = Space(table([allowed], [["modulo(?, 2) = 1"]]))
    held = [odd.columns[0].domain.segments[at].pick.value for at in bits(odd.boxes[0].must[0])]
    assert [str(each) for each in held] == ["1", "3"]
    free = Space(table([allowed.model_copy(update={"allowed": "[1..3]"})], [["modulo(?, 2) = 1"]]))
    assert free.boxes[0].cells[0].why
    assert free.boxes[0].must == (0,)
    whole = free.columns[0].domain.everything
    assert free.boxes[0].may == (whole,)


def test_an_input_whose_values_cannot_be_told_holds_for_none_but_a_dash() -> None:
    for column, kind in (
        (InputColumn(name="x", type="number", allowed="abs(?) > 1"), DefectKind.NOT_CHECKED),
        (InputColumn(name="x", type="number", allowed='"a"'), DefectKind.UNREADABLE),
        (InputColumn(name="x", type="number", allowed="1 +"), DefectKind.UNREADABLE),
        (InputColumn(name="x", type="list<number>"), DefectKind.NOT_CHECKED),
    ):
        made = table([column], [["-"], ["null"]])
        (read,), boxes = Space(made).columns, Space(made).boxes
        assert [box.must for box in boxes] == [(read.domain.everything,), (0,)]
        assert [bool(box.cells[0].why) for box in boxes] == [False, True]
        assert kind in {each.kind for each in check_table(made)}

"""Which rows a finding names, and the case that shows it."""

from __future__ import annotations

import pytest

from core.decision_table.checks.check import check_table, witness
from core.domain.models import (
    DecisionRow,
    DecisionTable,
    DefectKind,
    HitPolicy,
    InputColumn,
    OutputColumn,
    Severity,
)
from tests.support.table_cells import table as table_of


def table(policy: HitPolicy, *rows: tuple[str, str]) -> DecisionTable:
    return DecisionTable(
        name="approval",
        hit_policy=policy,
        inputs=(InputColumn(name="amount", type="number"),),
        outputs=(OutputColumn(name="approver"),),
        rows=tuple(
            DecisionRow(id=f"r{n}", inputs=(test,), outputs=(out,) if out else ())
            for n, (test, out) in enumerate(rows, start=1)
        ),
    )


def found(made: DecisionTable) -> list[tuple[tuple[str, ...], str]]:
    return [(finding.rows, str(finding.message)) for finding in check_table(made)]


def test_under_any_two_rows_that_disagree_are_named_with_a_case() -> None:
    made = table(HitPolicy.ANY, ("> 100", '"a"'), ("> 50", '"b"'))
    rows, said = next(each for each in found(made) if "both match" in each[1])
    assert rows == ("r1", "r2")
    assert said.startswith("rows 'r1' and 'r2' both match where amount = 101, and")


def test_a_row_of_another_number_of_cells_is_named_with_both_numbers() -> None:
    made = table(HitPolicy.UNIQUE, ("> 100", '"a"'), ("<= 100", ""))
    assert (
        ("r2",),
        "row 'r2' has 1 input and 0 output entries for 1 input and 1 output columns",
    ) in found(made)


def test_an_output_left_empty_is_checked_like_a_constant() -> None:
    made = table(HitPolicy.UNIQUE, ("> 100", '"a"'), ("<= 100", ""))
    rows = tuple(row.model_copy(update={"outputs": row.outputs or ("",)}) for row in made.rows)
    outputs = (OutputColumn(name="approver", allowed='"a", "b"'),)
    whole = made.model_copy(update={"rows": rows, "outputs": outputs})
    assert [said for _, said in found(whole)] == []


def test_a_row_without_its_output_is_compared_with_no_other() -> None:
    made = table(HitPolicy.ANY, ("> 100", '"a"'), ("> 50", ""))
    assert not [said for _, said in found(made) if "both match" in said]


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        ("<= 2", ">= 3", "2.5"),
        ("<= 2", ">= 9", "3"),
        ("< 2", "> 2", "2"),
        ("<= 2", "[3..9]", "2.5"),
        ("<= 1", "[3..5)", "5"),
    ],
)
def test_the_value_of_a_gap_is_one_that_people_can_read(low: str, high: str, said: str) -> None:
    first, *_ = found(table(HitPolicy.UNIQUE, (low, '"a"'), (high, '"b"')))
    assert first == ((), f"no row matches where amount = {said}")


@pytest.mark.parametrize(
    ("test", "said"), [(">= 2.5", "2"), ("> 2.5", "2.5"), ("<= 9.5", "10"), ("not(0)", "0")]
)
def test_the_value_beyond_the_rows_is_the_next_whole_number(test: str, said: str) -> None:
    assert found(table(HitPolicy.UNIQUE, (test, '"a"'))) == [
        ((), f"no row matches where amount = {said}")
    ]


def test_a_number_that_does_not_matter_is_shown_as_nought() -> None:
    columns = [InputColumn(name=name, type="number") for name in ("amount", "days")]
    (gap,) = check_table(table_of(columns, [["-", ">= 5"]]))
    assert gap.example == {"amount": 0, "days": 4}


def test_values_that_a_row_only_excludes_are_values_of_its_input() -> None:
    untyped = InputColumn(name="amount", type="Any")
    made = table(HitPolicy.UNIQUE, ("<= 3", '"a"'), ("> 3", '"b"'), ('not(< 5, "x")', '"c"'))
    said = [said for _, said in found(made.model_copy(update={"inputs": (untyped,)}))]
    assert [text for text in said if text.startswith('no row matches where amount = "')]


def test_what_a_row_may_be_in_is_read_one_by_one() -> None:
    rows = (("? in (< 3)", '"a"'), ("? in [3..5)", '"b"'), ("? in (5, > 5)", '"c"'))
    made = table(HitPolicy.UNIQUE, *rows)
    assert found(made) == []
    with_gap = table(HitPolicy.UNIQUE, ("? in (< 3)", '"a"'), ("? in (> 3)", '"c"'))
    assert [said for _, said in found(with_gap)] == ["no row matches where amount = 3"]


def test_a_row_that_counts_for_null_alone_is_named_with_those_before_it() -> None:
    made = table(HitPolicy.FIRST, ("<= 100", '"a"'), ("> 100", '"b"'), ("-", '"c"'))
    (finding,) = check_table(made)
    assert (finding.kind, finding.severity) == (DefectKind.SUBSUMED_ROW, Severity.WARNING)
    assert (finding.rows, finding.example) == (("r3", "r1", "r2"), {"amount": None})


def test_a_row_of_null_is_covered_by_all_that_it_takes() -> None:
    columns = [InputColumn(name=name, type="number") for name in ("amount", "days")]
    rows = [["null", "< 5"], ["null", ">= 5"], ["null", "-"]]
    made = table_of(columns, rows, policy=HitPolicy.FIRST)
    found = [each.rows for each in check_table(made) if each.kind is DefectKind.SUBSUMED_ROW]
    assert found == [("r3", "r1", "r2")]


def test_outputs_of_a_type_that_is_not_known_are_compared_all_the_same() -> None:
    made = table(HitPolicy.ANY, ("> 100", '"a"'), ("> 50", '"b"'))
    graded = OutputColumn(name="approver", type="tGrade")
    assert found(made.model_copy(update={"outputs": (graded,)})) == found(made)


@pytest.mark.parametrize(("first", "second"), [("[2..3]", "-"), ("-", "[2..3]")])
def test_of_two_rows_that_overlap_the_one_within_is_named(first: str, second: str) -> None:
    ((_, said),) = found(table(HitPolicy.UNIQUE, (first, '"a"'), (second, '"b"')))
    inner, outer = ("r1", "r2") if second == "-" else ("r2", "r1")
    assert said.endswith(f"row '{inner}' lies wholly within row '{outer}'")


def test_under_any_rows_that_agree_repeat_only_what_lies_within() -> None:
    assert found(table(HitPolicy.ANY, ("<= 100", '"a"'), (">= 50", '"a"'))) == []
    for rows, inner in (((">= 5", "-"), "r1"), (("-", ">= 5"), "r2")):
        made = table(HitPolicy.ANY, *((row, '"a"') for row in rows))
        assert [named for named, _ in found(made)] == [(inner, "r2" if inner == "r1" else "r1")]


def test_rows_that_may_match_as_well_are_named_one_or_several() -> None:
    open_row = ("modulo(?, 2) = 0", '"a"')
    (_, said), *_ = found(table(HitPolicy.UNIQUE, open_row, ("< 9", '"b"')))
    assert said.endswith("it may match a case together with row 'r2'")
    (_, said), *_ = found(table(HitPolicy.UNIQUE, open_row, ("< 9", '"b"'), ("> 9", '"c"')))
    assert said.endswith("it may match a case together with rows 'r2', 'r3'")


@pytest.mark.parametrize(("size", "shown"), [(78, "{}"), (79, "{}"), (80, "{}…")])
def test_a_value_of_more_than_eighty_characters_is_cut(size: int, shown: str) -> None:
    text = f'"{"x" * (size - 1)}"'
    made = table_of([InputColumn(name="code", type="string")], [[text], [text]])
    (_, said), *_ = found(made)
    assert f"where code = {shown.format(text[:80])}, and" in said


def test_a_text_before_all_others_is_a_word_where_one_fits() -> None:
    made = table_of([InputColumn(name="name", type="string")], [['>= "p"']])
    assert found(made) == [((), 'no row matches where name = "other"')]


def test_a_time_just_before_midnight_in_utc_is_told_in_a_zone_that_has_it() -> None:
    rows = [['>= time("00:00:00Z")'], ['< time("00:59:59.999999+01:00")']]
    made = table_of([InputColumn(name="at", type="time")], rows)
    assert found(made) == [((), "no row matches where at = 13:59:59.999999+14:00")]


def test_a_condition_that_computes_with_a_boolean_is_not_the_boolean() -> None:
    made = table_of(
        [InputColumn(name="paid", type="boolean")], [["if ? then false else true"], ["true"]]
    )
    assert found(made) == []


def test_a_case_of_a_row_fits_what_is_read_and_what_is_only_tried() -> None:
    columns = [InputColumn(name=name, type="number", allowed="1, 2, [3..9]") for name in ("n", "m")]
    made = table_of(columns, [["modulo(?, 7) = 3", "[4..5]"]])
    assert witness(made, "r1") == {"n": 3, "m": 4}


def test_moments_with_a_zone_are_not_compared_with_those_without() -> None:
    span = '[@"2024-03-01T00:00:00Z"..@"2024-03-02T00:00:00"]'
    made = table_of([InputColumn(name="at", type="date and time")], [[span]])
    ((_, said),) = found(made)
    assert said.endswith("its cells name moments with a time zone and without one")


@pytest.mark.parametrize(
    ("kind", "test", "why"),
    [
        ("date", "> today()", "it depends on the moment of the decision"),
        ("date", '< today() + duration("P1D")', "it depends on the moment of the decision"),
        ("number", "? * 2 > 7", "it computes with the input"),
        ("number", "modulo(?, 2) = 1", "it computes with the input"),
    ],
)
def test_a_condition_that_is_not_checked_says_why(kind: str, test: str, why: str) -> None:
    made = table(HitPolicy.UNIQUE, (test, '"a"'), (test, '"b"'))
    inputs = (InputColumn.model_validate({"name": "amount", "type": kind}),)
    found_in = found(made.model_copy(update={"inputs": inputs}))
    assert [rows for rows, _ in found_in] == [("r1",), ("r2",)]
    assert all(f"`{test}` was not checked: {why}" in said for _, said in found_in)

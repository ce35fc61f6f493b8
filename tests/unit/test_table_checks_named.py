"""Which rows a finding names, and the case that shows it."""

from __future__ import annotations

import pytest

from core.decision_table.checks.check import check_table
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

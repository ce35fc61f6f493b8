"""Each kind of defect is found in every table that has it, and in no other."""

from __future__ import annotations

import pytest

from core.decision_table import check_table
from core.domain.models import (
    Aggregation,
    DecisionRow,
    DecisionTable,
    Defect,
    DefectKind,
    HitPolicy,
    InputColumn,
    Severity,
)
from tests.support.table_cells import matching
from tests.support.table_cells import table as table_of
from tests.support.table_partitions import clean_table

# What the checks do differently: with rows, columns and types of columns.
SHAPES = [
    pytest.param(0, 2, 1, id="the smallest: two rows that share one input"),
    pytest.param(8, 25, 1, id="many rows along one input"),
    pytest.param(6, 4, 8, id="more inputs than rows: most cells say nothing"),
    pytest.param(7, 23, 7, id="large both ways: numbers, texts, dates and booleans"),
]
shapes = pytest.mark.parametrize(("seed", "rows", "columns"), SHAPES)
a_shape = pytest.mark.parametrize(("seed", "rows", "columns"), SHAPES[-1:])


def with_row(table: DecisionTable, row: DecisionRow) -> DecisionTable:
    return table.model_copy(update={"rows": (*table.rows, row)})


def copied(table: DecisionTable, place: int, output: str = "0") -> DecisionTable:
    row = table.rows[place].model_copy(update={"id": "new", "outputs": (output,)})
    return with_row(table, row)


def with_cell(table: DecisionTable, place: int, cell: str) -> DecisionTable:
    """Set the cell of a row in the numeric column."""
    column = [column.type for column in table.inputs].index("number")
    row = table.rows[place]
    cells = (*row.inputs[:column], cell, *row.inputs[column + 1 :])
    rows = list(table.rows)
    rows[place] = row.model_copy(update={"inputs": cells})
    return table.model_copy(update={"rows": tuple(rows)})


def with_output(table: DecisionTable, place: int, output: str) -> DecisionTable:
    rows = list(table.rows)
    rows[place] = rows[place].model_copy(update={"outputs": (output,)})
    return table.model_copy(update={"rows": tuple(rows)})


def errors(table: DecisionTable) -> list[tuple[DefectKind, tuple[str, ...]]]:
    found = check_table(table)
    return [(defect.kind, defect.rows) for defect in found if defect.severity is Severity.ERROR]


def the_one(table: DecisionTable) -> Defect:
    (defect,) = check_table(table)
    return defect


@shapes
@pytest.mark.parametrize("policy", HitPolicy)
def test_a_table_without_a_defect_has_no_finding(
    seed: int, rows: int, columns: int, policy: HitPolicy
) -> None:
    if policy is HitPolicy.OUTPUT_ORDER:
        table = clean_table(seed, rows, columns, HitPolicy.PRIORITY).table
        table = table.model_copy(update={"hit_policy": policy})
    else:
        table = clean_table(seed, rows, columns, policy).table
    assert check_table(table) == ()


@shapes
def test_a_row_that_meets_another_is_found_under_unique(seed: int, rows: int, columns: int) -> None:
    table = clean_table(seed, rows, columns).table
    place = seed % rows
    defect = the_one(copied(table, place))
    assert (defect.kind, defect.severity) == (DefectKind.OVERLAP, Severity.ERROR)
    assert defect.rows == (table.rows[place].id, "new")
    assert defect.example is not None
    assert matching(copied(table, place), defect.example) == list(defect.rows)
    for legal in (HitPolicy.COLLECT, HitPolicy.RULE_ORDER):
        assert check_table(copied(table, place).model_copy(update={"hit_policy": legal})) == ()


@shapes
def test_a_row_that_contradicts_another_is_found_under_any(
    seed: int, rows: int, columns: int
) -> None:
    table = clean_table(seed, rows, columns, HitPolicy.ANY).table
    place = seed % rows
    defect = the_one(copied(table, place))
    assert (defect.kind, defect.severity) == (DefectKind.CONTRADICTION, Severity.ERROR)
    assert defect.rows == (table.rows[place].id, "new")
    same = the_one(copied(table, place, f"{table.rows[place].outputs[0]}.0"))
    assert (same.kind, same.severity) == (DefectKind.SUBSUMED_ROW, Severity.WARNING)


@shapes
def test_a_missing_row_leaves_a_gap(seed: int, rows: int, columns: int) -> None:
    table = clean_table(seed, rows, columns).table
    place = seed % rows
    less = table.model_copy(update={"rows": (*table.rows[:place], *table.rows[place + 1 :])})
    defect = the_one(less)
    assert (defect.kind, defect.severity) == (DefectKind.GAP, Severity.WARNING)
    assert defect.example is not None
    assert matching(table, defect.example) == [table.rows[place].id]
    outputs = [less.outputs[0].model_copy(update={"default": "0"})]
    assert check_table(less.model_copy(update={"outputs": tuple(outputs)})) == ()


@shapes
def test_a_row_that_others_cover_together_is_found_under_first(
    seed: int, rows: int, columns: int
) -> None:
    table = clean_table(seed, rows, columns, HitPolicy.FIRST).table
    everything = DecisionRow(id="new", inputs=("not(null)",) * columns, outputs=("0",))
    defect = the_one(with_row(table, everything))
    assert (defect.kind, defect.severity) == (DefectKind.SUBSUMED_ROW, Severity.ERROR)
    assert defect.rows[0] == "new"
    all_cases = everything.model_copy(update={"inputs": ("-",) * columns})
    first = table.model_copy(update={"rows": (all_cases, *table.rows)})
    assert errors(first) == [(DefectKind.SUBSUMED_ROW, (row.id, "new")) for row in table.rows]


@shapes
def test_a_row_that_others_outrank_is_found_under_priority(
    seed: int, rows: int, columns: int
) -> None:
    table = clean_table(seed, rows, columns, HitPolicy.PRIORITY).table
    last = DecisionRow(id="new", inputs=("not(null)",) * columns, outputs=(str(rows),))
    found = check_table(with_row(table, last))
    assert [(defect.kind, defect.rows[0]) for defect in found] == [(DefectKind.SUBSUMED_ROW, "new")]
    best = DecisionRow(id="new", inputs=("-",) * columns, outputs=("0",))
    assert errors(with_row(table, best)) == [
        (DefectKind.SUBSUMED_ROW, (row.id, "new")) for row in table.rows
    ]


@a_shape
@pytest.mark.parametrize("cell", ["[5..1]", "(3..3)", "? > 5 and ? < 2", "not(-1, != -1, null)"])
def test_a_condition_that_never_holds_is_a_dead_row(
    seed: int, rows: int, columns: int, cell: str
) -> None:
    table = copied(clean_table(seed, rows, columns).table, seed % rows)
    assert errors(with_cell(table, rows, cell)) == [(DefectKind.DEAD_ROW, ("new",))]


@a_shape
@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('> "abc"', "string, and the input is number"),
        ("true", "boolean, and the input is number"),
        ('date("2024-01-01")', "date, and the input is number"),
        ("> 5 >", "found"),
        ("nobody", "the name 'nobody' is not known"),
        ('number("x")', "number"),
    ],
)
def test_a_cell_that_its_column_cannot_mean_is_unreadable(
    seed: int, rows: int, columns: int, cell: str, said: str
) -> None:
    table = with_cell(clean_table(seed, rows, columns).table, seed % rows, cell)
    defect = the_one(table)
    assert (defect.kind, defect.severity) == (DefectKind.UNREADABLE, Severity.ERROR)
    assert defect.rows == (table.rows[seed % rows].id,)
    assert said in defect.message


@a_shape
@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("-1", DefectKind.NOT_ALLOWED),
        ('"1"', DefectKind.UNREADABLE),
        ("1 +", DefectKind.UNREADABLE),
        ('"a" + 1', DefectKind.UNREADABLE),
    ],
)
def test_an_output_that_cannot_stand_there_is_found(
    seed: int, rows: int, columns: int, output: str, kind: DefectKind
) -> None:
    table = with_output(clean_table(seed, rows, columns).table, seed % rows, output)
    assert errors(table) == [(kind, (table.rows[seed % rows].id,))]


@shapes
def test_a_cell_that_cannot_be_told_is_named_and_never_guessed(
    seed: int, rows: int, columns: int
) -> None:
    table = with_cell(clean_table(seed, rows, columns).table, seed % rows, "abs(?) > 7")
    defect = the_one(table)
    assert (defect.kind, defect.severity) == (DefectKind.NOT_CHECKED, Severity.WARNING)
    assert defect.rows == (table.rows[seed % rows].id,)
    assert "abs(?) > 7" in defect.message


def test_what_the_hit_policy_needs_and_lacks_is_an_error() -> None:
    table = clean_table(1, 5, 2).table
    bare = table.outputs[0].model_copy(update={"allowed": ""})
    for policy in (HitPolicy.PRIORITY, HitPolicy.OUTPUT_ORDER):
        unordered = table.model_copy(update={"hit_policy": policy, "outputs": (bare,)})
        assert errors(unordered) == [(DefectKind.NOT_ALLOWED, ())]
    second = bare.model_copy(update={"name": "second"})
    two = {
        "hit_policy": HitPolicy.COLLECT,
        "aggregation": Aggregation.SUM,
        "outputs": (bare, second),
        "rows": tuple(row.model_copy(update={"outputs": ("1", "2")}) for row in table.rows),
    }
    assert errors(table.model_copy(update=two)) == [(DefectKind.NOT_ALLOWED, ())]


def test_a_default_that_is_not_allowed_is_an_error() -> None:
    table = clean_table(1, 5, 2).table
    output = table.outputs[0].model_copy(update={"default": "-3"})
    found = the_one(table.model_copy(update={"outputs": (output,)}))
    assert (found.kind, found.rows, found.columns) == (DefectKind.NOT_ALLOWED, (), ("out",))


def test_a_condition_on_values_that_are_not_allowed_names_them() -> None:
    columns = (InputColumn(name="등급", allowed='"VIP", "일반"'),)
    found = the_one(table_of(columns, [['"VIP"'], ['"일반"'], ['"골드", "실버"']]))
    assert (found.kind, found.rows) == (DefectKind.NOT_ALLOWED, ("r3",))
    assert '"골드", "실버"' in found.message


def test_verdicts_that_do_not_need_an_open_cell_are_still_given() -> None:
    columns = [InputColumn(name=name, type="number") for name in ("금액", "한도")]
    found = check_table(table_of(columns, [["> 한도", "1"], ["5", "2"], ["< 9", "2"]]))
    assert [defect.kind for defect in found] == [
        DefectKind.OVERLAP,
        DefectKind.NOT_CHECKED,
        DefectKind.GAP,
    ]
    assert found[0].rows == ("r2", "r3")
    assert "r2" not in found[1].message


@pytest.mark.parametrize(
    ("column", "cell", "kind"),
    [
        (InputColumn(name="a", type="tGrade"), '"A"', DefectKind.NOT_CHECKED),
        (InputColumn(name="a", type="number", allowed="1 +"), "5", DefectKind.UNREADABLE),
        (InputColumn(name="a", type="number", allowed="abs(?) > 2"), "5", DefectKind.NOT_CHECKED),
        (InputColumn(name="a", type="Any"), '@"2024-01-01"', DefectKind.NOT_CHECKED),
        (
            InputColumn(name="a", type="date and time"),
            '@"2024-01-01T00:00:00", @"2024-01-01T00:00:00Z"',
            DefectKind.NOT_CHECKED,
        ),
    ],
)
def test_a_column_of_which_nothing_can_be_told_is_named(
    column: InputColumn, cell: str, kind: DefectKind
) -> None:
    defect = the_one(table_of([column], [[cell]]))
    assert (defect.kind, defect.columns) == (kind, ("a",))


def test_computed_outputs_are_compared_for_the_case_at_hand() -> None:
    column = InputColumn(name="n", type="number")
    rows = [["> 1"], ["> 2"]]
    for outputs, kind in (
        (["n + 1", "n * 0"], DefectKind.CONTRADICTION),
        (["n + 1", "1 + n"], DefectKind.NOT_CHECKED),
        (["n + 1", "n + 1"], DefectKind.SUBSUMED_ROW),
    ):
        found = check_table(table_of([column], rows, policy=HitPolicy.ANY, outputs=outputs))
        assert [defect.kind for defect in found] == [kind, DefectKind.GAP]

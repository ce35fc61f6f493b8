"""Diffs of decision tables by row."""

from __future__ import annotations

import pytest

from core.decision_table import to_xml
from core.domain.errors import RuleInvalid
from core.domain.models import DecisionRow, DecisionTable, HitPolicy, InputColumn, OutputColumn
from core.entrypoints.service.review_view.shown import RowKind, TableDiff, TableRow
from core.entrypoints.service.review_view.tables import (
    CELL_CHARS,
    MAX_FINDINGS,
    MAX_ROWS,
    table_diff,
)


def table(*rows: tuple[str, str, str], **given: object) -> str:
    """Return a document of rows: id, condition, outcome."""
    made = DecisionTable(
        name="한도",
        inputs=(InputColumn(name="금액", type="number"),),
        outputs=(OutputColumn(name="승인", type="string"),),
        rows=tuple(DecisionRow(id=i, inputs=(c,), outputs=(f'"{o}"',)) for i, c, o in rows),
    )
    return to_xml(made.model_copy(update=given), decision_id="d")


def told(diff: TableDiff) -> list[str]:
    return [f"{row.kind.value} {row.id}{' moved' if row.moved else ''}" for row in diff.rows]


def cells(row: TableRow) -> list[tuple[str | None, str | None]]:
    return [(cell.before, cell.after) for cell in row.cells]


A, B, C = ("a", "< 10", "x"), ("b", "[10..20]", "y"), ("c", "> 20", "z")


def test_rows_come_go_and_change_cell_by_cell() -> None:
    diff = table_diff(table(A, B), table(A, ("b", "[10..30]", "y"), ("d", "> 30", "w")))
    assert told(diff) == ["same a", "changed b", "added d"]
    assert cells(diff.rows[1]) == [("[10..20]", "[10..30]"), ('"y"', '"y"'), ("", "")]
    assert (diff.rows[2].before_number, diff.rows[2].after_number) == (None, 3)


def test_a_row_that_is_removed_stands_where_it_stood() -> None:
    assert told(table_diff(table(A, B, C), table(A, C))) == ["same a", "removed b", "same c"]


def test_the_row_that_moved_is_told_and_not_all_others() -> None:
    assert told(table_diff(table(A, B, C), table(C, A, B))) == ["same c moved", "same a", "same b"]


def test_rows_without_ids_are_known_by_what_they_say() -> None:
    before = table(("row_1", "< 10", "x"), ("row_2", "[10..20]", "y"))
    after = table(("row_1", "[10..20]", "y"))
    assert told(table_diff(before, after)) == ["removed row_1", "same row_1"]


def test_of_two_like_rows_without_ids_each_stays_where_it_says_the_same() -> None:
    before = table(("row_1", "< 10", "x"), ("row_2", "< 10", "x"))
    after = table(("row_1", "> 20", "z"), ("row_2", "< 10", "x"))
    assert told(table_diff(before, after)) == ["changed row_1", "same row_2"]


def test_rows_with_ids_of_their_own_stay_themselves_whatever_they_say() -> None:
    before, after = table(A, B), table(("a", *B[1:]), ("b", *A[1:]))
    assert told(table_diff(before, after)) == ["changed a", "changed b"]


def test_of_like_rows_without_ids_one_that_is_free_is_taken() -> None:
    before = table(("row_1", "< 10", "x"), ("row_2", "< 10", "x"))
    after = table(("row_1", "< 10", "x"), ("row_2", "> 20", "z"), ("row_3", "< 10", "x"))
    assert told(table_diff(before, after)) == ["same row_1", "added row_2", "same row_3"]


def test_of_like_rows_without_ids_only_one_stays_where_one_is_left() -> None:
    before = table(("row_1", "< 10", "x"), ("row_2", "< 10", "x"))
    diff = table_diff(before, table(("row_3", "< 10", "x")))
    assert told(diff) == ["same row_3", "removed row_2"]


def test_columns_and_hit_policy_are_told() -> None:
    inputs = (InputColumn(name="등급", type="string"),)
    after = table(("a", '"VIP"', "x"), inputs=inputs, hit_policy=HitPolicy.FIRST)
    diff = table_diff(table(A), after)
    assert [(c.role, c.name, c.kind.value) for c in diff.columns] == [
        ("input", "등급", "added"),
        ("input", "금액", "removed"),
        ("output", "승인", "same"),
        ("annotation", "", "same"),
    ]
    assert (diff.hit_policy.before, diff.hit_policy.after) == ("UNIQUE", "FIRST")
    assert cells(diff.rows[0])[:2] == [(None, '"VIP"'), ("< 10", None)]


@pytest.mark.parametrize(
    ("of_input", "of_output"),
    [
        ({"type": "string"}, {}),
        ({"allowed": "[0..100]"}, {}),
        ({}, {"type": "boolean"}),
        ({}, {"allowed": '"x","y"'}),
        ({}, {"default": '"y"'}),
        ({}, {}),
    ],
)
def test_what_differs_of_a_column_is_told_with_both_values(
    of_input: dict[str, str], of_output: dict[str, str]
) -> None:
    inputs = InputColumn(name="금액", type="number")
    outputs = OutputColumn(name="승인", type="string")
    given = {
        "inputs": (inputs.model_copy(update=of_input),),
        "outputs": (outputs.model_copy(update=of_output),),
    }
    columns = table_diff(table(), table(**given)).columns[:2]
    assert [column.kind is RowKind.CHANGED for column in columns] == [
        bool(of_input), bool(of_output)
    ]  # fmt: skip
    before = {"type": "number", "allowed": "", "default": ""}, {
        "type": "string", "allowed": "", "default": ""
    }  # fmt: skip
    for column, was, more in zip(columns, before, (of_input, of_output), strict=True):
        told = {name: getattr(column, name) for name in was}
        assert {name: cell.before for name, cell in told.items()} == was
        assert {name: cell.after for name, cell in told.items()} == {**was, **more}


def test_of_a_table_that_comes_or_goes_columns_have_one_side() -> None:
    for documents, kind, side, other in (
        ((None, table(A)), "added", "after", "before"),
        ((table(A), None), "removed", "before", "after"),
    ):
        first, second, third = table_diff(*documents).columns
        assert [column.kind.value for column in (first, second, third)] == [kind] * 3
        for part in ("type", "allowed", "default"):
            assert getattr(getattr(first, part), other) is None
            assert getattr(getattr(first, part), side) is not None


def test_the_name_and_how_results_are_combined_are_told() -> None:
    after = table(A, name="한도액", hit_policy=HitPolicy.COLLECT, aggregation="SUM")
    diff = table_diff(table(A), after)
    assert (diff.name.before, diff.name.after) == ("한도", "한도액")
    assert (diff.hit_policy.before, diff.hit_policy.after) == ("UNIQUE", "COLLECT SUM")


def test_rows_that_are_removed_stand_in_order_where_they_stood() -> None:
    before = table(A, B, C, ("d", "< 5", "x"), ("e", "< 6", "x"))
    diff = table_diff(before, table(C))
    assert told(diff) == ["removed a", "removed b", "same c", "removed d", "removed e"]
    numbers = [(row.before_number, row.after_number) for row in diff.rows]
    assert numbers == [(1, None), (2, None), (3, 1), (4, None), (5, None)]
    assert told(table_diff(before, table(B, ("e", "< 6", "x"), A)))[-1] == "same a moved"


def test_long_cells_are_cut() -> None:
    diff = table_diff(table(("a", f"< {'1' * 1_100}", "x")), table(("a", "< 10", "y" * 1_100)))
    (row,) = diff.rows
    assert [len(cell.before or "") for cell in row.cells[:2]] == [CELL_CHARS, 3]
    assert len(row.cells[1].after or "") == CELL_CHARS


def test_findings_say_which_are_new() -> None:
    diff = table_diff(table(A), table(A, ("b", "< 5", "y")))
    new = {found.defect.kind.value for found in diff.findings if found.is_new}
    old = {found.defect.kind.value for found in diff.findings if not found.is_new}
    assert new & {"overlap", "contradiction"}
    assert "gap" in old


def test_a_whole_table_comes_and_goes() -> None:
    assert told(table_diff(None, table(A))) == ["added a"]
    gone = table_diff(table(A), None)
    assert (told(gone), gone.findings, gone.name.after) == (["removed a"], (), None)


def test_many_rows_are_folded_and_bounded() -> None:
    rows = [(f"r{n}", f"[{n}..{n + 1})", "x") for n in range(1_000)]
    changed = [*rows[:500], ("r500", "[500..501)", "y"), *rows[501:]]
    diff = table_diff(table(*rows), table(*changed))
    assert [row.hidden for row in diff.rows if row.hidden] == [497, 496]
    whole = table_diff(None, table(*rows))
    assert (len(whole.rows), whole.more) == (MAX_ROWS, 1_000 - MAX_ROWS)


def test_rows_that_are_folded_beyond_the_limit_count_each() -> None:
    rows = [(f"r{n}", f"[{n}..{n + 1})", "x") for n in range(MAX_ROWS + 50)]
    changed = [(name, cell, "y") for name, cell, _ in rows[:MAX_ROWS]]
    diff = table_diff(table(*rows), table(*changed, *rows[MAX_ROWS:]))
    assert (len(diff.rows), diff.more) == (MAX_ROWS, 50)
    assert {row.kind for row in diff.rows} == {RowKind.CHANGED}


def test_of_many_findings_the_rest_is_counted() -> None:
    row = ("a", "< 10", "x")
    made = table_diff(None, table(*((f"r{n}", *row[1:]) for n in range(MAX_FINDINGS + 10))))
    assert len(made.findings) == MAX_FINDINGS
    assert made.more_findings > 0
    assert all(found.is_new for found in made.findings)
    few = table_diff(None, table(A))
    assert (len(few.findings) < MAX_FINDINGS, few.more_findings) == (True, 0)


def test_a_malformed_document_is_no_table() -> None:
    with pytest.raises(RuleInvalid):
        table_diff(table(A), "<definitions")

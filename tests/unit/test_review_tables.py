"""Diffs of decision tables by row."""

from __future__ import annotations

import pytest

from core.decision_table import to_xml
from core.domain.errors import RuleInvalid
from core.domain.models import DecisionRow, DecisionTable, HitPolicy, InputColumn, OutputColumn
from core.entrypoints.service.review_view.shown import TableDiff, TableRow
from core.entrypoints.service.review_view.tables import MAX_ROWS, table_diff


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


def test_a_malformed_document_is_no_table() -> None:
    with pytest.raises(RuleInvalid):
        table_diff(table(A), "<definitions")

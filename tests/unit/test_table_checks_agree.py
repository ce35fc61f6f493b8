"""The checks of a table agree with its evaluation, case by case."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from core.decision_table import check_table, decide, witness
from core.domain.errors import RuleInvalid
from core.domain.models import DecisionTable, Defect, DefectKind, HitPolicy, InputColumn, Severity
from tests.support.table_cells import ALLOWED, CELLS, cases, matching, table

Case = dict[str, JsonValue]


@st.composite
def tables(draw: st.DrawFn, policy: HitPolicy) -> DecisionTable:
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=3))
    columns = [
        InputColumn(name=f"입력 {number}", type=kind, allowed=draw(st.sampled_from(ALLOWED[kind])))
        for number, kind in enumerate(kinds)
    ]
    rows = draw(
        st.lists(
            st.tuples(*(st.sampled_from(CELLS[kind]) for kind in kinds)), min_size=1, max_size=6
        )
    )
    return table(columns, rows, policy=policy)


def seen(checked: DecisionTable) -> list[tuple[Case, list[str]]]:
    """Return all sampled valid cases, each with the rows that match."""
    found = []
    for case in cases(checked):
        try:
            found.append((case, matching(checked, case)))
        except RuleInvalid:
            continue
    return found


def of(defects: tuple[Defect, ...], *kinds: DefectKind) -> list[Defect]:
    return [defect for defect in defects if defect.kind in kinds]


@given(tables(HitPolicy.UNIQUE))
def test_overlaps_dead_rows_and_gaps_are_those_that_evaluation_shows(
    checked: DecisionTable,
) -> None:
    defects, shown = check_table(checked), seen(checked)
    pairs = {pair for _, rows in shown for pair in combinations(rows, 2)}
    assert {defect.rows for defect in of(defects, DefectKind.OVERLAP)} == pairs
    never = {row.id for row in checked.rows} - {row for _, rows in shown for row in rows}
    dead = of(defects, DefectKind.DEAD_ROW, DefectKind.NOT_ALLOWED)
    assert {defect.rows[0] for defect in dead} == never
    gap = any(not rows and None not in case.values() for case, rows in shown)
    assert bool(of(defects, DefectKind.GAP)) is gap
    assert not of(defects, DefectKind.NOT_CHECKED, DefectKind.UNREADABLE)


@given(tables(HitPolicy.UNIQUE))
def test_an_example_is_a_case_that_shows_its_finding(checked: DecisionTable) -> None:
    for defect in check_table(checked):
        if defect.example is None:
            continue
        rows = matching(checked, defect.example)
        assert set(defect.rows) <= set(rows)
        assert bool(rows) is (defect.kind is DefectKind.OVERLAP)


@given(tables(HitPolicy.UNIQUE))
def test_a_witness_is_a_case_in_which_the_row_matches(checked: DecisionTable) -> None:
    possible = {row for _, rows in seen(checked) for row in rows}
    for row in checked.rows:
        case = witness(checked, row.id)
        assert (case is not None) is (row.id in possible)
        assert case is None or row.id in matching(checked, case)


@given(tables(HitPolicy.FIRST))
def test_covered_rows_are_those_that_never_come_first(checked: DecisionTable) -> None:
    shown = seen(checked)
    possible = {row for _, rows in shown for row in rows}
    first = {rows[0] for _, rows in shown if rows}
    found = of(check_table(checked), DefectKind.SUBSUMED_ROW)
    errors = {defect.rows[0] for defect in found if defect.severity is Severity.ERROR}
    assert errors == possible - first
    for defect in found:
        assert defect.example is not None
        fired = decide(checked, defect.example).fired
        only_null = defect.severity is Severity.WARNING
        assert (fired == (defect.rows[0],)) is only_null
        covering = checked.model_copy(
            update={"rows": tuple(row for row in checked.rows if row.id in defect.rows)}
        )
        ordinary = [
            rows for case, rows in seen(covering) if None not in case.values() or not only_null
        ]
        assert all(rows[0] != defect.rows[0] for rows in ordinary if rows)

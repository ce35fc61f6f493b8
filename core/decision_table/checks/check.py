"""All checks of a decision table, and cases that show what a row matches."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from pydantic import JsonValue

from core.decision_table.checks.boxes import Box, Space, as_json
from core.decision_table.checks.clashes import clashes
from core.decision_table.checks.covered import covered_rows
from core.decision_table.checks.dead import dead_rows
from core.decision_table.checks.gaps import gaps, unclear
from core.decision_table.checks.outputs import Outputs
from core.decision_table.checks.segments import bits
from core.decision_table.checks.values import misfits, output_defects, policy_defects
from core.decision_table.feel import Scope, Value, holds, parse_tests
from core.errors import RuleInvalid
from core.models import DecisionTable, Defect, Severity

_TRIES = 200


def check_table(table: DecisionTable) -> tuple[Defect, ...]:
    """Give all findings, errors first, then in the order of rows and columns.

    Nothing is guessed: what cannot be told from the cells, or takes too long, is NOT_CHECKED.
    """
    space, outputs = Space(table), Outputs(table)
    found = [
        *misfits(table),
        *policy_defects(table, outputs),
        *unclear(table, space),
        *output_defects(table, outputs),
        *dead_rows(space),
        *clashes(table, space, outputs),
        *covered_rows(table, space, outputs),
        *gaps(space, outputs),
    ]
    order = {row.id: number for number, row in enumerate(table.rows)}
    names = [
        *(column.name for column in table.inputs),
        *(column.name for column in table.outputs),
    ]

    def place(defect: Defect) -> tuple[bool, list[int], list[int]]:
        rows = [order[row] for row in defect.rows]
        columns = [names.index(column) for column in defect.columns]
        return defect.severity is not Severity.ERROR, rows or [len(order)], columns

    used = (space.others | outputs.names) - {column.name for column in table.inputs}
    return tuple(sorted((_whole(defect, used) for defect in found), key=place))


def _whole(defect: Defect, others: frozenset[str]) -> Defect:
    """Complete an example with the names that cells use besides the inputs: any value will do."""
    if defect.example is None or not others:
        return defect
    example = {**defect.example, **dict.fromkeys(sorted(others))}
    return defect.model_copy(update={"example": example})


def witness(table: DecisionTable, row_id: str) -> Mapping[str, JsonValue] | None:
    """Give a case (input column -> JSON value) in which the row's conditions hold, or None.

    None stands for a row that can never match, and for one of which that cannot be told. Raises
    RuleInvalid where the table has no such row.
    """
    rows = tuple(row for row in table.rows if row.id == row_id)
    if not rows:
        raise RuleInvalid(f"the decision table '{table.name}' has no row '{row_id}'")
    space = Space(table.model_copy(update={"rows": rows[:1]}))
    if not space.boxes or space.boxes[0].empty or space.boxes[0].wrong:
        return None
    box = space.boxes[0]
    if box.clear:
        return as_json(space.case(box.must))
    case = _tried(space, box)
    return None if case is None else {**as_json(case), **dict.fromkeys(sorted(space.others))}


def _tried(space: Space, box: Box) -> dict[str, Value] | None:
    """Try the values that the cells name for those that cannot be told."""
    if any(column.unclear or column.wrong for column in space.columns):
        return None
    trees = [parse_tests(text, space.names) for text in box.row.inputs]
    choices = [
        [column.domain.segments[number].pick.value for number in bits(cell.may)]
        if cell.why
        else [column.domain.best(cell.must).value]
        for column, cell in zip(space.columns, box.cells, strict=True)
    ]
    for _, values in zip(range(_TRIES), product(*choices), strict=False):
        case = dict(zip((column.name for column in space.columns), values, strict=True))
        if all(holds(tree, Scope(case, value)) for tree, value in zip(trees, values, strict=True)):
            return case
    return None

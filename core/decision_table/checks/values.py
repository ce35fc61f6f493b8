"""Outputs that are none of their column's type or allowed values; policies that lack something."""

from __future__ import annotations

from collections.abc import Iterator

from core.decision_table.checks.finding import Finding, brief, error, warning
from core.decision_table.checks.outputs import Output, Outputs, allows, type_problem
from core.decision_table.feel import to_text
from core.models import Aggregation, DecisionTable, DefectKind, HitPolicy, OutputColumn

_ORDERED = (HitPolicy.PRIORITY, HitPolicy.OUTPUT_ORDER)


def misfits(table: DecisionTable) -> Iterator[Finding]:
    """Give the rows that have another number of cells than there are columns."""
    for row in table.rows:
        have, want = (len(row.inputs), len(row.outputs)), (len(table.inputs), len(table.outputs))
        if have != want:
            yield error(
                DefectKind.UNREADABLE,
                f"row '{row.id}' has {have[0]} input and {have[1]} output entries for "
                f"{want[0]} input and {want[1]} output columns",
                rows=(row.id,),
            )


def policy_defects(table: DecisionTable, outputs: Outputs) -> Iterator[Finding]:
    """Give what the hit policy needs of the outputs and does not find."""
    columns = [column.name for column in table.outputs]
    if table.hit_policy in _ORDERED and not any(outputs.allowed):
        yield error(
            DefectKind.NOT_ALLOWED,
            f"{table.hit_policy} orders by the allowed values of an output, and none has any",
            columns=columns,
        )
    if table.aggregation and len(columns) > 1:
        yield error(
            DefectKind.NOT_ALLOWED,
            f"COLLECT with {table.aggregation} aggregates one output; there are several",
            columns=columns,
        )


def output_defects(table: DecisionTable, outputs: Outputs) -> Iterator[Finding]:
    """Give the outputs and defaults that cannot stand in their columns."""
    for column, allowed, default in zip(
        table.outputs, outputs.allowed, outputs.defaults, strict=True
    ):
        if isinstance(allowed, str):
            yield error(
                DefectKind.UNREADABLE,
                f"output '{column.name}': its allowed values cannot be read: {allowed}",
                columns=(column.name,),
            )
        if default:
            yield from _output(table, outputs, column, default, None)
    for row_id, cells in outputs.rows.items():
        for column, cell in zip(table.outputs, cells, strict=True):
            yield from _output(table, outputs, column, cell, row_id)


def _output(
    table: DecisionTable, outputs: Outputs, column: OutputColumn, cell: Output, row_id: str | None
) -> Iterator[Finding]:
    where = f"row '{row_id}'" if row_id is not None else "the default"
    rows = (row_id,) if row_id is not None else ()
    allowed = outputs.allowed[table.outputs.index(column)]
    problem = cell.wrong or (type_problem(cell.value, column) if cell.constant else None)
    problem = problem or _sum_problem(table, cell)
    if problem:
        kind, message = DefectKind.UNREADABLE, f"{where}, output '{column.name}': {problem}"
    elif allowed is None or isinstance(allowed, str):
        return
    elif not cell.constant:
        yield warning(
            DefectKind.NOT_CHECKED,
            f"{where}: whether `{brief(cell.text)}` gives an allowed value of '{column.name}' "
            "was not checked: it is computed",
            rows=rows,
            columns=(column.name,),
        )
        return
    elif allows(allowed, cell.value):
        return
    else:
        kind = DefectKind.NOT_ALLOWED
        message = (
            f"{where} gives '{column.name}' {to_text(cell.value)}, which is none of its allowed "
            f"values: {brief(column.allowed)}"
        )
    yield error(kind, message, rows=rows, columns=(column.name,))


def _sum_problem(table: DecisionTable, cell: Output) -> str | None:
    if table.aggregation is not Aggregation.SUM or not cell.constant:
        return None
    if isinstance(cell.value, (int, str, tuple)):
        return f"{to_text(cell.value)} does not add up: COLLECT with SUM needs numbers"
    return None

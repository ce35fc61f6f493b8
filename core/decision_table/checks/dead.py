"""Rows that can never match: one of their conditions holds for no value of its input."""

from __future__ import annotations

from collections.abc import Iterator

from core.decision_table.checks.boxes import Space
from core.decision_table.checks.finding import Finding, brief, error
from core.models import DefectKind


def dead_rows(space: Space) -> Iterator[Finding]:
    """Give the rows of which a condition holds for no value of its input."""
    for box in space.boxes:
        for column, cell, text in zip(space.columns, box.cells, box.row.inputs, strict=True):
            if cell.may or cell.why:
                continue
            if text in column.outside:
                yield error(
                    DefectKind.NOT_ALLOWED,
                    f"row '{box.row.id}' can never match: its condition `{brief(text)}` names only "
                    f"values of '{column.name}' that are not allowed ({brief(column.allowed)})",
                    rows=(box.row.id,),
                    columns=(column.name,),
                )
            else:
                yield error(
                    DefectKind.DEAD_ROW,
                    f"row '{box.row.id}' can never match: no value of '{column.name}' passes its "
                    f"condition `{brief(text)}`",
                    rows=(box.row.id,),
                    columns=(column.name,),
                )

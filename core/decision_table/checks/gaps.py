"""Cases that no row answers, and cells of which nothing can be told."""

from __future__ import annotations

from collections.abc import Iterator

from core.decision_table.checks.boxes import Space, as_json
from core.decision_table.checks.cover import uncovered
from core.decision_table.checks.finding import Finding, brief, error, named, shown, warning
from core.decision_table.checks.outputs import Outputs
from core.decision_table.checks.search import Budget, GaveUp
from core.decision_table.checks.segments import bits
from core.models import DecisionTable, DefectKind, HitPolicy

_WORK = 1_000_000


def gaps(space: Space, outputs: Outputs) -> Iterator[Finding]:
    """Give a case that no row matches, if there is one; null is no such case."""
    if outputs.complete:
        return
    whole = tuple(column.domain.ordinary for column in space.columns)
    alone = all(others.bit_count() <= 1 for others in space.perhaps_meeting)
    try:
        gap = uncovered(whole, [box.may for box in space.boxes], Budget(_WORK), apart=alone)
    except GaveUp:
        yield warning(
            DefectKind.NOT_CHECKED,
            "whether the rows leave a gap was not checked: the table is too large for it",
        )
        return
    if gap is not None:
        case = space.case(gap)
        yield warning(DefectKind.GAP, f"no row matches where {shown(case)}", example=as_json(case))


def unclear(table: DecisionTable, space: Space) -> Iterator[Finding]:
    """Give the inputs and cells that are no sets of values: errors of type, and what is open."""
    for column in space.columns:
        if column.wrong:
            yield error(
                DefectKind.UNREADABLE,
                f"input '{column.name}': {column.wrong}",
                columns=(column.name,),
            )
        elif column.unclear:
            yield warning(
                DefectKind.NOT_CHECKED,
                f"the conditions on the input '{column.name}' were not checked: {column.unclear}",
                columns=(column.name,),
            )
    for number, box in enumerate(space.boxes):
        for column, cell, text in zip(space.columns, box.cells, box.row.inputs, strict=True):
            if not cell.why or column.unclear or column.wrong:
                continue
            where = f"row '{box.row.id}', input '{column.name}'"
            place = ((box.row.id,), (column.name,))
            if cell.wrong:
                yield error(DefectKind.UNREADABLE, f"{where}: {cell.why}", *place)
            elif all(box.may):
                yield warning(
                    DefectKind.NOT_CHECKED,
                    f"{where}: `{brief(text)}` was not checked: {cell.why}"
                    f"{_open_pairs(table, space, number)}",
                    *place,
                )


def _open_pairs(table: DecisionTable, space: Space, number: int) -> str:
    if table.hit_policy not in (HitPolicy.UNIQUE, HitPolicy.ANY):
        return ""
    others = space.perhaps_meeting[number] & ~space.meeting[number] & ~(1 << number)
    if not others:
        return ""
    names = [space.boxes[other].row.id for other in bits(others)]
    return f"; it may match a case together with {named(names)}"

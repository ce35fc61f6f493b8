"""All checks of a decision table, and example cases that a row matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

from pydantic import JsonValue

from core.decision_table.checks.boxes import Box, Space, as_json
from core.decision_table.checks.columns import Column
from core.decision_table.checks.cover import Budget, GaveUp, uncovered
from core.decision_table.checks.covered import covered_rows
from core.decision_table.checks.finding import Finding, brief, error, named, shown, warning
from core.decision_table.checks.outputs import Outputs, misfits, output_defects, policy_defects
from core.decision_table.checks.segments import bits, contains, shared
from core.decision_table.checks.spoken import spoken_tests
from core.decision_table.feel import Scope, Value, holds, parse_tests
from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import DecisionTable, Defect, DefectKind, HitPolicy, Severity


def dead_rows(space: Space) -> Iterator[Finding]:
    """Yield the rows with a condition that no value of its input satisfies."""
    for box in space.boxes:
        for column, cell, text in zip(space.columns, box.cells, box.row.inputs, strict=True):
            if cell.may or cell.why:
                continue
            if text in column.outside:
                yield error(
                    DefectKind.NOT_ALLOWED,
                    Message(
                        "table.condition_not_allowed",
                        row=box.row.id,
                        cell=brief(text),
                        column=column.name,
                        allowed=brief(column.allowed),
                    ),
                    rows=(box.row.id,),
                    columns=(column.name,),
                )
            else:
                yield error(
                    DefectKind.DEAD_ROW,
                    Message(
                        "table.condition_never_holds",
                        row=box.row.id,
                        column=column.name,
                        cell=brief(text),
                    ),
                    rows=(box.row.id,),
                    columns=(column.name,),
                )


# In comparisons, not seconds: a table has the same findings on every machine.
_WORK = 1_000_000


def gaps(space: Space, outputs: Outputs) -> Iterator[Finding]:
    """Yield a case that no row matches, if there is one; nulls are not counted as a gap."""
    if outputs.complete:
        return
    whole = tuple(column.domain.ordinary for column in space.columns)
    alone = all(others.bit_count() <= 1 for others in space.perhaps_meeting)
    try:
        gap = uncovered(whole, [box.may for box in space.boxes], Budget(_WORK), apart=alone)
    except GaveUp:
        yield warning(DefectKind.NOT_CHECKED, Message("table.gaps_not_checked"))
        return
    if gap is not None:
        case = space.case(gap)
        yield warning(DefectKind.GAP, Message("table.gap", case=shown(case)), example=as_json(case))


def unclear(table: DecisionTable, space: Space) -> Iterator[Finding]:
    """Yield the inputs and cells that are not sets of values: type errors, and what stays open."""
    for column in space.columns:
        if column.wrong:
            yield error(
                DefectKind.UNREADABLE,
                Message("table.input_wrong", column=column.name, why=column.wrong),
                columns=(column.name,),
            )
        elif column.unclear:
            yield warning(
                DefectKind.NOT_CHECKED,
                Message("table.input_not_checked", column=column.name, why=column.unclear),
                columns=(column.name,),
            )
    for number, box in enumerate(space.boxes):
        for column, cell, text in zip(space.columns, box.cells, box.row.inputs, strict=True):
            if not cell.why or column.unclear or column.wrong:
                continue
            subject = ((box.row.id,), (column.name,))
            if cell.wrong:
                yield error(DefectKind.UNREADABLE, _of_cell(box, column, cell.why), *subject)
            elif all(box.may):
                why = Message(
                    "table.cell_not_checked",
                    cell=brief(text),
                    why=cell.why,
                    pairs=_open_pairs(table, space, number),
                )
                yield warning(DefectKind.NOT_CHECKED, _of_cell(box, column, why), *subject)


def _of_cell(box: Box, column: Column, why: str) -> Message:
    return Message("table.cell", row=box.row.id, column=column.name, why=why)


def _open_pairs(table: DecisionTable, space: Space, number: int) -> str:
    if table.hit_policy not in (HitPolicy.UNIQUE, HitPolicy.ANY):
        return ""
    others = space.perhaps_meeting[number] & ~space.meeting[number] & ~(1 << number)
    if not others:
        return ""
    names = [space.boxes[other].row.id for other in bits(others)]
    return Message("table.may_match", rows=named(names))


_TRIES = 200


def check_table(table: DecisionTable) -> tuple[Defect, ...]:
    """Return all findings, errors first, then in row and column order.

    Nothing is guessed: what the cells do not tell, or what takes too long, is NOT_CHECKED.
    """
    space, outputs = Space(table), Outputs(table)
    found = [
        *misfits(table),
        *policy_defects(table, outputs),
        *unclear(table, space),
        *output_defects(table, outputs),
        *spoken_tests(table),
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

    def position(defect: Defect) -> tuple[bool, list[int], list[int]]:
        rows = [order[row] for row in defect.rows]
        columns = [names.index(column) for column in defect.columns]
        return defect.severity is not Severity.ERROR, rows or [len(order)], columns

    used = (space.others | outputs.names) - {column.name for column in table.inputs}
    return tuple(sorted((_whole(defect, used) for defect in found), key=position))


def _whole(defect: Defect, others: frozenset[str]) -> Defect:
    """Add the names that cells use besides the inputs to an example; any value will do."""
    if defect.example is None:
        return defect
    example = {**defect.example, **dict.fromkeys(sorted(others))}
    return defect.model_copy(update={"example": example})


def witness(table: DecisionTable, row_id: str) -> Mapping[str, JsonValue] | None:
    """Return a case (input column -> JSON value) in which the row's conditions hold, or None.

    None means that the row can never match, or that this cannot be determined. Raises RuleInvalid
    if the table has no such row.
    """
    rows = tuple(row for row in table.rows if row.id == row_id)
    if not rows:
        raise RuleInvalid(Message("no.row", table=table.name, row=row_id))
    space = Space(table.model_copy(update={"rows": rows[:1]}))
    if not space.boxes or space.boxes[0].empty or space.boxes[0].wrong:
        return None
    box = space.boxes[0]
    if box.clear:
        return as_json(space.case(box.must))
    case = _tried(space, box)
    return None if case is None else {**as_json(case), **dict.fromkeys(sorted(space.others))}


def _tried(space: Space, box: Box) -> dict[str, Value] | None:
    """Try the values that the cells mention in place of those that cannot be determined."""
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


_MOST_PAIRS = 500


def clashes(table: DecisionTable, space: Space, outputs: Outputs) -> Iterator[Finding]:
    """Yield overlaps under UNIQUE; contradictions and repetitions under ANY."""
    if table.hit_policy is HitPolicy.UNIQUE:
        found = _overlaps(space)
    elif table.hit_policy is HitPolicy.ANY:
        found = _contradictions(space, outputs)
    else:
        return
    most = max(_MOST_PAIRS, len(space.boxes))
    yield from islice(found, most)
    if next(found, None):
        yield warning(DefectKind.NOT_CHECKED, Message("table.more_overlaps", n=most))


def _pairs(space: Space) -> Iterator[tuple[int, int]]:
    """Yield all overlapping pairs, one per row first, so that no row goes unnamed."""
    firsts: dict[tuple[int, int], None] = {}
    for number, others in enumerate(space.meeting):
        if other := others & ~(1 << number):
            first = next(bits(other))
            firsts[(min(number, first), max(number, first))] = None
    yield from firsts
    for one, others in enumerate(space.meeting):
        for other in bits(others >> (one + 1)):
            if (one, one + 1 + other) not in firsts:
                yield one, one + 1 + other


def _overlaps(space: Space) -> Iterator[Finding]:
    for one, other in _pairs(space):
        left, right = space.boxes[one], space.boxes[other]
        case = space.case(shared(left.must, right.must))
        within = ""
        if contains(left.must, right.must):
            within = Message("table.row_within", one=right.row.id, other=left.row.id)
        elif contains(right.must, left.must):
            within = Message("table.row_within", one=left.row.id, other=right.row.id)
        yield error(
            DefectKind.OVERLAP,
            Message(
                "table.rows_overlap",
                one=left.row.id,
                other=right.row.id,
                case=shown(case),
                within=within,
            ),
            rows=(left.row.id, right.row.id),
            example=as_json(case),
        )


def _contradictions(space: Space, outputs: Outputs) -> Iterator[Finding]:
    for one, other in _pairs(space):
        left, right = space.boxes[one], space.boxes[other]
        ids = (left.row.id, right.row.id)
        if not all(row in outputs.rows for row in ids):
            continue
        case = space.case(shared(left.must, right.must))
        differing = outputs.differ(*ids, case)
        if differing is None:
            if contains(left.must, right.must):
                yield _repeated(right.row.id, left.row.id)
            elif contains(right.must, left.must):
                yield _repeated(left.row.id, right.row.id)
            continue
        column, certain = differing
        where = Message("table.both_match", one=ids[0], other=ids[1], case=shown(case))
        if certain:
            message = Message("table.rows_contradict", pair=where, column=column)
            kind, make = DefectKind.CONTRADICTION, error
        else:
            message = Message("table.rows_may_contradict", pair=where, column=column)
            kind, make = DefectKind.NOT_CHECKED, warning
        yield make(kind, message, rows=ids, columns=(column,), example=as_json(case))


def _repeated(inner: str, outer: str) -> Finding:
    return warning(
        DefectKind.SUBSUMED_ROW,
        Message("table.row_repeats", one=inner, other=outer),
        rows=(inner, outer),
    )

"""Rows that match the same case where the hit policy allows only one answer."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from core.decision_table.checks.boxes import Space, as_json
from core.decision_table.checks.finding import Finding, error, shown, warning
from core.decision_table.checks.outputs import Outputs
from core.decision_table.checks.segments import bits, contains, shared
from core.domain.messages import Message
from core.domain.models import DecisionTable, DefectKind, HitPolicy

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
        yield warning(
            DefectKind.NOT_CHECKED,
            Message(
                "table.more_overlaps",
                "more pairs of rows match the same case than the {n} that are listed",
                n=most,
            ),
        )


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
            within = Message(
                "table.row_within",
                "; row '{one}' lies wholly within row '{other}'",
                one=right.row.id,
                other=left.row.id,
            )
        elif contains(right.must, left.must):
            within = Message(
                "table.row_within",
                "; row '{one}' lies wholly within row '{other}'",
                one=left.row.id,
                other=right.row.id,
            )
        yield error(
            DefectKind.OVERLAP,
            Message(
                "table.rows_overlap",
                "rows '{one}' and '{other}' both match where {case}, and UNIQUE allows one{within}",
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
        where = Message(
            "table.both_match",
            "rows '{one}' and '{other}' both match where {case}, and",
            one=ids[0],
            other=ids[1],
            case=shown(case),
        )
        if certain:
            message = Message(
                "table.rows_contradict",
                "{pair} give different values for '{column}'; ANY needs them equal",
                pair=where,
                column=column,
            )
            kind, make = DefectKind.CONTRADICTION, error
        else:
            message = Message(
                "table.rows_may_contradict",
                "{pair} whether they give the same value for '{column}' in every such case "
                "was not checked: it is computed",
                pair=where,
                column=column,
            )
            kind, make = DefectKind.NOT_CHECKED, warning
        yield make(kind, message, rows=ids, columns=(column,), example=as_json(case))


def _repeated(inner: str, outer: str) -> Finding:
    return warning(
        DefectKind.SUBSUMED_ROW,
        Message(
            "table.row_repeats",
            "row '{one}' says nothing that row '{other}' does not say: it lies wholly "
            "within it, with the same outputs",
            one=inner,
            other=outer,
        ),
        rows=(inner, outer),
    )

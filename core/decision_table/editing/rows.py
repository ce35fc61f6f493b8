"""The cells of one drafted row, checked against the columns of its table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from core.decision_table.cells import ANY, cell_problem, one_line, text_problem
from core.decision_table.columns import by_column
from core.decision_table.problems import INPUT, OUTPUT, listing
from core.domain.messages import Message
from core.domain.models import DecisionRow, MergeMode, RowEdit


def merge_row(
    edit: RowEdit,
    label: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    problems: list[str],
    *,
    row_id: str,
    base: DecisionRow | None = None,
) -> DecisionRow:
    """Return the row that an edit makes, its cells in column order.

    A cell that the edit omits (or leaves empty) keeps the value of `base`; without a base an input
    is `-`, and an output is a problem. A cell of an unknown column is a problem too.
    """
    conditions, results = by_column(edit.inputs), by_column(edit.outputs)
    problems += _unknown(label, INPUT, conditions, inputs)
    problems += _unknown(label, OUTPUT, results, outputs)
    old_inputs = dict(zip(inputs, base.inputs, strict=False)) if base else {}
    old_outputs = dict(zip(outputs, base.outputs, strict=False)) if base else {}
    row = DecisionRow(
        id=row_id,
        inputs=tuple(conditions.get(name) or old_inputs.get(name, ANY) for name in inputs),
        outputs=tuple(results.get(name) or old_outputs.get(name, "") for name in outputs),
        annotation=one_line(edit.annotation) or (base.annotation if base else ""),
    )
    lacking = [
        name
        for name, cell in zip(outputs, row.outputs, strict=True)
        if not cell and not (base and name in old_outputs)
    ]
    if lacking:
        problems.append(Message("draft.no_value", label=label, columns=listing(lacking)))
    problems += _text_problems(label, {**conditions, **results}, row.annotation)
    return row


def _unknown(label: str, what: str, given: dict[str, str], columns: Sequence[str]) -> list[str]:
    return [
        Message("draft.unknown_column", label=label, what=what, name=name, columns=listing(columns))
        for name in given
        if name not in columns
    ]


def _text_problems(label: str, cells: dict[str, str], annotation: str) -> list[str]:
    found = [
        (Message("draft.the_cell", name=name, label=label), cell_problem(cell))
        for name, cell in cells.items()
    ]
    found.append((Message("draft.the_annotation", label=label), text_problem(annotation)))
    return [Message("draft.wrong", where=where, why=problem) for where, problem in found if problem]


def arranged(standing: Sequence[str], new: Sequence[RowEdit]) -> Iterator[str | RowEdit]:
    """Yield the ids of rows that stay and the new rows, in their final order.

    New rows come before the row that they name, in their own order, or else at the end.
    """
    for row_id in standing:
        yield from (edit for edit in new if edit.before == row_id)
        yield row_id
    yield from (edit for edit in new if not edit.before)


def place_problems(
    rows: Sequence[RowEdit],
    known: Mapping[str, DecisionRow],
    removed: Sequence[str],
    merge_mode: MergeMode | None,
) -> list[str]:
    """Return which rows cannot be placed where they ask to be."""
    problems = []
    for edit in rows:
        if not edit.before:
            continue
        if merge_mode is MergeMode.REPLACE:
            problems.append(Message("draft.replace_order"))
        elif edit.id:
            problems.append(Message("draft.row_stands", row=edit.id))
        elif edit.before not in known or edit.before in removed:
            there_are = listing([row_id for row_id in known if row_id not in removed])
            problems.append(Message("draft.no_row_before", row=edit.before, rows=there_are))
    return list(dict.fromkeys(problems))

"""The case a row is learnt from: the feedback's own, checked against its row, or a derived one."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from pydantic import JsonValue

from core.decision_table.cells import ANY, one_line
from core.decision_table.checks.check import witness
from core.decision_table.evaluation.compiled import compile_table
from core.decision_table.evaluation.decide import Decided, decide
from core.decision_table.feel.functions import FUNCTIONS
from core.decision_table.learning.cases import FROM_CONDITIONS, FROM_FEEDBACK, Case
from core.decision_table.learning.wording import case_words, outcome_words, row_words
from core.domain.errors import RuleInvalid
from core.domain.messages import Message, joined
from core.domain.models import DecisionRow, DecisionTable, HitPolicy

Inputs = Mapping[str, JsonValue]


def learnt_case(
    table: DecisionTable,
    row: DecisionRow,
    example: Inputs,
    problems: list[str],
    feedback_id: str | None,
) -> Case | None:
    """Return the case of the example that the feedback gives for a row.

    Omitted inputs are null if the row has no condition on them. An example that does not meet its
    row's conditions, or that the table does not decide as the row says, is a problem, with the
    input or the row at fault. A row that uses the time of day has no lasting outcome: only the
    inputs of its other conditions are stored.
    """
    inputs = _completed(table, row, example)
    words = Message("learn.example", case=case_words(inputs), row=row_words(table, row.id))
    try:
        if asks_clock(table, row):
            return Case(inputs, None, FROM_FEEDBACK, feedback_id)
        unfit = _unfit(alone(table, (row,)), inputs)
        decided = None if unfit else decide(table, inputs)
    except RuleInvalid as error:
        problems.append(Message("learn.example_fails", example=words, why=error.message))
        return None
    if unfit:
        problems.append(Message("learn.example_unfit", example=words, why=unfit))
        return None
    assert decided is not None
    if not _decides(decided, table, row):
        fired = joined([row_words(table, row_id) for row_id in decided.fired], " and ")
        problems.append(
            Message(
                "learn.example_decided_by",
                example=words,
                rows=fired or Message("learn.no_row"),
                outcome=outcome_words(decided.result),
            )
        )
        return None
    return Case(inputs, decided.result, FROM_FEEDBACK, feedback_id)


def derived_case(table: DecisionTable, row: DecisionRow) -> Case | None:
    """Return a case that meets the row's conditions and is decided by it, or None.

    Raises nothing: a table that cannot be decided yields no case.
    """
    try:
        inputs = None if asks_clock(table, row) else witness(table, row.id)
        decided = None if inputs is None else decide(table, inputs)
    except RuleInvalid:
        return None
    if inputs is None or decided is None or row.id not in decided.fired:
        return None
    return Case(dict(inputs), decided.result, FROM_CONDITIONS)


def alone(table: DecisionTable, rows: tuple[DecisionRow, ...]) -> DecisionTable:
    """Return the table with these rows only, so that each can be tested by itself."""
    update = {"rows": rows, "hit_policy": HitPolicy.COLLECT, "aggregation": None}
    return table.model_copy(update=update)


def asks_clock(table: DecisionTable, row: DecisionRow) -> bool:
    """Whether a row uses the time of the decision. Raises RuleInvalid."""
    (compiled,) = compile_table(alone(table, (row,))).rows
    return any(
        node.op == "call" and FUNCTIONS[str(node.value)].clock
        for tree in (*compiled.tests, *compiled.outputs)
        for node in tree.walk()
    )


def _completed(table: DecisionTable, row: DecisionRow, example: Inputs) -> dict[str, JsonValue]:
    """Return the example with null, or an allowed value, for inputs without a condition.

    An example that suffices stays as it is: a column may be computed from what it contains.
    """
    given = {one_line(name): value for name, value in example.items()}
    with suppress(RuleInvalid):
        decide(alone(table, (row,)), given)
        return given
    left = [
        column
        for column, cell in zip(table.inputs, row.inputs, strict=True)
        if column.name not in given and cell == ANY
    ]
    bound = any(column.allowed for column in left)
    fitting: Inputs = (witness(table, row.id) if bound else None) or {}
    return given | {column.name: fitting.get(column.name) for column in left}


def _unfit(table: DecisionTable, inputs: Inputs) -> str:
    (row,) = decide(table, inputs).rows
    return joined(
        Message(
            "learn.cell_unfit",
            column=cell.column,
            value=cell.value,
            test=cell.test,
            why=Message("learn.because", why=cell.why) if cell.why else "",
        )
        for cell in row.cells
        if not cell.holds
    )


def _decides(decided: Decided, table: DecisionTable, row: DecisionRow) -> bool:
    """Whether the row counts, or the rows that do say the same."""
    if row.id in decided.fired:
        return True
    said = {other.id: other.outputs for other in table.rows}
    return any(said[row_id] == row.outputs for row_id in decided.fired)

"""A drafted rule made into a new decision table: several rows stay several rows."""

from __future__ import annotations

from collections.abc import Callable

from core.decision_table.cells import one_line
from core.decision_table.columns import (
    by_column,
    column_types,
    input_columns,
    name_problems,
    output_columns,
)
from core.decision_table.document.xml import fresh_id
from core.decision_table.editing.rows import merge_row
from core.decision_table.problems import refuse
from core.domain.messages import Message
from core.domain.models import DecisionTable, HitPolicy, RuleDraft


def draft_to_table(draft: RuleDraft, *, new_row_id: Callable[[], str]) -> DecisionTable:
    """Build a new table from a draft; each row gets an id from `new_row_id`, made fit for XML.

    Omitted columns are those that the rows name, in order of first appearance. An omitted condition
    is `-`. Without a hit policy the table is UNIQUE, the default of the standard. Raises
    RuleInvalid listing all problems.
    """
    name = one_line(draft.name)
    problems = name_problems(name, Message("draft.the_table"))
    conditions = [by_column(row.inputs) for row in draft.rows]
    results = [by_column(row.outputs) for row in draft.rows]
    inputs = column_types(draft.inputs, conditions, problems)
    outputs = column_types(draft.outputs, results, problems)
    problems += _missing(draft, inputs, outputs)
    taken: set[str] = set()
    rows = []
    for number, edit in enumerate(draft.rows, 1):
        row_id = fresh_id(new_row_id, taken)
        label = Message("draft.row", n=number)
        rows.append(merge_row(edit, label, list(inputs), list(outputs), problems, row_id=row_id))
    refuse(problems, hint=Message("draft.hint_row"))
    return DecisionTable(
        name=name,
        hit_policy=draft.hit_policy or HitPolicy.UNIQUE,
        inputs=tuple(input_columns(inputs, draft.inputs)),
        outputs=tuple(output_columns(outputs, draft.outputs)),
        rows=tuple(rows),
    )


def _missing(draft: RuleDraft, inputs: dict[str, str], outputs: dict[str, str]) -> list[str]:
    checks = (
        (draft.rows, Message("draft.no_row")),
        (inputs, Message("draft.no_input")),
        (outputs, Message("draft.no_output")),
        (not draft.remove_rows, Message("draft.removes")),
        (not any(row.before for row in draft.rows), Message("draft.before")),
    )
    return [problem for fine, problem in checks if not fine]

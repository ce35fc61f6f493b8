"""Evaluation of a decision table (DMN 1.3, clause 8): a case in, outputs and reasons out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import JsonValue

from core.decision_table.column_types import ANY_TYPE
from core.decision_table.evaluation.coerce import value_type
from core.decision_table.evaluation.compiled import CompiledRow, CompiledTable, compile_table
from core.decision_table.evaluation.decided import CellOutcome, Decided, RowOutcome
from core.decision_table.evaluation.given import Given, read_given
from core.decision_table.evaluation.hits import Hit, aggregate, choose
from core.decision_table.feel import Node, Scope, Value, evaluate, holds, to_text
from core.decision_table.feel.values import NoValue, kind_of
from core.decision_table.problems import refuse
from core.models import DecisionRow, DecisionTable


def decide(
    table: DecisionTable, inputs: Mapping[str, JsonValue], *, now: datetime | None = None
) -> Decided:
    """Decide a case: `inputs` is input column -> JSON value; `now` serves `now()` and `today()`.

    A column may be left out where it is an expression over other names that are given. Where no
    row matches, the defaults of the outputs stand in, if there are any. Raises RuleInvalid for
    cells that are no FEEL, for inputs that are missing, unknown, of another type or not allowed,
    for outputs of another type or not allowed, and for a violated hit policy.
    """
    compiled = compile_table(table)
    given = read_given(table, inputs, compiled.used, now)
    _check_inputs(table, compiled, given)
    texts = [to_text(value) for value in given.columns]
    outcomes = tuple(
        _row(table, row, source, given, texts, now)
        for row, source in zip(compiled.rows, table.rows, strict=True)
    )
    notes: list[str] = []
    hits = [
        Hit(row.id, _outputs(table, row.outputs, given.names, now, notes, f"row '{row.id}'"))
        for row, outcome in zip(compiled.rows, outcomes, strict=True)
        if outcome.matches
    ]
    for hit in hits:
        _check_outputs(table, compiled, hit.outputs, f"row '{hit.row}'")
    chosen = choose(table, hits, compiled.allowed_outputs)
    outputs, defaulted = _result(table, compiled, chosen, notes)
    return Decided(
        decision=table.name,
        hit_policy=table.hit_policy,
        aggregation=table.aggregation,
        outputs=tuple(outputs),
        fired=tuple(hit.row for hit in chosen),
        rows=outcomes,
        defaulted=defaulted,
        notes=tuple(notes),
    )


def _row(
    table: DecisionTable,
    row: CompiledRow,
    source: DecisionRow,
    given: Given,
    texts: Sequence[str],
    now: datetime | None,
) -> RowOutcome:
    cells = []
    for place, column in enumerate(table.inputs):
        scope = Scope(given.names, given.columns[place], now)
        outcome = holds(row.tests[place], scope)
        why = "" if outcome else "; ".join(dict.fromkeys(scope.notes))
        cells.append(CellOutcome(column.name, source.inputs[place], texts[place], outcome, why))
    return RowOutcome(row.id, tuple(cells))


def _outputs(
    table: DecisionTable,
    nodes: Sequence[Node | None],
    values: Mapping[str, Value],
    now: datetime | None,
    notes: list[str],
    where: str,
) -> dict[str, Value]:
    outputs: dict[str, Value] = {}
    for column, node in zip(table.outputs, nodes, strict=True):
        scope = Scope(values, now=now)
        outputs[column.name] = None if node is None else evaluate(node, scope)
        notes += [f"{where}, output '{column.name}': {note}" for note in scope.notes]
    return outputs


def _result(
    table: DecisionTable, compiled: CompiledTable, chosen: Sequence[Hit], notes: list[str]
) -> tuple[list[Mapping[str, Value]], bool]:
    if not chosen and any(compiled.defaults):
        defaults = _outputs(table, compiled.defaults, {}, None, notes, "the default")
        _check_outputs(table, compiled, defaults, "the default")
        return [defaults], True
    if table.aggregation:
        combined = aggregate(table, chosen)
        return ([] if combined is None else [combined]), False
    return [hit.outputs for hit in chosen], False


def _check_inputs(table: DecisionTable, compiled: CompiledTable, given: Given) -> None:
    refuse(
        [
            f"the input '{column.name}' is {to_text(value)}, "
            f"which is none of its allowed values: {column.allowed}"
            for column, value, allowed in zip(
                table.inputs, given.columns, compiled.allowed_inputs, strict=True
            )
            if allowed and not holds(allowed, Scope(subject=value))
        ]
    )


def _check_outputs(
    table: DecisionTable, compiled: CompiledTable, outputs: Mapping[str, Value], where: str
) -> None:
    problems = []
    for column, allowed in zip(table.outputs, compiled.allowed_outputs, strict=True):
        value = outputs[column.name]
        if value is None:
            continue
        if problem := _type_problem(value, column.type):
            problems.append(f"{where} gives '{column.name}' {to_text(value)}: {problem}")
        elif allowed and not holds(allowed, Scope(subject=value)):
            problems.append(
                f"{where} gives '{column.name}' {to_text(value)}, "
                f"which is none of its allowed values: {column.allowed}"
            )
    refuse(problems)


def _type_problem(value: Value, type_name: str) -> str | None:
    try:
        wanted = value_type(type_name)
    except NoValue as reason:
        return str(reason)
    found = kind_of(value)
    return None if wanted in (ANY_TYPE, found) else f"{found} stands where {wanted} is needed"

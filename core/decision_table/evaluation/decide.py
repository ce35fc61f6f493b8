"""Evaluation of a decision table (DMN 1.3, clause 8): a case in, outputs and reasons out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, DecimalException
from functools import lru_cache

from pydantic import JsonValue

from core.decision_table.columns import ANY_TYPE
from core.decision_table.evaluation.compiled import CompiledRow, CompiledTable, compile_table
from core.decision_table.evaluation.given import Given, read_given, value_type
from core.decision_table.feel import Node, Scope, Value, evaluate, holds, to_json, to_text
from core.decision_table.feel.compare import same
from core.decision_table.feel.functions.lists import extreme, total
from core.decision_table.feel.values import NoValue, kind_of
from core.decision_table.problems import INPUT, OUTPUT, listing, refuse, row_named
from core.domain.errors import RuleInvalid
from core.domain.messages import Message, joined, said
from core.domain.models import Aggregation, DecisionRow, DecisionTable, HitPolicy


@dataclass(frozen=True)
class CellOutcome:
    """One test against one value, both as FEEL; `why` says what left `holds` at None."""

    column: str
    test: str
    value: str
    holds: bool | None
    why: str


@dataclass(frozen=True)
class RowOutcome:
    """A row matches if all its cells hold."""

    id: str
    cells: tuple[CellOutcome, ...]

    @property
    def matches(self) -> bool:
        """Whether all cells hold."""
        return all(cell.holds for cell in self.cells)


@dataclass(frozen=True)
class Decided:
    """The outcome of a decision.

    `fired` are the ids of the rows that the hit policy selects, in its order; `outputs` are output
    column -> value, one mapping per row, or a single one if values are aggregated or the table's
    defaults apply (`defaulted`). `notes` say why outputs came to null.
    """

    decision: str
    hit_policy: HitPolicy
    aggregation: Aggregation | None
    outputs: tuple[Mapping[str, Value], ...]
    fired: tuple[str, ...]
    rows: tuple[RowOutcome, ...]
    defaulted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def many(self) -> bool:
        """Whether the hit policy returns a list (DMN 1.3, 8.2.10): R, O, and C without a sign."""
        collects = self.hit_policy is HitPolicy.COLLECT and self.aggregation is None
        return collects or self.hit_policy in (HitPolicy.RULE_ORDER, HitPolicy.OUTPUT_ORDER)

    @property
    def result(self) -> JsonValue:
        """The outputs for JSON: an object or null, or a list of objects, empty or not."""
        objects: list[JsonValue] = [
            {name: to_json(value) for name, value in output.items()} for output in self.outputs
        ]
        if self.many and not self.defaulted:
            return objects
        return objects[0] if objects else None


@dataclass(frozen=True)
class Hit:
    """A matching row, with output column -> value."""

    row: str
    outputs: Mapping[str, Value]


Allowed = Sequence[Node | None]


def choose(table: DecisionTable, hits: Sequence[Hit], allowed: Allowed) -> list[Hit]:
    """Return the hits that count. `allowed` are the output values, in column order.

    Raises RuleInvalid naming the rows if UNIQUE or ANY is violated, and if PRIORITY or OUTPUT ORDER
    find no output values to order by.
    """
    choice = _POLICIES.get(table.hit_policy)
    return choice(table, hits, allowed) if choice else list(hits)


def aggregate(table: DecisionTable, hits: Sequence[Hit]) -> Mapping[str, Value] | None:
    """Return the one output of C+, C#, C< or C>: null without hits, as the standard's `sum([])`.

    Counting returns 0. Raises RuleInvalid for several outputs, and for values that do not add up.
    """
    assert table.aggregation is not None
    if len(table.outputs) != 1:
        raise RuleInvalid(Message("table.aggregates_one", aggregation=table.aggregation))
    name = table.outputs[0].name
    values = tuple(hit.outputs[name] for hit in hits)
    if table.aggregation is Aggregation.COUNT:
        return {name: Decimal(len(values))}
    if not values:
        return None
    try:
        if table.aggregation is Aggregation.SUM:
            return {name: total(values)}
        return {name: extreme(values, largest=table.aggregation is Aggregation.MAX)}
    except (NoValue, DecimalException) as error:
        rows = listing([hit.row for hit in hits])
        raise RuleInvalid(
            Message(
                "table.aggregation_wrong",
                aggregation=table.aggregation,
                column=name,
                rows=rows,
                why=error,
            )
        ) from error


def _unique(_table: DecisionTable, hits: Sequence[Hit], _allowed: Allowed) -> list[Hit]:
    if len(hits) > 1:
        raise RuleInvalid(
            Message("table.unique_broken", rows=listing([hit.row for hit in hits])),
            hint=Message("table.hint_unique"),
        )
    return list(hits)


def _any(table: DecisionTable, hits: Sequence[Hit], _allowed: Allowed) -> list[Hit]:
    for hit in hits[1:]:
        for column in table.outputs:
            first, other = hits[0].outputs[column.name], hit.outputs[column.name]
            if not same(first, other):
                raise RuleInvalid(
                    Message(
                        "table.any_broken",
                        one=hits[0].row,
                        other=hit.row,
                        column=column.name,
                        first=to_text(first),
                        second=to_text(other),
                    )
                )
    return list(hits)


def _first(_table: DecisionTable, hits: Sequence[Hit], _allowed: Allowed) -> list[Hit]:
    return list(hits[:1])


def _priority(table: DecisionTable, hits: Sequence[Hit], allowed: Allowed) -> list[Hit]:
    return _ordered(table, hits, allowed)[:1]


def _ordered(table: DecisionTable, hits: Sequence[Hit], allowed: Allowed) -> list[Hit]:
    """Sort by the position of each output in its output values, the first column first."""
    ranked = {
        column.name: tests.parts
        for column, tests in zip(table.outputs, allowed, strict=True)
        if tests is not None
    }
    if not ranked:
        raise RuleInvalid(Message("table.policy_needs_allowed", policy=table.hit_policy))
    return sorted(hits, key=lambda hit: [_rank(hit.outputs[name], ranked[name]) for name in ranked])


def _rank(value: Value, tests: tuple[Node, ...]) -> int:
    scope = Scope(subject=value)
    positions = (
        position for position, test in enumerate(tests) if holds(Node("tests", (test,)), scope)
    )
    return next(positions, len(tests))


_POLICIES: dict[HitPolicy, Callable[[DecisionTable, Sequence[Hit], Allowed], list[Hit]]] = {
    HitPolicy.UNIQUE: _unique,
    HitPolicy.ANY: _any,
    HitPolicy.FIRST: _first,
    HitPolicy.PRIORITY: _priority,
    HitPolicy.OUTPUT_ORDER: _ordered,
}


def decide(
    table: DecisionTable, inputs: Mapping[str, JsonValue], *, now: datetime | None = None
) -> Decided:
    """Decide a case: `inputs` is input column -> JSON value; `now` serves `now()` and `today()`.

    A column may be omitted if it is an expression over other names that are given. If no row
    matches, the defaults of the outputs apply, if there are any. Raises RuleInvalid for cells that
    are not FEEL, for inputs that are missing, unknown, of another type or not allowed, for outputs
    of another type or not allowed, for values beyond what is kept here, and for a violated hit
    policy.
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
        Hit(row.id, _outputs(table, row.outputs, given.names, now, notes, row.id))
        for row, outcome in zip(compiled.rows, outcomes, strict=True)
        if outcome.matches
    ]
    for hit in hits:
        _check_outputs(table, compiled, hit.outputs, hit.row)
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
    for position, column in enumerate(table.inputs):
        scope = Scope(given.names, given.columns[position], now)
        outcome = holds(row.tests[position], scope)
        _check_kept(scope, INPUT, row.id, column.name)
        why = "" if outcome else _reasons(tuple(scope.notes))
        cells.append(
            CellOutcome(column.name, source.inputs[position], texts[position], outcome, why)
        )
    return RowOutcome(row.id, tuple(cells))


def _check_kept(scope: Scope, side: Message, row_id: str | None, column: str) -> None:
    """Raise RuleInvalid where a cell needs a value that is not kept here, as a date in 10000."""
    refuse(
        [
            Message("table.beyond", where=_where(row_id), side=side, column=column, why=why)
            for why in dict.fromkeys(scope.beyond)
        ]
    )


# Kept, as cells fail for the same few reasons: putting messages in a row takes 3 µs.
@lru_cache(maxsize=1024)
def _reasons(notes: tuple[str, ...]) -> str:
    return joined(dict.fromkeys(notes))


def _outputs(
    table: DecisionTable,
    nodes: Sequence[Node | None],
    values: Mapping[str, Value],
    now: datetime | None,
    notes: list[str],
    row_id: str | None,
) -> dict[str, Value]:
    outputs: dict[str, Value] = {}
    for column, node in zip(table.outputs, nodes, strict=True):
        scope = Scope(values, now=now)
        outputs[column.name] = None if node is None else evaluate(node, scope)
        _check_kept(scope, OUTPUT, row_id, column.name)
        notes += [
            Message("table.output_wrong", where=_where(row_id), column=column.name, why=note)
            for note in scope.notes
        ]
    return outputs


def _result(
    table: DecisionTable, compiled: CompiledTable, chosen: Sequence[Hit], notes: list[str]
) -> tuple[list[Mapping[str, Value]], bool]:
    if not chosen and any(compiled.defaults):
        defaults = _outputs(table, compiled.defaults, {}, None, notes, None)
        _check_outputs(table, compiled, defaults, None)
        return [defaults], True
    if table.aggregation:
        combined = aggregate(table, chosen)
        return ([] if combined is None else [combined]), False
    return [hit.outputs for hit in chosen], False


def _check_inputs(table: DecisionTable, compiled: CompiledTable, given: Given) -> None:
    refuse(
        [
            Message(
                "table.input_not_allowed",
                column=column.name,
                value=to_text(value),
                allowed=column.allowed,
            )
            for column, value, allowed in zip(
                table.inputs, given.columns, compiled.allowed_inputs, strict=True
            )
            if allowed and not holds(allowed, Scope(subject=value))
        ]
    )


def _check_outputs(
    table: DecisionTable, compiled: CompiledTable, outputs: Mapping[str, Value], row_id: str | None
) -> None:
    problems = []
    for column, allowed in zip(table.outputs, compiled.allowed_outputs, strict=True):
        value = outputs[column.name]
        if value is None:
            continue
        if problem := _type_problem(value, column.type):
            problems.append(
                Message(
                    "table.output_unfit",
                    where=_where(row_id),
                    column=column.name,
                    value=to_text(value),
                    why=problem,
                )
            )
        elif allowed and not holds(allowed, Scope(subject=value)):
            problems.append(
                Message(
                    "table.output_not_allowed",
                    where=_where(row_id),
                    column=column.name,
                    value=to_text(value),
                    allowed=column.allowed,
                )
            )
    refuse(problems)


def _where(row_id: str | None) -> Message:
    return row_named(row_id) if row_id is not None else Message("table.default")


def _type_problem(value: Value, type_name: str) -> str | None:
    try:
        wanted = value_type(type_name)
    except NoValue as reason:
        return said(reason)
    found = kind_of(value)
    if wanted in (ANY_TYPE, found):
        return None
    return Message("table.type_needed", found=found, wanted=wanted)

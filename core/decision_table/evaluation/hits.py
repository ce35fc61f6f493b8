"""Hit policies (DMN 1.3, 8.2.10): which of the rows that match count, and in what order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, DecimalException

from core.decision_table.feel import Node, Scope, Value, holds, to_text
from core.decision_table.feel.compare import same
from core.decision_table.feel.functions.lists import extreme, total
from core.decision_table.feel.values import NoValue
from core.decision_table.problems import listing
from core.errors import RuleInvalid
from core.models import Aggregation, DecisionTable, HitPolicy


@dataclass(frozen=True)
class Hit:
    """A row that matches, with output column -> value."""

    row: str
    outputs: Mapping[str, Value]


Allowed = Sequence[Node | None]


def choose(table: DecisionTable, hits: Sequence[Hit], allowed: Allowed) -> list[Hit]:
    """Give the hits that count. `allowed` are the output values, in column order.

    Raises RuleInvalid that names the rows where UNIQUE or ANY is violated, and where PRIORITY or
    OUTPUT ORDER find no output values to order by.
    """
    choice = _POLICIES.get(table.hit_policy)
    return choice(table, hits, allowed) if choice else list(hits)


def aggregate(table: DecisionTable, hits: Sequence[Hit]) -> Mapping[str, Value] | None:
    """Give the one output of C+, C#, C< or C>: null without hits, as the standard's `sum([])`.

    Counting gives 0. Raises RuleInvalid for several outputs, and for values that do not add up.
    """
    if len(table.outputs) != 1:
        raise RuleInvalid(f"{table.aggregation} aggregates one output; there are several")
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
        raise RuleInvalid(f"{table.aggregation} of '{name}' over rows {rows}: {error}") from error


def _unique(_table: DecisionTable, hits: Sequence[Hit], _allowed: Allowed) -> list[Hit]:
    if len(hits) > 1:
        raise RuleInvalid(
            f"rows {listing([hit.row for hit in hits])} all match, and UNIQUE allows one",
            hint="Make their conditions exclude each other, or choose another hit policy.",
        )
    return list(hits)


def _any(table: DecisionTable, hits: Sequence[Hit], _allowed: Allowed) -> list[Hit]:
    for hit in hits[1:]:
        for column in table.outputs:
            first, other = hits[0].outputs[column.name], hit.outputs[column.name]
            if not same(first, other):
                raise RuleInvalid(
                    f"rows '{hits[0].row}' and '{hit.row}' both match, and under ANY their "
                    f"outputs have to be equal: '{column.name}' is {to_text(first)} and "
                    f"{to_text(other)}"
                )
    return list(hits)


def _first(_table: DecisionTable, hits: Sequence[Hit], _allowed: Allowed) -> list[Hit]:
    return list(hits[:1])


def _priority(table: DecisionTable, hits: Sequence[Hit], allowed: Allowed) -> list[Hit]:
    return _ordered(table, hits, allowed)[:1]


def _ordered(table: DecisionTable, hits: Sequence[Hit], allowed: Allowed) -> list[Hit]:
    """Sort by the place of each output in its output values, the first column first."""
    ranked = {
        column.name: tests.parts
        for column, tests in zip(table.outputs, allowed, strict=True)
        if tests is not None
    }
    if not ranked:
        raise RuleInvalid(
            f"{table.hit_policy} orders by the allowed values of an output, and none has any"
        )
    return sorted(hits, key=lambda hit: [_rank(hit.outputs[name], ranked[name]) for name in ranked])


def _rank(value: Value, tests: tuple[Node, ...]) -> int:
    scope = Scope(subject=value)
    places = (place for place, test in enumerate(tests) if holds(Node("tests", (test,)), scope))
    return next(places, len(tests))


_POLICIES: dict[HitPolicy, Callable[[DecisionTable, Sequence[Hit], Allowed], list[Hit]]] = {
    HitPolicy.UNIQUE: _unique,
    HitPolicy.ANY: _any,
    HitPolicy.FIRST: _first,
    HitPolicy.PRIORITY: _priority,
    HitPolicy.OUTPUT_ORDER: _ordered,
}

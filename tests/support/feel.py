"""FEEL expressions and small tables, evaluated for tests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from core.decision_table.feel import Scope, evaluate, parse_expression, to_text
from core.domain.models import (
    Aggregation,
    DecisionRow,
    DecisionTable,
    HitPolicy,
    InputColumn,
    OutputColumn,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def comes_to(text: str) -> str:
    """Return the value of an expression, as FEEL writes it."""
    return to_text(evaluate(parse_expression(text), Scope(now=NOW)))


def reason(text: str) -> str:
    """Return why an expression evaluated to null."""
    scope = Scope(now=NOW)
    assert evaluate(parse_expression(text), scope) is None, text
    return "; ".join(scope.notes)


def small_table(
    policy: HitPolicy,
    inputs: Sequence[InputColumn],
    outputs: Sequence[OutputColumn],
    *rows: tuple[Sequence[str], Sequence[str]],
    aggregation: Aggregation | None = None,
) -> DecisionTable:
    """Return a table; its rows are `r1`, `r2`, ... of input cells and output cells."""
    return DecisionTable(
        name="표",
        hit_policy=policy,
        aggregation=aggregation,
        inputs=tuple(inputs),
        outputs=tuple(outputs),
        rows=tuple(
            DecisionRow(id=f"r{number}", inputs=tuple(tests), outputs=tuple(values))
            for number, (tests, values) in enumerate(rows, 1)
        ),
    )

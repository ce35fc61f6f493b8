"""The answer of a decision table, for people and as data: outputs, rows, and why."""

from __future__ import annotations

from pydantic import JsonValue

from core.cli.output import print_table, say
from core.decision_table import CellOutcome, Decided, RowOutcome
from core.decision_table.feel import to_text
from core.safe_text import one_line

_PASSES = {True: "yes", False: "no", None: "unknown"}


def as_data(decided: Decided) -> dict[str, JsonValue]:
    """Give a decision as JSON; `outputs` is an object, a list of objects, or null."""
    return {
        "decision": decided.decision,
        "hit_policy": decided.hit_policy.value,
        "aggregation": decided.aggregation.value if decided.aggregation else None,
        "outputs": decided.result,
        "fired": list(decided.fired),
        "defaulted": decided.defaulted,
        "notes": list(decided.notes),
        "rows": [_row(decided, row) for row in decided.rows],
    }


def show_decided(decided: Decided) -> None:
    """Print the outputs, the rows that fired, and each cell with its outcome."""
    policy = " ".join(filter(None, (decided.hit_policy, decided.aggregation)))
    say(f"{one_line(decided.decision)} ({policy})")
    for output in decided.outputs:
        say(one_line(", ".join(f"{name} = {to_text(value)}" for name, value in output.items())))
    if not decided.outputs:
        say("null")
    say(one_line(f"fired: {', '.join(decided.fired) or _none(decided)}"))
    for note in decided.notes:
        say(one_line(f"note: {note}"))
    say("")
    print_table(
        ("ROW", "FIRED", "INPUT", "VALUE", "TEST", "PASSES", "WHY"),
        [
            (row.id, _fired(decided, row), c.column, c.value, c.test, _PASSES[c.holds], c.why)
            for row in decided.rows
            for c in row.cells
        ],
    )


def _none(decided: Decided) -> str:
    return "no row; the defaults stand in" if decided.defaulted else "no row"


def _fired(decided: Decided, row: RowOutcome) -> str:
    if row.id in decided.fired:
        return "yes"
    return "matches, does not count" if row.matches else "no"


def _row(decided: Decided, row: RowOutcome) -> JsonValue:
    return {
        "id": row.id,
        "matches": row.matches,
        "fired": row.id in decided.fired,
        "cells": [_cell(cell) for cell in row.cells],
    }


def _cell(cell: CellOutcome) -> JsonValue:
    return {
        "column": cell.column,
        "test": cell.test,
        "value": cell.value,
        "holds": cell.holds,
        "why": cell.why,
    }

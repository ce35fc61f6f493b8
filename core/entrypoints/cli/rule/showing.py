"""The answer of a decision table, for people and as data: outputs, rows, and why."""

from __future__ import annotations

from pydantic import JsonValue

from core.decision_table import CellOutcome, Decided, RowOutcome
from core.decision_table.feel import to_text
from core.domain.text import one_line
from core.entrypoints.cli.output import print_table, say

_SHOWN = 20
_PASSES = {True: "yes", False: "no", None: "unknown"}


def as_data(decided: Decided) -> dict[str, JsonValue]:
    """Return a decision as JSON; `outputs` is an object, a list of objects, or null."""
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
    """Print the outputs, the rows that fired, and each cell with its outcome.

    Of a large table only the rows are shown that fired, matched, or missed by the fewest cells.
    """
    policy = " ".join(filter(None, (decided.hit_policy, decided.aggregation)))
    say(f"{one_line(decided.decision)} ({policy})")
    for output in decided.outputs[:_SHOWN]:
        say(one_line(", ".join(f"{name} = {to_text(value)}" for name, value in output.items())))
    _more(len(decided.outputs) - _SHOWN, "more")
    if not decided.outputs:
        say("[]" if decided.many else "null")
    fired = [*decided.fired[:_SHOWN], *(["…"] if len(decided.fired) > _SHOWN else [])]
    say(one_line(f"fired: {', '.join(fired) or _none(decided)}"))
    for note in decided.notes[:_SHOWN]:
        say(one_line(f"note: {note}"))
    _more(len(decided.notes) - _SHOWN, "more notes")
    say("")
    shown, left = _nearest(decided)
    print_table(
        ("ROW", "FIRED", "INPUT", "VALUE", "TEST", "PASSES", "WHY"),
        [
            (row.id, _fired(decided, row), c.column, c.value, c.test, _PASSES[c.holds], c.why)
            for row in shown
            for c in row.cells
        ],
    )
    matching = sum(row.matches for row in left)
    _more(matching, "more rows matched" if matching > 1 else "more row matched")
    missing = len(left) - matching
    _more(missing, "more rows did not match" if missing > 1 else "more row did not match")


def _nearest(decided: Decided) -> tuple[list[RowOutcome], list[RowOutcome]]:
    """Return the rows to show, in table order, and the others."""
    fired = set(decided.fired)

    def distance(index: int) -> tuple[bool, int]:
        row = decided.rows[index]
        return row.id not in fired, sum(not cell.holds for cell in row.cells)

    near = set(sorted(range(len(decided.rows)), key=distance)[:_SHOWN])
    shown = [row for index, row in enumerate(decided.rows) if index in near]
    return shown, [row for index, row in enumerate(decided.rows) if index not in near]


def _more(number: int, what: str) -> None:
    if number > 0:
        say(f"… {number:,} {what} (--json shows all)")


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

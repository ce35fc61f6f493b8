"""Decision tables as plain text: a grid for terminals, and one line per row for search."""

from __future__ import annotations

import unicodedata

from core.domain.models import Aggregation, DecisionRow, DecisionTable, HitPolicy

_LETTERS = {
    HitPolicy.UNIQUE: "U",
    HitPolicy.ANY: "A",
    HitPolicy.PRIORITY: "P",
    HitPolicy.FIRST: "F",
    HitPolicy.RULE_ORDER: "R",
    HitPolicy.OUTPUT_ORDER: "O",
    HitPolicy.COLLECT: "C",
}


_SIGNS = {
    Aggregation.SUM: "+",
    Aggregation.COUNT: "#",
    Aggregation.MIN: "<",
    Aggregation.MAX: ">",
    None: "",
}


def render_table(table: DecisionTable) -> list[list[str]]:
    """Return a table as lines of cells, the head first: hit policy, inputs, outputs, annotation.

    The first cell of a row is its id.
    """
    head = [
        _LETTERS[table.hit_policy] + _SIGNS[table.aggregation],
        *(f"{column.name} ({column.type})" for column in table.inputs),
        *(f"→ {column.name} ({column.type})" for column in table.outputs),
        "annotation",
    ]
    return [head, *([row.id, *row.inputs, *row.outputs, row.annotation] for row in table.rows)]


def render_text(table: DecisionTable, *, most: int | None = None) -> str:
    """Return a table in columns for a terminal, wide (Korean) characters counted as two.

    Of a table with more rows than `most` the first are shown, and how many more there are.
    """
    left = 0 if most is None else max(0, len(table.rows) - most)
    if left:
        table = table.model_copy(update={"rows": table.rows[:most]})
    lines = [[" ".join(cell.split()) for cell in line] for line in render_table(table)]
    widths = [max(display_width(cell) for cell in column) for column in zip(*lines, strict=True)]
    rule = "─┼─".join("─" * width for width in widths)
    grid = [
        " │ ".join(_pad(cell, width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    head, *rows = [line.rstrip() for line in grid]
    more = [f"… {left:,} more rows"] if left else []
    return "\n".join([f"{table.name} ({table.hit_policy})", head, rule, *rows, *more])


def search_text(table: DecisionTable) -> str:
    """Return a table as sentences for the search index: its name, then one line per row."""
    return "\n".join([table.name, *(_sentence(table, row) for row in table.rows)])


def display_width(text: str) -> int:
    """Return the number of terminal cells that a text takes."""
    return sum(_width(char) for char in unicodedata.normalize("NFC", text))


def _width(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf", "Cc"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _pad(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


def _sentence(table: DecisionTable, row: DecisionRow) -> str:
    conditions = " and ".join(
        f"{column.name} {cell}"
        for column, cell in zip(table.inputs, row.inputs, strict=True)
        if cell != "-"
    )
    results = ", ".join(
        f"{column.name} {cell}" for column, cell in zip(table.outputs, row.outputs, strict=True)
    )
    return f"{row.annotation}: {conditions or 'else'} → {results}".removeprefix(": ")

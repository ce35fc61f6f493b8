"""A decision table for people: as lines to compare, and as columns to print."""

from __future__ import annotations

from core.decision_table.xml import parse_xml
from core.errors import RuleInvalid
from core.models import DecisionTable


def table_lines(xml: str) -> list[str]:
    """Give a table as Markdown lines; XML that does not parse as its own lines."""
    try:
        table = parse_xml(xml)
    except RuleInvalid:
        return xml.splitlines()
    head, *rows = grid(table)
    return [
        f"{table.name} ({table.hit_policy})",
        _line(head),
        _line(tuple("---" for _ in head)),
        *map(_line, rows),
    ]


def grid(table: DecisionTable) -> list[tuple[str, ...]]:
    """Give the heading and the rows as cells: inputs, outputs, annotation."""
    inputs = [f"if {column.name}" for column in table.inputs]
    outputs = [f"then {column.name}" for column in table.outputs]
    return [
        (*inputs, *outputs, "in words"),
        *((*row.inputs, *row.outputs, row.annotation) for row in table.rows),
    ]


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"

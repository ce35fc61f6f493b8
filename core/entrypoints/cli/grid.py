"""Decision tables for people: as a grid to read, and as lines to compare."""

from __future__ import annotations

from core.decision_table import parse_xml, render_table, render_text
from core.domain.errors import RuleInvalid

_SHOWN = 200


def table_text(xml: str) -> str:
    """Return a table as a grid of its first 200 rows; XML that does not parse unchanged."""
    try:
        table = parse_xml(xml)
    except RuleInvalid:
        return xml
    text = render_text(table, most=_SHOWN)
    return f"{text} (--json shows all)" if len(table.rows) > _SHOWN else text


def table_lines(xml: str) -> list[str]:
    """Return a table as one line per row, so that a changed row moves no other."""
    try:
        table = parse_xml(xml)
    except RuleInvalid:
        return xml.splitlines()
    rows = [" | ".join(" ".join(cell.split()) for cell in row) for row in render_table(table)]
    return [f"{table.name} ({table.hit_policy})", *rows]

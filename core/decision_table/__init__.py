"""Decision tables: DMN 1.3 XML in and out, row edits by splice, evaluation, text for people."""

from core.decision_table.compare import same_table
from core.decision_table.decide import decide
from core.decision_table.decided import CellOutcome, Decided, RowOutcome
from core.decision_table.draft import draft_to_table
from core.decision_table.edits import edit_xml
from core.decision_table.render import display_width, render_table, render_text, search_text
from core.decision_table.xml import parse_xml, to_xml

__all__ = [
    "CellOutcome",
    "Decided",
    "RowOutcome",
    "decide",
    "display_width",
    "draft_to_table",
    "edit_xml",
    "parse_xml",
    "render_table",
    "render_text",
    "same_table",
    "search_text",
    "to_xml",
]

"""Decision tables: DMN XML in (1.1 to 1.5) and out, row edits by splice, evaluation, checks.

It may import `domain`.
Begin with `document/xml.py`, then `evaluation/decide.py` and `checks/check.py`.
"""

from core.decision_table.checks.check import check_table, witness
from core.decision_table.document.aside import not_evaluated
from core.decision_table.document.tables import ReadTable, parse_tables, read_xml, same_table
from core.decision_table.document.xml import parse_xml, to_xml
from core.decision_table.editing.draft import draft_to_table
from core.decision_table.editing.edits import edit_xml
from core.decision_table.evaluation.decide import CellOutcome, Decided, RowOutcome, decide
from core.decision_table.evaluation.given import InputsMissing
from core.decision_table.render import display_width, render_table, render_text, search_text

__all__ = [
    "CellOutcome",
    "Decided",
    "InputsMissing",
    "ReadTable",
    "RowOutcome",
    "check_table",
    "decide",
    "display_width",
    "draft_to_table",
    "edit_xml",
    "not_evaluated",
    "parse_tables",
    "parse_xml",
    "read_xml",
    "render_table",
    "render_text",
    "same_table",
    "search_text",
    "to_xml",
    "witness",
]

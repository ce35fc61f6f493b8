"""Whether what is about to be recorded repeats an item that was written meanwhile."""

from __future__ import annotations

from core.decision_table import parse_xml
from core.errors import RuleInvalid
from core.knowledge_conflicts.rules import beside
from core.knowledge_conflicts.texts import is_repeated
from core.models import Change, Kind, Relationship


def repeats(change: Change, content: str) -> bool:
    """Compare what a change writes with the text, or the DMN document, of another item."""
    if change.after is None:
        return False
    if change.kind is Kind.DMN_RULE:
        return _share_columns(change.after.content, content)
    unrelated = change.relationship is Relationship.UNRELATED
    return is_repeated(change.after.content, content, unrelated=unrelated)


def _share_columns(xml: str, other: str) -> bool:
    """Tell whether tables have the same columns; one that cannot be read has none."""
    try:
        return beside(parse_xml(xml), parse_xml(other)) is not None
    except RuleInvalid:
        return False

"""All decision tables of a document, each read by itself, so that a broken one hides no other."""

from __future__ import annotations

from dataclasses import dataclass

from core.decision_table.document.reading import NO_TABLE, read_document, tag
from core.decision_table.document.xml import decision_name, read_table
from core.errors import RuleInvalid
from core.models import DecisionTable


@dataclass(frozen=True)
class ReadTable:
    """A table by the name of its decision; `problem` says why it could not be read."""

    decision: str
    table: DecisionTable | None = None
    problem: str = ""


def parse_tables(text: str) -> tuple[ReadTable, ...]:
    """Read all decision tables of a DMN 1.3 document, in its order.

    A table that stands in no decision (but in a function, say) is told as a problem. Raises
    RuleInvalid where the document cannot be read, or holds no table.
    """
    found = []
    for element in read_document(text).iter(tag("decisionTable")):
        parent = element.getparent()
        if parent is None or parent.tag != tag("decision"):
            problem = f"the decision table on line {element.sourceline} is in no decision"
            found.append(ReadTable("", problem=problem))
            continue
        name = decision_name(element)
        try:
            found.append(ReadTable(name, read_table(element)))
        except RuleInvalid as error:
            found.append(ReadTable(name, problem=error.message))
    if not found:
        raise RuleInvalid("the document holds no decision table", hint=NO_TABLE)
    return tuple(found)

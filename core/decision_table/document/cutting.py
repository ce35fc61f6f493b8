"""One decision of a DMN document that holds several tables, as a document of its own."""

from __future__ import annotations

from dataclasses import dataclass

from core.decision_table.cells import one_line
from core.decision_table.document.reading import read_document, table_of, tag
from core.decision_table.document.source import Source


@dataclass(frozen=True)
class CutOut:
    """A document with one table, and what holds the tables that were left out."""

    xml: str
    left_out: tuple[str, ...]


def table_count(xml: str) -> int:
    """Count the decision tables of a document. Raises RuleInvalid."""
    return sum(1 for _ in read_document(xml).iter(tag("decisionTable")))


def cut_out(xml: str, decision: str) -> CutOut:
    """Take the tables of all other decisions out of a document; every other byte stays.

    The decisions themselves stay, without their logic, so that their names, requirements and
    diagrams go on to refer to something. Raises RuleInvalid where not one table has that name.
    """
    source = Source(xml)
    wanted = table_of(source.root, decision)
    others = [table for table in source.root.iter(tag("decisionTable")) if table is not wanted]
    left_out = []
    for table in others:
        line = [table, *table.iterancestors()]
        holder = next((at for at in line if at.getparent() is source.root), table)
        left_out.append(one_line(holder.get("name") or holder.get("id") or "without a name"))
    return CutOut(source.apply([source.remove(table) for table in others]), tuple(left_out))

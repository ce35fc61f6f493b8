"""All decision tables of a document, each read by itself, so that a broken one hides no other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from lxml import etree

from core.decision_table.cells import one_line
from core.decision_table.document.markup import MODEL
from core.decision_table.document.reading import (
    NO_TABLE,
    boxed,
    read_document,
    table_of,
    tag,
    text_of,
    the_table,
)
from core.decision_table.document.source import Source
from core.decision_table.document.xml import decision_name, parse_xml, read_table
from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import DecisionTable

_Shape = tuple[object, ...]


def same_table(xml_a: str, xml_b: str) -> bool:
    """Whether two tables decide the same way and say so in the same words.

    Ids, formatting, comments, extensions and diagrams do not count; the decision's name, columns,
    types, allowed values, aggregation, and rows in their order do. Raises RuleInvalid.
    """
    return _shape_of(xml_a) == _shape_of(xml_b)


def _shape_of(xml: str) -> _Shape:
    table = the_table(read_document(xml))
    return (decision_name(table), table.get("hitPolicy", "UNIQUE"), _shape(table))


def _shape(element: etree._Element) -> _Shape:
    children = [
        child
        for child in element.iterchildren("*")
        if etree.QName(child).namespace == MODEL
        and etree.QName(child).localname != "extensionElements"
    ]
    attributes = {
        name: value
        for name, value in element.attrib.items()
        if name not in {"id", "hitPolicy"} and not str(name).startswith("{")
    }
    text = "" if children else text_of(element)
    return (element.tag, sorted(attributes.items()), text, [_shape(child) for child in children])


@dataclass(frozen=True)
class CutOut:
    """A document reduced to one table, and the decisions whose tables were left out."""

    xml: str
    left_out: tuple[str, ...]


def cut_each(xml: str) -> tuple[CutOut | ReadTable, ...]:
    """Return a document of its own for each table, or why a table makes none.

    Each has what `cut_out` leaves, and no name of others: all of them are there. Raises RuleInvalid
    if the document cannot be read, or has no table.
    """
    source = Source(xml)
    tables = list(source.root.iter(tag("decisionTable")))
    if not tables:
        raise RuleInvalid(Message("dmn.no_table"), hint=NO_TABLE)
    found: list[CutOut | ReadTable] = []
    for table, read in zip(tables, parse_tables(xml), strict=True):
        if read.table is None:
            found.append(read)
            continue
        others = [source.remove(other) for other in tables if other is not table]
        found.append(CutOut(source.apply(others) if others else xml, ()))
    return tuple(found)


def cut_out(xml: str, decision: str) -> CutOut:
    """Remove the tables of all other decisions from a document; every other byte stays.

    The decisions themselves stay, without their logic, so that references to their names,
    requirements and diagrams stay valid. Raises RuleInvalid unless exactly one table has that name.
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


@dataclass(frozen=True)
class ReadTable:
    """A table by the name of its decision; `problem` says why it could not be read."""

    decision: str
    table: DecisionTable | None = None
    problem: str = ""


def parse_tables(text: str) -> tuple[ReadTable, ...]:
    """Read all decision tables of a DMN document, in document order.

    A table outside a decision (in a function, say) is reported as a problem. Raises RuleInvalid if
    the document cannot be read, or contains no table.
    """
    found = []
    for element in read_document(text).iter(tag("decisionTable")):
        parent = element.getparent()
        if parent is None or parent.tag != tag("decision"):
            problem = boxed(element)
            found.append(ReadTable(str(problem.parameters["holder"]), problem=problem))
            continue
        name = decision_name(element)
        try:
            found.append(ReadTable(name, read_table(element)))
        except RuleInvalid as error:
            found.append(ReadTable(name, problem=error.message))
    if not found:
        raise RuleInvalid(Message("dmn.no_table"), hint=NO_TABLE)
    return tuple(found)


# The table of a longer document takes much memory: fewer of those are cached.
REMEMBERED_CHARS = 10_000
_CACHED, _CACHED_LARGE = 512, 32


def read_xml(document: str) -> DecisionTable:
    """Read a DMN document as `parse_xml` does, cached by its text. Raises RuleInvalid."""
    return _small(document) if len(document) <= REMEMBERED_CHARS else _large(document)


@lru_cache(maxsize=_CACHED)
def _small(document: str) -> DecisionTable:
    return parse_xml(document)


@lru_cache(maxsize=_CACHED_LARGE)
def _large(document: str) -> DecisionTable:
    return parse_xml(document)

"""Whether two documents hold the same decision table, however they are written."""

from __future__ import annotations

from lxml import etree

from core.decision_table.document.markup import MODEL
from core.decision_table.document.reading import read_document, text_of, the_table
from core.decision_table.document.xml import decision_name

_Shape = tuple[object, ...]


def same_table(xml_a: str, xml_b: str) -> bool:
    """Tell whether both tables decide the same way and say so in the same words.

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

"""What a document names besides the columns of a table: its input data and other decisions."""

from __future__ import annotations

from lxml import etree

from core.decision_table.cells import one_line
from core.decision_table.column_types import ANY_TYPE
from core.decision_table.columns import name_problems
from core.decision_table.document.reading import tag
from core.models import InputColumn


def declared_names(table: etree._Element) -> tuple[InputColumn, ...]:
    """Give the names that a decision table's expressions may use, with their types.

    Those are the input data and the decisions of its document, without its own (DMN 1.3, 6.3).
    """
    own = table.getparent()
    root = table.getroottree().getroot()
    found: dict[str, InputColumn] = {}
    for element in root.iterchildren(tag("inputData"), tag("decision")):
        variable = element.find(tag("variable"))
        named = element if variable is None else variable
        name = one_line(named.get("name") or element.get("name") or "")
        if element is not own and not name_problems(name, "it"):
            kind = named.get("typeRef", ANY_TYPE)
            found.setdefault(name, InputColumn(name=name, type=kind))
    return tuple(found.values())

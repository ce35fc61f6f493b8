"""What a document has besides decision tables: told by name, since none of it is evaluated."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from core.decision_table.cells import one_line
from core.decision_table.document.reading import read_document, tag
from core.domain.messages import Message

_ABOUT = {
    "description", "extensionElements", "question", "allowedAnswers", "variable",
    "supportedObjective", "informationRequirement", "knowledgeRequirement",
    "authorityRequirement", "impactedPerformanceIndicator", "decisionMaker", "decisionOwner",
    "usingProcess", "usingTask",
}  # fmt: skip


def not_evaluated(xml: str) -> tuple[Message, ...]:
    """Return what of a document is not evaluated, in document order. Raises RuleInvalid.

    These are decisions of other logic than a table, business knowledge models, decision services
    and imports; a table that uses one takes its value as an input.
    """
    return tuple(_asides(read_document(xml)))


def _asides(root: etree._Element) -> Iterator[Message]:
    for element in root.iterchildren("*"):
        name = one_line(element.get("name") or element.get("id") or "")
        if element.tag == tag("decision"):
            logic = [etree.QName(part).localname for part in element.iterchildren("*")]
            other = [what for what in logic if what not in _ABOUT and what != "decisionTable"]
            if other:
                yield Message("dmn.aside_decision", name=name, what=other[0])
        elif element.tag in (tag("businessKnowledgeModel"), tag("decisionService")):
            yield Message("dmn.aside", name=name, what=etree.QName(element).localname)
        elif element.tag == tag("import"):
            what = element.get("namespace") or element.get("locationURI") or name
            yield Message("dmn.aside_import", name=what)

"""DMN 1.1 to 1.5 read safely: no entities, no DTD, no network, and its one table located."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from lxml import etree

from core.decision_table.cells import one_line
from core.decision_table.document.markup import MODEL
from core.decision_table.problems import listing
from core.domain.errors import RuleInvalid
from core.domain.messages import Message

# The namespaces of the versions besides 1.3. Tables are alike in all of them, so that a document is
# parsed as if its namespace were that of 1.3; what is stored and written back keeps its own.
VERSIONS = {
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd": "1.1",
    "http://www.omg.org/spec/DMN/20180521/MODEL/": "1.2",
    "https://www.omg.org/spec/DMN/20211108/MODEL/": "1.4",
    "https://www.omg.org/spec/DMN/20230324/MODEL/": "1.5",
}
_NEWER = {"https://www.omg.org/spec/DMN/20240513/MODEL/": "1.6"}
_DECLARED = re.compile(
    rf"""(xmlns(?::[\w.-]+)?\s*=\s*["'])(?:{"|".join(map(re.escape, VERSIONS))})(?=["'])"""
)

_AS_DMN = Message("dmn.hint_save")
_ONE_TABLE = Message("dmn.hint_one")
_STRING = etree.XPath("string()")  # compiled once: compiling costs ten times as much as running it
NO_TABLE = Message("dmn.hint_table")


def line_of(element: etree._Element) -> int:
    """Return the line that an element of a document begins on."""
    return cast("int", element.sourceline)  # none only where no document was read


def tag(name: str) -> str:
    """Return the qualified name of a DMN element."""
    return f"{{{MODEL}}}{name}"


def read_document(xml: str) -> etree._Element:
    """Return the `definitions` of a document of DMN 1.1 to 1.5, in the namespace of 1.3.

    Raises RuleInvalid, saying what is wrong and where.
    """
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        dtd_validation=False,
        no_network=True,
        huge_tree=False,
    )
    try:
        root = etree.fromstring(_DECLARED.sub(rf"\g<1>{MODEL}", xml).encode("utf-8"), parser)
    except UnicodeEncodeError as error:
        raise RuleInvalid(Message("dmn.no_unicode", n=error.start)) from error
    except etree.XMLSyntaxError as error:
        raise RuleInvalid(Message("dmn.malformed", why=error.msg), hint=_AS_DMN) from error
    _refuse_foreign(root)
    return root


def the_table(root: etree._Element) -> etree._Element:
    """Return the one `decisionTable` of a document; its parent is the decision."""
    tables = list(root.iter(tag("decisionTable")))
    if len(tables) != 1:
        holders = [holder for holder in root.iter(tag("decision")) if _has_table(holder)]
        which = Message("dmn.it_has", names=_known(holders)) if holders else ""
        raise RuleInvalid(
            Message("dmn.not_one_table", n=len(tables), which=which),
            hint=_ONE_TABLE if tables else NO_TABLE,
        )
    parent = tables[0].getparent()
    if parent is None or parent.tag != tag("decision"):
        raise RuleInvalid(boxed(tables[0]))
    return tables[0]


def boxed(table: etree._Element) -> Message:
    """Say that a table is but a part of another expression, and of which."""
    line = [*table.iterancestors()]
    holder = next((at for at in line if _names(at)), None)
    return Message(
        "dmn.boxed",
        line=line_of(table),
        tag=etree.QName(line[0]).localname if line else "",
        holder="" if holder is None else one_line(_names(holder)[0]),
    )


def table_of(root: etree._Element, decision: str) -> etree._Element:
    """Return the `decisionTable` of the decision with this name or id. Raises RuleInvalid."""
    holders = [holder for holder in root.iter(tag("decision")) if _has_table(holder)]
    wanted = one_line(decision)
    found = [holder for holder in holders if wanted in map(one_line, _names(holder))]
    if len(found) != 1:
        raise RuleInvalid(
            _not_named(decision, len(found), _known(holders)),
            hint=Message("dmn.hint_name") if holders else NO_TABLE,
        )
    return the_table(found[0])


def _not_named(name: str, count: int, known: str) -> Message:
    if not count:
        return Message("dmn.none_named", name=name, known=known)
    return Message("dmn.several_named", n=count, name=name, known=known)


def _has_table(decision: etree._Element) -> bool:
    return decision.find(tag("decisionTable")) is not None


def _names(element: etree._Element) -> list[str]:
    return [name for name in (element.get("name"), element.get("id")) if name]


def _known(decisions: Sequence[etree._Element]) -> str:
    return listing([next(iter(_names(decision)), "") for decision in decisions])


def text_of(element: etree._Element | None) -> str:
    """Return the trimmed text of an element; comments are not text."""
    if element is None:
        return ""
    if len(element) == 0:
        return (element.text or "").strip()
    return str(_STRING(element)).strip()


def _refuse_foreign(root: etree._Element) -> None:
    if root.getroottree().docinfo.internalDTD is not None:
        raise RuleInvalid(Message("dmn.doctype"), hint=Message("dmn.hint_doctype"))
    around = [*root.itersiblings(preceding=True), *root.itersiblings()]
    for found in (*around, *root.iter(etree.ProcessingInstruction)):
        if not isinstance(found, etree._ProcessingInstruction):
            continue
        raise RuleInvalid(
            Message("dmn.instruction", line=line_of(found)),
            hint=Message("dmn.hint_instruction"),
        )
    name = etree.QName(root)
    if name.namespace in _NEWER:
        raise RuleInvalid(
            Message("dmn.version", version=_NEWER[name.namespace]),
            hint=Message("dmn.hint_export"),
        )
    if root.tag != tag("definitions"):
        problem = Message("dmn.root", tag=root.tag, model=MODEL)
        raise RuleInvalid(problem, hint=_AS_DMN)

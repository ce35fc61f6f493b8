"""DMN 1.3 markup: the parts of a table as text, in the order of the schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from core.domain.models import DecisionRow, InputColumn, OutputColumn

MODEL = "https://www.omg.org/spec/DMN/20191111/MODEL/"
ANNOTATION = "Rule"

_CARRIAGE_RETURN = {"\r": "&#13;"}
_WHITE_SPACE = {"\r": "&#13;", "\n": "&#10;", "\t": "&#9;"}


_TAG = re.compile(r"""<(?!!)(?:[^<>"']|"[^"]*"|'[^']*')*>""")
_SAID = re.compile(r"""\b(?:name|label)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def said_in(document: str) -> str:
    """Return a document with blanks for its markup, so that what people wrote stays in its place.

    That is text, comments, names and labels; ids and the addresses of schemas say nothing.
    """
    return _TAG.sub(_blank, document)


def _blank(tag: re.Match[str]) -> str:
    kept = [" "] * len(tag[0])
    for said in _SAID.finditer(tag[0]):
        start, end = said.span(said.lastindex or 0)
        kept[start:end] = tag[0][start:end]
    return "".join(kept)


def text(value: str) -> str:
    """Escape character data so that it reads back unchanged."""
    return escape(value, _CARRIAGE_RETURN)


def attribute(value: str) -> str:
    """Quote and escape an attribute value."""
    return quoteattr(value, _WHITE_SPACE)


@dataclass(frozen=True)
class Style:
    """How a document writes its elements: the prefix (with colon) and the line break before each.

    `lead` is the white space before a child of the table; deeper ones get two more blanks.
    """

    prefix: str = ""
    lead: str = "\n      "

    @property
    def inner(self) -> Style:
        """Return the style one level deeper; a document on one line stays on one line."""
        return Style(self.prefix, self.lead + "  " if "\n" in self.lead else self.lead)

    def element(self, name: str, content: str, attributes: str = "") -> str:
        """Return one element."""
        tag = self.prefix + name
        return f"<{tag}{attributes}>{content}</{tag}>"

    def cell(self, name: str, value: str) -> str:
        """Return an element that contains one `text`."""
        return self.element(name, self.element("text", text(value)))

    def block(self, name: str, parts: list[str], attributes: str = "") -> str:
        """Return an element with one part per line."""
        lines = "".join(self.inner.lead + part for part in parts)
        return self.element(name, lines + self.lead, attributes)

    def input(self, column: InputColumn) -> str:
        """Return an input clause."""
        expression = self.element(
            "inputExpression",
            self.element("text", text(column.name)),
            f" typeRef={attribute(column.type)}",
        )
        allowed = [self.cell("inputValues", column.allowed)] if column.allowed else []
        return self.block("input", [expression, *allowed])

    def output(self, column: OutputColumn) -> str:
        """Return an output clause."""
        name, kind = attribute(column.name), attribute(column.type)
        entries = (("outputValues", column.allowed), ("defaultOutputEntry", column.default))
        parts = [self.cell(entry, value) for entry, value in entries if value]
        if not parts:
            return f"<{self.prefix}output name={name} typeRef={kind}/>"
        return self.block("output", parts, f" name={name} typeRef={kind}")

    def rule(self, row: DecisionRow, annotations: int = 1) -> str:
        """Return a row; without annotation columns its annotation is the description."""
        entries = [row.annotation, *[""] * annotations][:annotations]
        described = row.annotation and not annotations
        parts = [
            *([self.element("description", text(row.annotation))] if described else []),
            *(self.cell("inputEntry", cell) for cell in row.inputs),
            *(self.cell("outputEntry", cell) for cell in row.outputs),
            *(self.cell("annotationEntry", entry) for entry in entries),
        ]
        return self.block("rule", parts, f" id={attribute(row.id)}")

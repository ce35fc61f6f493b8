"""A DMN document with the byte offsets of its elements, so that an edit can be a splice."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.parsers import expat

from lxml import etree

from core.decision_table.document.markup import attribute
from core.decision_table.document.reading import read_document

_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_ATTRIBUTE = re.compile(rb"""\s+([^\s=]+)\s*=\s*("[^"]*"|'[^']*')""")
_WHITE_SPACE = b" \t\r\n"


@dataclass(frozen=True)
class Span:
    """Byte offsets: the element is [start, end), its start tag [start, opened).

    [opened, closing) is its content; an empty-element tag has `closing` = `end` = `opened`.
    """

    start: int
    opened: int
    closing: int
    end: int


@dataclass(frozen=True)
class Splice:
    """Bytes [start, end) are replaced by `new`."""

    start: int
    end: int
    new: bytes


class Source:
    """A document that lxml has accepted, and where its elements are in the text."""

    def __init__(self, xml: str) -> None:
        self.root = read_document(xml)
        self.data = xml.encode("utf-8")
        self._spans = dict(zip(self.root.iter("*"), locate(self.data), strict=True))

    def span(self, element: etree._Element) -> Span:
        """Return the offsets of an element."""
        return self._spans[element]

    def lead(self, element: etree._Element) -> str:
        """Return the white space before an element."""
        start = self.span(element).start
        return self.data[self._lead_start(start) : start].decode()

    def remove(self, element: etree._Element) -> Splice:
        """Return the splice that removes an element and the white space before it."""
        span = self.span(element)
        return Splice(self._lead_start(span.start), span.end, b"")

    def replace(self, element: etree._Element, markup: str) -> Splice:
        """Return the splice that replaces an element."""
        span = self.span(element)
        return Splice(span.start, span.end, markup.encode())

    def insert_before(self, element: etree._Element, markup: str) -> Splice:
        """Return the splice that inserts markup before an element."""
        start = self.span(element).start
        return Splice(start, start, markup.encode())

    def insert_after(self, element: etree._Element, markup: str) -> Splice:
        """Return the splice that inserts markup after an element."""
        end = self.span(element).end
        return Splice(end, end, markup.encode())

    def fill(self, element: etree._Element, markup: str) -> Splice:
        """Return the splice that inserts markup at the start of an element's content."""
        span = self.span(element)
        if span.opened < span.end:
            return Splice(span.opened, span.opened, markup.encode())
        name = self.data[span.start + 1 : span.end].split(maxsplit=1)[0].rstrip(b"/>")
        closed = b">" + markup.encode() + b"</" + name + b">"
        return Splice(span.end - len(b"/>"), span.end, closed)

    def set_attribute(self, element: etree._Element, name: str, value: str | None) -> Splice:
        """Return the splice that sets, adds or (None) removes an attribute of a start tag."""
        span = self.span(element)
        new = b"" if value is None else f" {name}={attribute(value)}".encode()
        for found in _ATTRIBUTE.finditer(self.data, span.start, span.opened):
            if found[1] == name.encode():
                return Splice(found.start(), found.end(), new)
        close = b"/>" if self.data.endswith(b"/>", span.start, span.opened) else b">"
        at = span.opened - len(close)
        return Splice(at, at, new)

    def apply(self, splices: list[Splice]) -> str:
        """Return the text with all splices applied; those at one offset keep their order."""
        parts, done = [], 0
        for splice in sorted(splices, key=lambda splice: (splice.start, splice.end)):
            parts += [self.data[done : splice.start], splice.new]
            done = splice.end
        return b"".join([*parts, self.data[done:]]).decode("utf-8")

    def _lead_start(self, start: int) -> int:
        while start and self.data[start - 1] in _WHITE_SPACE:
            start -= 1
        return start


# lxml knows the line of an element, not its byte offset; expat, over the same bytes, knows that.
def locate(data: bytes) -> list[Span]:
    """Return the offsets of each element in document order. `data` is well-formed UTF-8 XML."""
    parser = expat.ParserCreate("utf-8")
    spans: list[Span] = []
    open_elements: list[int] = []

    def started(_name: str, _attributes: dict[str, str]) -> None:
        start = parser.CurrentByteIndex
        tag = _TAG.match(data, start)
        opened = tag.end() if tag else start
        open_elements.append(len(spans))
        spans.append(Span(start, opened, opened, opened))

    def ended(_name: str) -> None:
        number = open_elements.pop()
        span = spans[number]
        if not data.endswith(b"/>", span.start, span.opened):
            closing = parser.CurrentByteIndex
            end = data.index(b">", closing) + 1
            spans[number] = Span(span.start, span.opened, closing, end)

    parser.StartElementHandler = started
    parser.EndElementHandler = ended
    parser.Parse(data, True)
    return spans

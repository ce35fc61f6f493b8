"""The types that a document defines: what they come to in FEEL, and the members of structures."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from core.decision_table.cells import one_line
from core.decision_table.columns import ANY_TYPE, feel_type, name_problems
from core.decision_table.document.reading import tag, text_of
from core.domain.models import InputColumn

_DEEPEST = 8  # levels of structures within structures, which may refer to each other in a circle


class Types:
    """The item definitions of a document (DMN 1.5, 7.3.2), by name."""

    def __init__(self, root: etree._Element) -> None:
        self._items = {
            one_line(item.get("name") or ""): item for item in root.findall(tag("itemDefinition"))
        }

    def resolve(self, ref: str, at: etree._Element) -> tuple[str, str]:
        """Return the FEEL type that a reference comes to, and its allowed values as a unary test.

        A reference that comes to none, such as that to a structure, is returned as it stands.
        """
        name, allowed = _local(ref, at), ""
        for _ in range(_DEEPEST):
            item = self._items.get(name)
            if item is None or feel_type(name) is not None:
                break
            allowed = allowed or text_of(item.find(f"{tag('allowedValues')}/{tag('text')}"))
            simple = item.find(tag("typeRef"))
            written = text_of(simple) if simple is not None else item.get("typeRef", "")
            if item.get("isCollection") == "true" or not written:
                return ref, ""
            name = _local(written, item)
        return (name, allowed) if feel_type(name) is not None else (ref, "")

    def members(self, name: str, ref: str, at: etree._Element) -> Iterator[InputColumn]:
        """Yield the members of a structure by their paths, such as `applicant.age`."""
        yield from self._members(name, self._items.get(_local(ref, at)), _DEEPEST)

    def _members(self, path: str, item: etree._Element | None, left: int) -> Iterator[InputColumn]:
        if item is None or not left or item.get("isCollection") == "true":
            return
        parts = item.findall(tag("itemComponent"))
        if not parts:
            written = text_of(item.find(tag("typeRef")))
            yield from self._members(path, self._items.get(_local(written, item)), left - 1)
        for part in parts:
            name = f"{path}.{one_line(part.get('name') or '')}"
            written = text_of(part.find(tag("typeRef")))
            kind, allowed = self.resolve(written, part) if written else ("", "")
            if feel_type(kind) is not None and part.get("isCollection") != "true":
                yield InputColumn(name=name, type=kind, allowed=allowed)
            else:
                inner = self._items.get(_local(written, part)) if written else part
                yield from self._members(name, inner, left - 1)


def declared_names(table: etree._Element, types: Types) -> tuple[InputColumn, ...]:
    """Return the names that a decision table's expressions may use, with their types.

    These are the input data and the other decisions of its document (DMN 1.3, 6.3), and the
    members of those that are structures.
    """
    own = table.getparent()
    root = table.getroottree().getroot()
    found: dict[str, InputColumn] = {}
    for element in root.iterchildren(tag("inputData"), tag("decision")):
        variable = element.find(tag("variable"))
        named = element if variable is None else variable
        name = one_line(named.get("name") or element.get("name") or "")
        if element is not own and not name_problems(name, "it"):
            ref = named.get("typeRef", ANY_TYPE)
            found.setdefault(name, InputColumn(name=name, type=types.resolve(ref, named)[0]))
            for member in types.members(name, ref, named):
                found.setdefault(member.name, member)
    return tuple(found.values())


def _local(ref: str, at: etree._Element) -> str:
    """Return a type's name without the prefix that files of DMN 1.1 put before it."""
    prefix, colon, name = ref.partition(":")
    known = bool(colon) and (prefix in at.nsmap or prefix == "feel")
    return one_line(name if known else ref)

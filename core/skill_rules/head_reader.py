"""The one reader of a frontmatter: the part of YAML that means to every reader what it shows."""

from __future__ import annotations

import re

from core.skill_rules.head_flow import HeadFlow
from core.skill_rules.head_lines import HeadError, Node
from core.skill_rules.head_values import FIRST

_HEAD = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<yaml>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_KEY = re.compile(
    rf"""(?:(?P<plain>{FIRST}(?:(?! \#|:(?: |$)).){{0,256}}?)|"(?P<double>(?:[^"\\]|\\.)*)\""""
    r"""|'(?P<single>(?:[^']|'')*)')[ ]*:(?=[ ]|$)"""
)
_COMMENT = re.compile(r"(?: +#.*| *)$")
_MAX_KEY = 256
_MAX_HEAD = 64 * 2**10


def find_head(document: str) -> tuple[int, int, int]:
    """Give where the YAML of the frontmatter starts and ends, and where the body starts.

    A byte order mark before it and CRLF are taken. Raises HeadError.
    """
    found = _HEAD.match(document)
    if found:
        return found.start("yaml"), found.end("yaml"), found.end()
    if re.match(r"\ufeff?---[ \t]*\r?\n", document):
        raise HeadError("head-unclosed", "Frontmatter is not closed by a line of ---")
    raise HeadError("head-missing", "No YAML frontmatter found: the first line must be ---")


def read_head(source: str) -> dict[str, Node]:
    """Read the YAML of a frontmatter; every scalar is text. Raises HeadError with the line.

    Block and flow collections and all scalars are read; keys that stand twice, anchors, aliases,
    tags, directives and explicit (`? `) keys are refused.
    """
    if len(source) > _MAX_HEAD:
        raise HeadError("head-size", f"Frontmatter is over {_MAX_HEAD} characters")
    root = _HeadReader(source).read()
    if not isinstance(root.value, dict):
        raise HeadError("head-mapping", "Frontmatter is no mapping of keys to values")
    return root.value


class _HeadReader(HeadFlow):
    """Recursive descent over block collections."""

    def read(self) -> Node:
        if not self.content():
            return Node("", 0, 0)
        root = self.block(-1)
        if self.content():
            raise self.error("the indentation does not fit")
        return root

    def block(self, above: int) -> Node:
        self.deeper()
        rest = self.rest()
        if rest == "-" or rest.startswith("- "):
            node = self.sequence()
        elif _KEY.match(rest):
            node = self.mapping()
        else:
            node = self.scalar(above)
        self.depth -= 1
        return node

    def sequence(self) -> Node:
        indent, start, items = self.col, self.at(), []
        while self.rest() == "-" or self.rest().startswith("- "):
            self.col += 1
            items.append(self.after_indicator(indent, nested=True))
            if not self.content() or self.col != indent:
                break
        self.see_indentation(indent)
        return Node(items, start, items[-1].end)

    def mapping(self) -> Node:
        indent, start, end = self.col, self.at(), self.at()
        found: dict[str, Node] = {}
        while True:
            key = self.key()
            if key in found:
                raise self.error(f"the key {key!r} stands twice", "head-key-twice")
            found[key] = self.after_indicator(indent, nested=False)
            end = found[key].end
            if not self.content() or self.col != indent:
                break
        self.see_indentation(indent)
        return Node(found, start, end)

    def see_indentation(self, indent: int) -> None:
        if self.row < len(self.lines) and self.col > indent:
            raise self.error("the indentation does not fit")

    def key(self) -> str:
        found = _KEY.match(self.rest())
        if found is None:
            self.refuse_indicator()
            raise self.error(f"no `key: value` in {self.rest()[:60]!r}")
        self.col += found.end()
        if found.end() > _MAX_KEY:
            raise self.error(f"a key is over {_MAX_KEY} characters")
        if found["plain"] is not None:
            return self.unmerged(self.plain_text(found["plain"]))
        text = found["single"] if found["double"] is None else found["double"]
        return self.unmerged(self.unquoted([text], double=found["double"] is not None))

    def after_indicator(self, indent: int, *, nested: bool) -> Node:
        """Read what stands behind `key:` or `-`, on the line or below it."""
        empty = self.at()
        if _COMMENT.match(self.rest()) is None:
            self.col += len(self.rest()) - len(self.rest().lstrip(" "))
            return self.block(indent) if nested else self.scalar(indent)
        self.row += 1
        if self.content():
            dash = self.rest() == "-" or self.rest().startswith("- ")
            if self.col > indent or (self.col == indent and dash and not nested):
                return self.block(indent)
        return Node("", empty, empty)

    def scalar(self, above: int) -> Node:
        """Read a scalar or a flow collection; what is behind it on its line may be a comment."""
        first = self.rest()[0]
        if first in "|>":
            return self.literal(max(above, 0))
        if first not in "\"'[{":
            return self.plain(above)
        node = self.flow() if first in "[{" else self.quotation(above)
        if _COMMENT.match(self.rest()) is None:
            raise self.error("there is text behind the value")
        self.row += 1
        return node

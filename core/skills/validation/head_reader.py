"""The only reader of a frontmatter: the subset of YAML that every reader understands alike.

It is our own because it also runs in pods, where PyYAML may be missing, and because YAML 1.1 and
1.2 readers disagree on scalars such as `no` or `012`: here every scalar is text.
"""

from __future__ import annotations

import re

from core.domain.messages import Message
from core.skills.validation.head_values import FIRST, HeadError, HeadValues, Node

_FLOW_PLAIN = re.compile(
    r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-(?=[^\s,\[\]{}]))(?:(?! \#|:(?:[ ,\[\]{}]|$)|[,?\[\]{}]).)*"
)


class HeadFlow(HeadValues):
    """Reads `[...]` and `{...}`, also over several lines."""

    def flow(self) -> Node:
        """Read a collection from its opening bracket."""
        self.deeper()
        start, is_map = self.at(), self.rest()[0] == "{"
        items: list[Node] = []
        found: dict[str, Node] = {}
        self.col += 1
        while not self.flow_ends("}" if is_map else "]"):
            item = self.flow_value(key=is_map)
            if is_map:
                key = self.unmerged(str(item.value))
                if key in found:
                    raise self.error(Message("head.key_twice", key=key), "head-key-twice")
                found[key] = self.flow_pair(item)
            items.append(item)
            self.flow_next("}" if is_map else "]")
        self.depth -= 1
        return Node(found if is_map else items, start, self.at())

    def flow_ends(self, closing: str) -> bool:
        """Consume the closing bracket, if it is next."""
        ends = self.flow_peek() == closing
        self.col += ends
        return ends

    def flow_next(self, closing: str) -> None:
        """Consume a comma, or stay before the closing bracket."""
        char = self.flow_peek()
        if char == ",":
            self.col += 1
        elif char != closing:
            raise self.error(Message("head.expected", closing=closing, rest=self.rest()[:60]))

    def flow_pair(self, key: Node) -> Node:
        """Read the value of a key, which may be omitted."""
        row = self.row
        if self.flow_peek() != ":":
            return Node("", key.end, key.end)
        if row != self.row:
            raise self.error(Message("head.key_and_colon"))
        self.col += 1
        if self.flow_peek() in ",}":
            return Node("", self.at(), self.at())
        return self.flow_value(key=False)

    def flow_value(self, *, key: bool) -> Node:
        """Read an item; a key is a scalar on one line."""
        first, row = self.flow_peek(), self.row
        if first in "\"'":
            node = self.quotation(-1)
        elif first in "[{" and not key:
            return self.flow()
        else:
            node = self.flow_plain()
        if key and row != self.row:
            raise self.error(Message("head.key_one_line"))
        return node

    def flow_plain(self) -> Node:
        """Read an unquoted scalar, on one line."""
        found = _FLOW_PLAIN.match(self.rest())
        if found is None:
            self.refuse_indicator()
            raise self.error(Message("head.begins", char=self.rest()[:1]))
        text, start = self.plain_text(found[0].rstrip(" ")), self.at()
        self.col += len(text)
        return Node(text, start, self.at())

    def flow_peek(self) -> str:
        """Return the next character that is not a blank, break or comment, and move to it."""
        while self.row < len(self.lines):
            rest = self.rest()
            self.col += len(rest) - len(rest.lstrip(" "))
            after_blank = self.col == 0 or self.lines[self.row][self.col - 1] == " "
            if self.rest() and not (after_blank and self.rest().startswith("#")):
                return self.rest()[0]
            self.row, self.col = self.row + 1, 0
        raise self.error(Message("head.bracket_open"))

    def unmerged(self, key: str) -> str:
        """Return the key, unless it would merge another mapping into this one."""
        if key == "<<":
            raise self.error(Message("head.merge_key"), "head-anchor")
        return key


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
    """Return where the YAML of the frontmatter starts and ends, and where the body starts.

    A preceding byte order mark and CRLF are accepted. Raises HeadError.
    """
    found = _HEAD.match(document)
    if found:
        return found.start("yaml"), found.end("yaml"), found.end()
    if re.match(r"\ufeff?---[ \t]*\r?\n", document):
        raise HeadError("head-unclosed", Message("head.unclosed"))
    raise HeadError("head-missing", Message("head.missing"))


def read_head(source: str) -> dict[str, Node]:
    """Read the YAML of a frontmatter; every scalar is text. Raises HeadError with the line.

    Block and flow collections and all scalars are read; duplicate keys, anchors, aliases, tags,
    directives and explicit (`? `) keys are refused.
    """
    if len(source) > _MAX_HEAD:
        raise HeadError("head-size", Message("head.too_long", most=_MAX_HEAD))
    root = _HeadReader(source).read()
    if not isinstance(root.value, dict):
        raise HeadError("head-mapping", Message("head.no_mapping"))
    return root.value


class _HeadReader(HeadFlow):
    """Recursive descent over block collections."""

    def read(self) -> Node:
        if not self.content():
            return Node("", 0, 0)
        root = self.block(-1)
        if self.content():
            raise self.error(Message("head.indentation"))
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
        return Node(items, start, items[-1].end)

    def mapping(self) -> Node:
        indent, start, end = self.col, self.at(), self.at()
        found: dict[str, Node] = {}
        while True:
            key = self.key()
            if key in found:
                raise self.error(Message("head.key_twice", key=key), "head-key-twice")
            found[key] = self.after_indicator(indent, nested=False)
            end = found[key].end
            if not self.content() or self.col != indent:
                break
        return Node(found, start, end)

    def key(self) -> str:
        found = _KEY.match(self.rest())
        if found is None:
            self.refuse_indicator()
            raise self.error(Message("head.no_pair", rest=self.rest()[:60]))
        self.col += found.end()
        if found.end() > _MAX_KEY:
            raise self.error(Message("head.key_length", most=_MAX_KEY))
        if found["plain"] is not None:
            return self.unmerged(self.plain_text(found["plain"]))
        text = found["single"] if found["double"] is None else found["double"]
        return self.unmerged(self.unquoted([text], double=found["double"] is not None))

    def after_indicator(self, indent: int, *, nested: bool) -> Node:
        """Read what follows `key:` or `-`, on the line or below it."""
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
        """Read a scalar or a flow collection; only a comment may follow it on its line."""
        first = self.rest()[0]
        if first in "|>":
            return self.literal(max(above, 0))
        if first not in "\"'[{":
            return self.plain(above)
        node = self.flow() if first in "[{" else self.quotation(above)
        if _COMMENT.match(self.rest()) is None:
            raise self.error(Message("head.text_behind"))
        self.row += 1
        return node

"""The collections of a frontmatter that are written in brackets and braces."""

from __future__ import annotations

import re

from core.skill_rules.head_lines import Node
from core.skill_rules.head_values import HeadValues

_FLOW_PLAIN = re.compile(
    r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|-(?=[^\s,\[\]{}]))(?:(?! \#|:(?:[ ,\[\]{}]|$)|[,?\[\]{}]).)*"
)


class HeadFlow(HeadValues):
    """Reads `[...]` and `{...}`, over several lines too."""

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
                    raise self.error(f"the key {key!r} stands twice", "head-key-twice")
                found[key] = self.flow_pair(item)
            items.append(item)
            self.flow_next("}" if is_map else "]")
        self.depth -= 1
        return Node(found if is_map else items, start, self.at())

    def flow_ends(self, closing: str) -> bool:
        """Go past the closing bracket, if it is next."""
        ends = self.flow_peek() == closing
        self.col += ends
        return ends

    def flow_next(self, closing: str) -> None:
        """Go past a comma, or stay before the closing bracket."""
        char = self.flow_peek()
        if char == ",":
            self.col += 1
        elif char != closing:
            raise self.error(f"expected ',' or {closing!r} before {self.rest()[:60]!r}")

    def flow_pair(self, key: Node) -> Node:
        """Read the value of a key, which may be left out."""
        row = self.row
        if self.flow_peek() != ":":
            return Node("", key.end, key.end)
        if row != self.row:
            raise self.error("a key and its colon must be on one line")
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
            raise self.error("a key must be on one line")
        return node

    def flow_plain(self) -> Node:
        """Read a scalar without quotes, on one line."""
        found = _FLOW_PLAIN.match(self.rest())
        if found is None:
            self.refuse_indicator()
            raise self.error(f"{self.rest()[:1]!r} cannot begin a value; put it in quotes")
        text, start = self.plain_text(found[0].rstrip(" ")), self.at()
        self.col += len(text)
        return Node(text, start, self.at())

    def flow_peek(self) -> str:
        """Go to the next character that is no blank, break or comment, and give it."""
        while self.row < len(self.lines):
            rest = self.rest()
            self.col += len(rest) - len(rest.lstrip(" "))
            after_blank = self.col == 0 or self.lines[self.row][self.col - 1] == " "
            if self.rest() and not (after_blank and self.rest().startswith("#")):
                return self.rest()[0]
            self.row, self.col = self.row + 1, 0
        raise self.error("a bracket is not closed")

    def unmerged(self, key: str) -> str:
        """Give a key back, unless it would merge another mapping into this one."""
        if key == "<<":
            raise self.error("merge keys are not allowed", "head-anchor")
        return key

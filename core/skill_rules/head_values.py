"""The scalars of a frontmatter: plain, quoted and blocks of text, each read as text."""

from __future__ import annotations

import re

from core.skill_rules.head_lines import HeadLines, Node
from core.skill_rules.scalars import BLOCK, DOUBLE, SINGLE, block_text, folded, quoted

FIRST = r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[\-?:](?=\S))"
_REFUSED = {
    "&": ("head-anchor", "anchors and aliases are not allowed"),
    "*": ("head-anchor", "anchors and aliases are not allowed"),
    "!": ("head-tag", "tags are not allowed"),
}


class HeadValues(HeadLines):
    """Reads one scalar from where the cursor stands."""

    def plain(self, above: int) -> Node:
        """Read a scalar without quotes, over all its lines."""
        self.refuse_indicator()
        start, end, texts = self.at(), 0, []
        more = True
        while more:
            text, comment, _ = self.rest().partition(" #")
            text = text.rstrip(" ")
            texts.append(self.plain_text(text))
            end = self.at() + len(text)
            self.row += 1
            more = not comment and self.continues(above, texts)
        return Node(folded(texts), start, end)

    def continues(self, above: int, texts: list[str]) -> bool:
        """Go to the line that continues a plain scalar, if there is one."""
        row = self.row
        while row < len(self.lines) and not self.lines[row].strip(" "):
            row += 1
        line = self.lines[row] if row < len(self.lines) else ""
        col = len(line) - len(line.lstrip(" "))
        if col <= above or line[col:].startswith("#") or not line:
            return False
        texts += [""] * (row - self.row)
        self.row, self.col = row, col
        return True

    def plain_text(self, text: str) -> str:
        """See that a part of a plain scalar is one, and give it."""
        if "\t" in text:
            raise self.error("a tab must be put in quotes", "head-quotes")
        if re.search(r":(?: |$)", text):
            raise self.error("a value that holds a colon must be put in quotes", "head-quotes")
        return text

    def refuse_indicator(self) -> None:
        """Refuse what cannot begin a plain scalar, anchors and tags by name."""
        rest = self.rest()
        if rest[:1] in _REFUSED:
            code, said = _REFUSED[rest[0]]
            raise self.error(said, code)
        if not re.match(FIRST, rest):
            raise self.error(f"{rest[:1]!r} cannot begin a value; put it in quotes", "head-quotes")

    def quotation(self, above: int) -> Node:
        """Read a quoted scalar, over all its lines."""
        start, mark = self.at(), self.rest()[0]
        opened, texts = self.row, []
        self.col += 1
        while True:
            line = self.lines[self.row]
            found = (DOUBLE if mark == '"' else SINGLE).match(line, self.col)
            stop = found.end() if found else len(line)
            if line[stop : stop + 1] == mark:
                texts.append(line[self.col : stop])
                self.col = stop + 1
                return Node(self.unquoted(texts, double=mark == '"'), start, self.at())
            texts.append(line[self.col :])
            self.row, self.col = self.row + 1, 0
            below = self.lines[self.row] if self.row < len(self.lines) else None
            indent = len(below) - len(below.lstrip(" ")) if below is not None else 0
            if below is None or (below.strip(" ") and indent <= above):
                self.row = opened
                raise self.error("the quotes are not closed")

    def unquoted(self, texts: list[str], *, double: bool) -> str:
        """Give the text of a quoted scalar's lines."""
        try:
            return quoted(texts, double)
        except ValueError as error:
            raise self.error(str(error)) from error

    def literal(self, above: int) -> Node:
        """Read a block of text behind `|` or `>`."""
        header = BLOCK.fullmatch(self.rest())
        if header is None:
            raise self.error("the header of a block of text is malformed")
        start = self.at()
        end = start + len(self.rest().rstrip(" "))
        self.row, self.col = self.row + 1, 0
        digit = header["a"] or header["d"]
        indent = above + int(digit) if digit else self.literal_indent(above)
        texts = []
        while self.row < len(self.lines):
            line = self.lines[self.row]
            blank = not line.strip(" ") and len(line) <= indent
            if not blank and not line.startswith(" " * indent):
                break
            texts.append("" if blank else line[indent:])
            end = end if blank else self.at() + len(line)
            self.row += 1
        text = block_text(texts, header["style"], header["b"] or header["c"] or "")
        return Node(text, start, end)

    def literal_indent(self, above: int) -> int:
        """Find how far a block of text is indented: as its first line that says something."""
        blank = 0
        for row in range(self.row, len(self.lines)):
            line = self.lines[row]
            if line.strip(" "):
                indent = len(line) - len(line.lstrip(" "))
                if indent > above and blank > indent:
                    raise self.error("blank lines are indented further than the text below")
                return max(indent, above + 1, 0 if indent > above else blank)
            blank = max(blank, len(line))
        return max(above + 1, blank)

"""Where the reader of a frontmatter stands, line and column, and how it says what is wrong."""

from __future__ import annotations

import re
from typing import NamedTuple

_LINE = re.compile(r"([^\n]*?)(?:\r?\n|\Z)")
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]|\r(?!\n)"
)
_MARKER = re.compile(r"(?:---|\.\.\.)(?:[ \t]|$)")
_MAX_LEVELS = 32


class HeadError(ValueError):
    """The frontmatter breaks a rule; `code` names it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Node(NamedTuple):
    """A value of the frontmatter; `start` and `end` are where its text stands in the YAML."""

    value: str | list[Node] | dict[str, Node]
    start: int
    end: int


class HeadLines:
    """A cursor over the lines of a frontmatter; lines end in LF or CRLF."""

    def __init__(self, source: str) -> None:
        self.row, self.col, self.depth = 0, 0, 0
        self.lines: list[str] = []
        self.starts: list[int] = []
        for found in _LINE.finditer(source):
            if found.start() < len(source):
                self.lines.append(found[1])
                self.starts.append(found.start())
        self.size = len(source)
        for row, line in enumerate(self.lines):
            self.row = row
            if _FORBIDDEN.search(line):
                raise self.error("has a control or invisible character", "head-characters")
            if _MARKER.match(line):
                raise self.error("a second document is not allowed")
        self.row = 0

    def error(self, said: str, code: str = "head-yaml") -> HeadError:
        """The error for the line where the cursor stands; the fence is line 1."""
        return HeadError(code, f"Invalid frontmatter, line {self.row + 2}: {said}")

    def rest(self) -> str:
        """What is left of the line."""
        return self.lines[self.row][self.col :]

    def at(self) -> int:
        """The offset of the cursor in the source."""
        return self.starts[self.row] + self.col if self.row < len(self.lines) else self.size

    def content(self) -> bool:
        """Go to the next line that says something, from the beginning of a line."""
        while self.row < len(self.lines):
            line = self.lines[self.row]
            self.col = len(line) - len(line.lstrip(" "))
            if self.rest() and not self.rest().startswith("#"):
                if self.rest().startswith("\t"):
                    raise self.error("tabs must not indent")
                return True
            self.row += 1
        return False

    def deeper(self) -> None:
        """Count a level down. Raises HeadError where it is one too many."""
        self.depth += 1
        if self.depth > _MAX_LEVELS:
            raise self.error(f"is over {_MAX_LEVELS} levels deep")

"""The scalars of a frontmatter: plain, quoted and block, each read as text."""

from __future__ import annotations

import re
from typing import NamedTuple

from core.domain.messages import Message

DOUBLE = re.compile(r'(?:[^"\\]|\\.)*')
SINGLE = re.compile(r"(?:[^']|'')*")
BLOCK = re.compile(
    r"(?P<style>[|>])(?:(?P<a>[1-9])?(?P<b>[-+])?|(?P<c>[-+])(?P<d>[1-9]))(?: +#.*)? *"
)

_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_NAMED = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}


def unescaped(text: str) -> str:
    """Resolve the escapes of a double-quoted text. Raises ValueError."""
    return _ESCAPE.sub(_escape, text)


def folded(lines: list[str]) -> str:
    """Join the lines of a flow scalar: a single break is a blank, each empty line a break."""
    text, breaks = lines[0], 0
    for line in lines[1:]:
        if not line:
            breaks += 1
            continue
        text += ("\n" * breaks or " ") + line
        breaks = 0
    return text


def quoted(lines: list[str], double: bool) -> str:
    """Return the text of a quoted scalar from its raw lines, less the quotes. Raises ValueError."""
    text, breaks, glued = "", 0, True
    for at, line in enumerate(lines):
        last = at == len(lines) - 1
        line = line.lstrip(" \t") if at else line
        escaped = double and _escapes_break(line)
        line = line if last else line[:-1] if escaped else _trimmed(line, double)
        if at and not line and not last and not escaped:
            breaks += 1
            continue
        glue = "\n" * breaks or ("" if glued else " ")
        text += glue + (unescaped(line) if double else line.replace("''", "'"))
        breaks, glued = 0, escaped
    return text


def block_text(lines: list[str], style: str, chomping: str) -> str:
    """Return the text of a block scalar from its lines, their indentation removed."""
    end = len(lines)
    while end and not lines[end - 1]:
        end -= 1
    body, trailing = lines[:end], len(lines) - end
    text = "\n".join(body) if style == "|" else _folded_block(body)
    if body and chomping != "-":
        text += "\n"
    return text + "\n" * trailing if chomping == "+" else text


def _escape(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if code is None:
        if found[4] not in _NAMED:
            raise ValueError(Message("head.escape", found=found[0]))
        return _NAMED[found[4]]
    number = int(code, 16)
    if 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
        raise ValueError(Message("head.no_character", found=found[0]))
    return chr(number)


def _trimmed(line: str, double: bool) -> str:
    """Return a line without trailing blanks; in double quotes an escaped blank is not one."""
    text = line.rstrip(" \t")
    return line[: len(text) + 1] if double and _escapes_break(text) else text


def _escapes_break(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _folded_block(lines: list[str]) -> str:
    text, breaks, previous = "", 0, ""
    for line in lines:
        if not line:
            breaks += 1
            continue
        if not previous:
            text = "\n" * breaks + line
        elif previous[0] in " \t" or line[0] in " \t":  # more indented lines are not folded
            text += "\n" * (breaks + 1) + line
        else:
            text += ("\n" * breaks or " ") + line
        previous, breaks = line, 0
    return text


_LINE = re.compile(r"([^\n]*?)(?:\r?\n|\Z)")
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]|\r(?!\n)"
)
_MARKER = re.compile(r"(?:---|\.\.\.)(?:[ \t]|$)")
_MAX_LEVELS = 32  # the reader recurses, and a hostile head must not exhaust the stack


class HeadError(ValueError):
    """The frontmatter breaks a rule; `code` names it."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


class Node(NamedTuple):
    """A value of the frontmatter; `start` and `end` are the offsets of its text in the YAML."""

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
                raise self.error(Message("path.invisible"), "head-characters")
            if _MARKER.match(line):
                raise self.error(Message("head.second_document"))
        self.row = 0

    def error(self, message: str, code: str = "head-yaml") -> HeadError:
        """Return the error for the line at the cursor; the fence is line 1."""
        return HeadError(code, Message("head.invalid", line=self.row + 2, why=message))

    def rest(self) -> str:
        """Return the rest of the line."""
        return self.lines[self.row][self.col :]

    def at(self) -> int:
        """Return the offset of the cursor in the source."""
        return self.starts[self.row] + self.col if self.row < len(self.lines) else self.size

    def content(self) -> bool:
        """Move to the next line with content, from the beginning of a line."""
        while self.row < len(self.lines):
            line = self.lines[self.row]
            self.col = len(line) - len(line.lstrip(" "))
            if self.rest() and not self.rest().startswith("#"):
                if self.rest().startswith("\t"):
                    raise self.error(Message("head.tab_indent"))
                return True
            self.row += 1
        return False

    def deeper(self) -> None:
        """Enter a nested level. Raises HeadError if it is one too many."""
        self.depth += 1
        if self.depth > _MAX_LEVELS:
            raise self.error(Message("head.too_deep", most=_MAX_LEVELS))


FIRST = r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[\-?:](?=\S))"
_REFUSED = {
    "&": ("head-anchor", Message("head.anchor")),
    "*": ("head-anchor", Message("head.anchor")),
    "!": ("head-tag", Message("head.tag")),
}


class HeadValues(HeadLines):
    """Reads one scalar from the cursor's position."""

    def plain(self, above: int) -> Node:
        """Read an unquoted scalar, over all its lines."""
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
        """Move to the line that continues a plain scalar, if there is one."""
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
        """Return part of a plain scalar. Raises HeadError if it is not one."""
        if "\t" in text:
            raise self.error(Message("head.tab"), "head-quotes")
        if re.search(r":(?: |$)", text):
            raise self.error(Message("head.colon"), "head-quotes")
        return text

    def refuse_indicator(self) -> None:
        """Refuse what cannot begin a plain scalar, anchors and tags by name."""
        rest = self.rest()
        if rest[:1] in _REFUSED:
            code, message = _REFUSED[rest[0]]
            raise self.error(message, code)
        if not re.match(FIRST, rest):
            raise self.error(Message("head.begins", char=rest[:1]), "head-quotes")

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
                raise self.error(Message("head.quotes_open"))

    def unquoted(self, texts: list[str], *, double: bool) -> str:
        """Return the text of a quoted scalar's lines."""
        try:
            return quoted(texts, double)
        except ValueError as error:
            raise self.error(error.args[0]) from error

    def literal(self, above: int) -> Node:
        """Read a block scalar after `|` or `>`."""
        header = BLOCK.fullmatch(self.rest())
        if header is None:
            raise self.error(Message("head.block_header"))
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
        """Return the indentation of a block scalar: that of its first line with content."""
        blank = 0
        for row in range(self.row, len(self.lines)):
            line = self.lines[row]
            if line.strip(" "):
                indent = len(line) - len(line.lstrip(" "))
                if indent > above and blank > indent:
                    raise self.error(Message("head.block_blank"))
                return max(indent, above + 1, 0 if indent > above else blank)
            blank = max(blank, len(line))
        return max(above + 1, blank)

"""What YAML's scalars say: quotes, folding and blocks, as far as a frontmatter may use them."""

from __future__ import annotations

import re

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
    """Join the lines of a flow scalar: one break is a blank, each empty line a break."""
    text, breaks = lines[0], 0
    for line in lines[1:]:
        if not line:
            breaks += 1
            continue
        text += ("\n" * breaks or " ") + line
        breaks = 0
    return text


def quoted(lines: list[str], double: bool) -> str:
    """Give the text of a quoted scalar from its raw lines, less the quotes. Raises ValueError."""
    text, breaks, glued = "", 0, True
    for at, line in enumerate(lines):
        last = at == len(lines) - 1
        line = line.lstrip(" \t") if at else line
        escaped = double and not last and _escapes_break(line)
        line = line if last else line[:-1] if escaped else _trimmed(line, double)
        if at and not line and not last and not escaped:
            breaks += 1
            continue
        glue = "\n" * breaks or ("" if glued else " ")
        text += glue + (unescaped(line) if double else line.replace("''", "'"))
        breaks, glued = 0, escaped
    return text


def block_text(lines: list[str], style: str, chomping: str) -> str:
    """Give the text of a block scalar from its lines, their indentation removed."""
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
            raise ValueError(f"unknown escape {found[0]}")
        return _NAMED[found[4]]
    number = int(code, 16)
    if 0xD800 <= number <= 0xDFFF or number > 0x10FFFF:
        raise ValueError(f"{found[0]} is no character")
    return chr(number)


def _trimmed(line: str, double: bool) -> str:
    """A line without the blanks at its end; in double quotes an escaped blank is none."""
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
        elif previous[0] in " \t" or line[0] in " \t":  # what is indented further is not folded
            text += "\n" * (breaks + 1) + line
        else:
            text += ("\n" * breaks or " ") + line
        previous, breaks = line, 0
    return text

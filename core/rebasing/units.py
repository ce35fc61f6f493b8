"""What is edited as one: the lines of a text, and the rows of a decision table."""

from __future__ import annotations

import re

from core.models import Kind

_ROW = re.compile(
    r"[ \t]*<rule[\s>].*?</rule>[ \t]*\n?"
    r"|[ \t]*<([\w.-]+):rule[\s>].*?</\1:rule>[ \t]*\n?",
    re.DOTALL,
)


def units(kind: Kind, text: str) -> list[str]:
    """Cut a text into what is edited as one: lines, and the rows of a decision table."""
    if text and not text.endswith("\n"):
        text += "\n"  # the last line is the same line with another one behind it
    if kind is not Kind.DMN_RULE:
        return text.splitlines(keepends=True)
    cut: list[str] = []
    at = 0
    for row in _ROW.finditer(text):
        cut += [*text[at : row.start()].splitlines(keepends=True), row[0]]
        at = row.end()
    return cut + text[at:].splitlines(keepends=True)


def without_rows(text: str) -> str:
    """Give a DMN document without the rows of its tables."""
    return _ROW.sub("", text)

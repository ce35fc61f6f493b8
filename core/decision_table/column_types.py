"""Types of columns that a draft leaves out, read off their cells."""

from __future__ import annotations

import re
from collections.abc import Iterable

ANY_TYPE = "Any"
FEEL_TYPES = (
    "string",
    "number",
    "boolean",
    "date",
    "time",
    "date and time",
    "days and time duration",
    "years and months duration",
    "Any",
)

_ALIASES = {
    "any": "Any",
    "bool": "boolean",
    "datetime": "date and time",
    "daytimeduration": "days and time duration",
    "decimal": "number",
    "double": "number",
    "float": "number",
    "int": "number",
    "integer": "number",
    "long": "number",
    "str": "string",
    "text": "string",
    "yearmonthduration": "years and months duration",
}
_AROUND = re.compile(r"\bnot\b|\.\.|[<>=!,()\[\]\s]")
_LITERALS = (
    ("string", re.compile(r'"(?:[^"\\]|\\.)*"')),
    ("date and time", re.compile(r'date and time\("[^"]*"\)')),
    ("date", re.compile(r'date\("[^"]*"\)|@"\d{4}-\d\d-\d\d"')),
    ("time", re.compile(r'time\("[^"]*"\)|@"\d\d:\d\d[^"]*"')),
    ("boolean", re.compile(r"\b(?:true|false)\b")),
    ("number", re.compile(r"-?(?:\d+(?:\.\d+)?|(?<!\.)\.\d+)")),
)


def feel_type(name: str) -> str | None:
    """Give the FEEL type that a name stands for, or None where there is no such type."""
    text = " ".join(name.split())
    return text if text in FEEL_TYPES else _ALIASES.get(text.lower())


def guess_type(cells: Iterable[str]) -> str:
    """Give the FEEL type of a column from its cells; `Any` where they do not agree."""
    kinds = {_kind(cell) for cell in cells if cell not in {"", "-", "null"}}
    return kinds.pop() if len(kinds) == 1 else "Any"


def _kind(cell: str) -> str:
    for name, literal in _LITERALS:
        rest, found = literal.subn("", cell)
        if found and not _AROUND.sub("", rest):
            return name
    return "Any"

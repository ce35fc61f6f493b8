"""The columns that a draft asks for, checked against its rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from core.decision_table.cells import clean, one_line, text_problem
from core.domain.messages import Message
from core.domain.models import InputColumn, OutputColumn

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
    """Return the FEEL type that a name stands for, or None if there is none."""
    text = " ".join(name.split())
    return text if text in FEEL_TYPES else _ALIASES.get(text.lower())


def guess_type(cells: Iterable[str]) -> str:
    """Return the FEEL type of a column judged by its cells; `Any` if they disagree."""
    kinds = {_kind(cell) for cell in cells if cell not in {"", "-", "null"}}
    return kinds.pop() if len(kinds) == 1 else "Any"


def _kind(cell: str) -> str:
    for name, literal in _LITERALS:
        rest, found = literal.subn("", cell)
        if found and not _AROUND.sub("", rest):
            return name
    return "Any"


MAX_NAME = 200

Cells = Mapping[str, str]
Columns = Sequence[InputColumn | OutputColumn]


def by_column(cells: Cells) -> dict[str, str]:
    """Return a row's cells by normalised column name, each trimmed."""
    return {one_line(name): clean(cell) for name, cell in cells.items()}


def column_types(given: Columns, rows: Sequence[Cells], problems: list[str]) -> dict[str, str]:
    """Return name -> FEEL type of a draft's columns; if none are given, of those its rows name.

    An omitted type is inferred from the cells. Problems are appended to `problems`.
    """
    declared = [(one_line(column.name), _declared(column, problems)) for column in given]
    named = dict.fromkeys(name for row in rows for name in row)
    pairs = declared or [(name, None) for name in named]
    problems += [
        Message("draft.two_columns", name=name) for name in duplicates(name for name, _ in declared)
    ]
    types = {name: kind or guess_type(row.get(name, "") for row in rows) for name, kind in pairs}
    for name in types:
        problems += name_problems(name, Message("draft.a_column"))
    return types


def input_columns(types: Mapping[str, str], given: Columns) -> list[InputColumn]:
    """Return the input clauses of the types, with what else the draft's columns say."""
    known = {one_line(column.name): clean(column.allowed) for column in given}
    return [
        InputColumn(name=name, type=kind, allowed=known.get(name, ""))
        for name, kind in types.items()
    ]


def output_columns(types: Mapping[str, str], given: Columns) -> list[OutputColumn]:
    """Return the output clauses of the types, with what else the draft's columns say."""
    plain = input_columns(types, given)
    defaults = {
        one_line(column.name): clean(column.default)
        for column in given
        if isinstance(column, OutputColumn)
    }
    return [
        OutputColumn(**column.model_dump(), default=defaults.get(column.name, ""))
        for column in plain
    ]


def name_problems(name: str, what: str) -> list[str]:
    """Return what is wrong with the normalised name of a table or column."""
    if not name:
        return [Message("name.blank", what=what)]
    if len(name) > MAX_NAME:
        return [Message("name.long", what=what, most=MAX_NAME, name=name[:40])]
    problem = text_problem(name)
    if problem is None:
        return []
    return [Message("name.wrong", name=name, why=problem)]


def duplicates(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, ordered by their second occurrence."""
    seen: set[str] = set()
    again: dict[str, None] = {}
    for name in names:
        if name in seen:
            again[name] = None
        seen.add(name)
    return list(again)


def _declared(column: InputColumn | OutputColumn, problems: list[str]) -> str | None:
    if "type" not in column.model_fields_set:
        return None
    kind = feel_type(column.type)
    if kind is None:
        problems.append(
            Message(
                "draft.unknown_type",
                name=column.name,
                type=column.type,
                types=", ".join(FEEL_TYPES),
            )
        )
    return kind

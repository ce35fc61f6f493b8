"""Edits of a known decision table by the offline model, which never lose a row.

A row with the same limit or outcome is changed, others are added. If only one row may match a
case, limits become steps: of two overlapping rows, the outer one gives up what the inner covers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import JsonValue

from core.agent.offline.spans import Span, read_span, write_span
from core.agent.offline.tables import Row, example_of, literal
from core.agent.offline.text import Cue, has, letters, words

Data = dict[str, JsonValue]
_TOGETHER = {"COLLECT", "RULE ORDER", "OUTPUT ORDER"}
_CLASH = re.compile(r"rows '([^']+)' and '([^']+)' both match")
_ENDING = re.compile(
    r"(?:이|가|은|는|을|를|의|도)$|(?:해야|합니다|한다|해요|하세요|받습니다|이다|입니다|'s)$"
)
_FORM = words(
    "받아야 받습니다 받는다 받아 필요 필요합니다 필요하다 해 해야 합니다 한다 됩니다 하세요 "
    "a an the is are be of from by for to must should need needs needed require requires required "
    "have has get gets"
)


@dataclass
class _Line:
    """A row of the table being edited; `rest` are its tests on the other columns."""

    id: str
    test: str
    rest: tuple[str, ...]
    outcomes: tuple[str, ...] = ()
    said: Row | None = None
    was: str = ""
    remark: str = ""

    @property
    def span(self) -> Span | None:
        return read_span(self.test)


def edited_table(rows: list[Row], table: Data, text: str) -> JsonValue | None:
    """Return edits that make a known table state the rows and leave the rest unchanged.

    None if no column of the table is the one that they are about.
    """
    found = _condition(table, rows)
    if found is None:
        return None
    condition, column = found
    lines = [_line(row, column) for row in _list(table, "rows") if isinstance(row, dict)]
    blank = tuple("-" for _ in _list(table, "inputs")[1:])
    policy = str(table.get("hit_policy", "UNIQUE"))
    also = has(text, Cue.ALSO) and policy not in _TOGETHER
    for row in rows:
        line = _same(row, lines) or _Line("", "", blank)
        if line not in lines:
            lines.append(line)
        line.said, line.test = row, row.test
        if not also and policy not in _TOGETHER:
            _separate(line, lines)
    changed = [line for line in lines if line.said or line.test != line.was]
    outcome = str(_columns(table, "outputs")[0]["name"])
    edits: Data = {"rows": [_edit(line, condition, outcome) for line in changed]}
    is_added = any(not line.id for line in changed)
    return edits | ({"hit_policy": "COLLECT"} if also and is_added else {})


def mode_of(edits: JsonValue) -> Data:
    """Return the merge mode that edits of a table need."""
    if isinstance(edits, dict) and "hit_policy" in edits:
        return {}
    rows = _list(edits, "rows") if isinstance(edits, dict) else []
    names = any("id" in row for row in rows if isinstance(row, dict))
    return {"merge_mode": "REFINE" if names else "EXTEND"}


def instead_of(edits: JsonValue, told: str, table: Data) -> JsonValue | None:
    """Return edits that change the known row which an added row clashed with, else None."""
    known = {str(row["id"]) for row in _list(table, "rows") if isinstance(row, dict)}
    named = [row_id for pair in _CLASH.findall(told) for row_id in pair if row_id in known]
    rows = _list(edits, "rows") if isinstance(edits, dict) else []
    added = [row for row in rows if isinstance(row, dict) and "id" not in row]
    changed = [row for row in rows if row not in added]
    if not named or len(added) != 1 or any(row.get("id") == named[0] for row in _dicts(changed)):
        return None
    return {"rows": [*changed, {**added[0], "id": named[0]}]}


def _separate(line: _Line, lines: list[_Line]) -> None:
    for other in lines:
        mine, theirs = line.span, other.span
        if other is line or mine is None or theirs is None or not mine.meets(theirs):
            continue
        if theirs.within(mine) and _covers(other, line):
            left = mine.without(theirs)
            line.test = write_span(left) if left else line.test
        elif _covers(line, other):
            left = theirs.without(mine)
            other.test = write_span(left) if left else other.test


def _covers(one: _Line, other: _Line) -> bool:
    """Whether one matches, in the other columns, wherever the other does."""
    return all(mine in {"-", theirs} for mine, theirs in zip(one.rest, other.rest, strict=True))


def _same(row: Row, lines: list[_Line]) -> _Line | None:
    """Return the row with the same limit, else one with the same outcome beyond a limit."""
    mine = read_span(row.test) if row.is_number else None
    if mine is None:
        return next((line for line in lines if line.test == row.test), None)
    spans = [(line, span) for line in lines if (span := line.span)]
    same = (line for line, span in spans if mine.goes_with(span))
    moved = (line for line, span in spans if span.limits(up=mine.is_up) and _has_outcome(row, line))
    return next(same, None) or next(moved, None)


def _has_outcome(row: Row, line: _Line) -> bool:
    return any(_gist(row.outcome) == _gist(outcome) for outcome in line.outcomes)


def _gist(text: str) -> set[str]:
    """Return the words of an outcome, without endings and function words."""
    told = re.findall(r"[\w']+", text.replace('"', " ").casefold())
    ends = (_ENDING.sub("", word) or word for word in told if word not in _FORM)
    return {word for word in ends if word not in _FORM}


def _edit(line: _Line, condition: str, outcome: str) -> Data:
    edit: Data = {"inputs": {condition: line.test}, "outputs": {}}
    edit |= {"id": line.id} if line.id else {}
    if line.said is None:
        return edit | _narrowed(line, condition)
    is_same = bool(line.id) and _has_outcome(line.said, line)
    edit["annotation"] = line.said.sentence
    edit["outputs"] = {} if is_same else {outcome: literal(line.said.outcome)}
    alone = not any(test != "-" for test in line.rest) and not (line.id and line.rest)
    return edit | (example_of(line.said, condition) if alone else {})


def _narrowed(line: _Line, condition: str) -> Data:
    """Return the annotation of a narrowed row: its text, and where it matches now."""
    said = line.remark.removesuffix(f" [{condition} {line.was}]")
    return {"annotation": f"{said} [{condition} {line.test}]"} if said else {}


def _line(row: Data, column: int) -> _Line:
    tests = [str(test) for test in _list(row, "inputs")]
    outcomes = tuple(str(value) for value in _list(row, "outputs"))
    remark = str(row.get("annotation") or "")
    rest = (*tests[:column], *tests[column + 1 :])
    return _Line(str(row["id"]), tests[column], rest, outcomes, was=tests[column], remark=remark)


def _condition(table: Data, rows: list[Row]) -> tuple[str, int] | None:
    """Return the name and index of the one column that the rows' conditions apply to."""
    kinds = {one.kind for row in rows for one in row.when}
    names = {letters(row.subject) for row in rows}
    if not rows or len(kinds) != 1 or any(len(row.when) != 1 for row in rows) or len(names) != 1:
        return None
    usable = [
        (str(column["name"]), index)
        for index, column in enumerate(_columns(table, "inputs"))
        if column.get("type") in (*kinds, "Any")
    ]
    named = [found for found in usable if letters(found[0]) in names]
    return next(iter(named or usable), None) if len(usable) == 1 or named else None


def _columns(table: Data, side: str) -> list[Data]:
    return _dicts(_list(table, side))


def _dicts(values: list[JsonValue]) -> list[Data]:
    return [value for value in values if isinstance(value, dict)]


def _list(data: Data, key: str) -> list[JsonValue]:
    value = data.get(key)
    return value if isinstance(value, list) else []

"""Draft decision tables from the cases that a text states, for the offline model."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import combinations

from pydantic import JsonValue

from core.agent.offline.spans import read_span, write_span
from core.agent.offline.stated.reading import cases_in
from core.agent.offline.stated.statement import Case, Condition
from core.agent.offline.text import is_korean

_ALSO = re.compile(
    r"또한|추가로|[가-힣]도 (?:받|필요|함께|같이)|\balso\b|\bas well\b|\bin addition\b", re.I
)


@dataclass(frozen=True)
class Row:
    """A stated case as a row: its conditions, and the outcome as it was said."""

    when: tuple[Condition, ...]
    outcome: str
    sentence: str

    @property
    def subject(self) -> str:
        """Return the column of its first condition; "" where it holds for what remains."""
        return self.when[0].column if self.when else ""

    @property
    def test(self) -> str:
        """Return the test of its first condition."""
        return self.when[0].test if self.when else "-"

    @property
    def is_number(self) -> bool:
        """Whether a condition compares a number, a date or a time."""
        return any(one.kind != "string" for one in self.when)

    def test_of(self, column: str) -> str:
        """Return the test of a column, `-` where it has none."""
        return next((one.test for one in self.when if one.column == column), "-")


def rows_of(text: str) -> list[Row]:
    """Return the rows that a text states; none if part of it could not be put in rows.

    Rows that differ on one case are none either, unless the text says that one comes with another.
    """
    cases = _stepped(cases_in(text), text)
    rows = [Row(case.when, case.then, case.sentence) for case in cases]
    clash = bool(rows) and _policy(rows) == "COLLECT" and not _ALSO.search(text)
    return [] if clash else rows


def _stepped(cases: list[Case], text: str) -> list[Case]:
    """Return cases of one limited number as steps: the wider one gives up what the inner covers.

    `50만원 이상은 임원, 10만원 이상은 팀장` means that one decides, unless a text says `also`.
    """
    if _ALSO.search(text) or any(len(case.when) != 1 for case in cases):
        return cases
    stepped = list(cases)
    for at, case in enumerate(cases):
        mine = whole = read_span(case.when[0].test)
        for other in cases:
            span = read_span(other.when[0].test)
            if (
                mine is None
                or whole is None
                or span is None
                or other.when[0].column != case.when[0].column
            ):
                continue
            if span.within(whole) and (left := mine.without(span)):
                mine = left
        if mine is not None and mine != read_span(case.when[0].test):
            condition = replace(case.when[0], test=write_span(mine))
            stepped[at] = replace(case, when=(condition,))
    return stepped


def literal(text: str) -> str:
    """Return a text as a FEEL string literal."""
    plain = " ".join(text.split()).replace("\\", "/").replace('"', "'")
    return f'"{plain}"'


def new_table(rows: list[Row]) -> JsonValue:
    """Return the draft of a new table with these rows."""
    first = rows[0]
    korean = is_korean(first.sentence)
    outcome = "처리" if korean else "outcome"
    columns = {one.column: one.kind for row in rows for one in row.when}
    policy = _policy(rows)
    return {
        "name": f"{first.subject} 규칙" if korean else f"{first.subject} rule",
        "inputs": [{"name": name, "type": kind} for name, kind in columns.items()],
        "outputs": [{"name": outcome, "type": "string"}],
        "rows": [
            {
                "inputs": {column: row.test_of(column) for column in columns},
                "outputs": {outcome: literal(row.outcome)},
                "annotation": row.sentence,
                **(example_of(row, first.subject) if len(columns) == 1 else {}),
            }
            for row in rows
        ],
        **({"hit_policy": policy} if policy != "UNIQUE" else {}),
    }


def example_of(row: Row, column: str) -> dict[str, JsonValue]:
    """Return the example named in the text: the value, or the limit if it is included."""
    if not row.is_number:
        plain = row.test.startswith('"') and "," not in row.test
        return {"example": {column: json.loads(row.test)}} if plain else {}
    sign, _, limit = row.test.partition(" ")
    is_plain = sign in {">=", "<="} and row.when[0].kind == "number"
    return {"example": {column: json.loads(limit)}} if is_plain else {}


def _policy(rows: list[Row]) -> str:
    """Return the hit policy: whether several rows may match, and whether they then agree."""
    if not rows[-1].when:
        return "FIRST"
    meeting = [(a, b) for a, b in combinations(rows, 2) if _meet(a, b)]
    if not meeting:
        return "UNIQUE"
    return "ANY" if all(a.outcome == b.outcome for a, b in meeting) else "COLLECT"


def _meet(one: Row, other: Row) -> bool:
    """Whether two rows can match the same case, as far as their tests tell."""
    columns = {part.column for row in (one, other) for part in row.when}
    return all(_overlap(one.test_of(column), other.test_of(column)) for column in columns)


def _overlap(one: str, other: str) -> bool:
    if "-" in (one, other):
        return True
    mine, theirs = read_span(one), read_span(other)
    if mine is not None and theirs is not None:
        return mine.meets(theirs)
    if one.startswith("not(") is not other.startswith("not("):
        inner, outer = (one, other) if other.startswith("not(") else (other, one)
        return not set(_values(inner)) <= set(_values(outer[4:-1]))
    return bool(set(_values(one)) & set(_values(other))) or "not(" in one


def _values(tests: str) -> list[str]:
    return [value.strip() for value in tests.split(",")]

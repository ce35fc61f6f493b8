"""Parse conditions with amounts for the offline model, and draft rows of decision tables."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

from pydantic import JsonValue

from core.agent.offline.spans import read_span
from core.agent.offline.text import clauses, is_korean, letters, words

_UNITS = {"천": 10**3, "만": 10**4, "십만": 10**5, "백만": 10**6, "천만": 10**7, "억": 10**8}
_WORDS = {"k": 10**3, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_AMOUNT = (
    r"(?P<amount>\d[\d,]*(?:\.\d+)?\s*(?:천만|백만|십만|억|만|천|thousand|million|billion|k\b)?"
    r"(?:\s*\d[\d,]*\s*(?:천만|백만|십만|만|천))*)"
)
_PART = re.compile(r"(\d[\d,]*(?:\.\d+)?)\s*(천만|백만|십만|억|만|천|thousand|million|billion|k)?")
_KOREAN = re.compile(
    _AMOUNT + r"\s*(?:원|건|개|명|일|시간|분|%|퍼센트|달러|점|회|번|KRW|USD|kg)?"
    r"\s*(?:을|를|이|가|은|는|보다)?\s*"
    r"(?P<test>넘|초과|이상|이하|미만|미달|(?<=보다 )(?:크|많|높|작|적|낮))"
)
_ENGLISH = re.compile(
    r"\b(?P<test>over|above|more than|greater than|exceed(?:s|ing)?|at least|under|below"
    r"|less than|fewer than|at most|up to)\s+(?:₩|\$|€|KRW|USD|EUR)?\s*"
    + _AMOUNT
    + r"(?:\s*(?:KRW|USD|EUR|won|dollars|items|days|hours|minutes|percent|%|people))?",
    re.IGNORECASE,
)
_TESTS = {
    ">": r"넘|초과|크|많|높|over|above|more|greater|exceed",
    ">=": r"이상|at least",
    "<=": r"이하|at most|up to",
    "<": r"미만|미달|작|적|낮|under|below|less|fewer",
}
_IF_KOREAN = re.compile(
    r"^(?P<case>.{2,60}?)(?:인|일|하는|한|할|된|되는)?\s?(?:경우|때|이면|라면)(?:에는|에|엔|는)?[,\s]+"
    r"(?P<outcome>.+)$"
)
_IF_ENGLISH = re.compile(
    r"\bif\s+(?P<case>[^,]{2,80}?)(?:,\s*(?:then\s+)?|\s+then\s+)(?P<outcome>.+)$", re.IGNORECASE
)
_IS_KOREAN = re.compile(r"^(?P<subject>[\w ]{1,30}?)[이가]\s(?P<value>\S.*)$")
_IS_ENGLISH = re.compile(
    r"^(?:the |an? )?(?P<subject>[\w ]{1,30}?) (?:is|are) (?P<value>.+)$", re.I
)
_AFTER = re.compile(
    r"^(?:으면|면|하면|이면|어서면|가면|할|하는|한|일|인|은|는|의)?\s*"
    r"(?:경우|때)?(?:에는|에|엔|는)?[,\s]*(?:then\s+)?",
    re.IGNORECASE,
)
_PARTICLE = re.compile(r"(?:이|가|은|는|을|를|의)$")
_LEAD = words(
    "if when for any all the a an is are of that which please now and from on it its total costs "
    "cost takes 앞으로 앞으로는 이제 이제는 이젠 만약 만일 그리고 또한 단 다만 총"
)


@dataclass(frozen=True)
class Row:
    """One condition and its outcome; `test` is a FEEL unary test."""

    subject: str
    test: str
    outcome: str
    sentence: str
    is_number: bool


def rows_of(text: str) -> list[Row]:
    """Return the rules stated in a text, one per clause that states one.

    A clause without a subject inherits the previous one.
    """
    rows: list[Row] = []
    for clause in clauses(text):
        row = _row(clause)
        if row is not None:
            inherited = rows[-1].subject if rows else _default_subject(clause)
            rows.append(row if row.subject else replace(row, subject=inherited))
    return rows


def amount(text: str) -> str:
    """Return an amount in digits: `100만` is 1000000, `1억 5천만` is 150000000."""
    total = 0.0
    for digits, unit in _PART.findall(text):
        factor = _UNITS.get(unit) or _WORDS.get(unit.lower(), 1)
        total += float(digits.replace(",", "")) * factor
    return f"{total:.6f}".rstrip("0").rstrip(".")


def _row(clause: str) -> Row | None:
    found = _KOREAN.search(clause) or _ENGLISH.search(clause)
    if found is None:
        return _if_then(clause)
    before, after = clause[: found.start()], clause[found.end() :]
    outcome = _AFTER.sub("", after, count=1).strip(" .,;")
    if len(letters(outcome)) < 2:
        outcome = before.strip(" .,;")
    operator = next(
        sign for sign, verbs in _TESTS.items() if re.match(verbs, found["test"].lower())
    )
    test = f"{operator} {amount(found['amount'].lower())}"
    return Row(_subject(before), test, outcome, clause, is_number=True)


def _if_then(clause: str) -> Row | None:
    found = _IF_KOREAN.match(clause) or _IF_ENGLISH.search(clause)
    if found is None:
        return None
    case, outcome = found["case"].strip(), found["outcome"].strip(" .")
    named = _IS_KOREAN.match(case) or _IS_ENGLISH.match(case)
    subject = named["subject"] if named else "조건" if is_korean(clause) else "case"
    test = literal(named["value"] if named else case)
    return Row(subject, test, outcome, clause, is_number=False)


def _subject(before: str) -> str:
    words = [word for word in re.findall(r"[\w-]+", before) if word.casefold() not in _LEAD][-2:]
    return " ".join([*words[:-1], *(_PARTICLE.sub("", word) or word for word in words[-1:])])


def _default_subject(clause: str) -> str:
    return "금액" if is_korean(clause) else "amount"


def literal(text: str) -> str:
    """Return a text as a FEEL string literal."""
    plain = " ".join(text.split()).replace("\\", "/").replace('"', "'")
    return f'"{plain}"'


def new_table(rows: list[Row]) -> JsonValue:
    """Return the draft of a new table with these rows."""
    first = rows[0]
    korean = is_korean(first.sentence)
    outcome = "처리" if korean else "outcome"
    return {
        "name": f"{first.subject} 규칙" if korean else f"{first.subject} rule",
        "inputs": [{"name": first.subject, "type": "number" if first.is_number else "string"}],
        "outputs": [{"name": outcome, "type": "string"}],
        "rows": [
            {
                "inputs": {first.subject: row.test},
                "outputs": {outcome: literal(row.outcome)},
                "annotation": row.sentence,
                **example_of(row, first.subject),
            }
            for row in rows
        ],
        **({"hit_policy": "COLLECT"} if _meet(rows) else {}),
    }


def example_of(row: Row, column: str) -> dict[str, JsonValue]:
    """Return the example named in the text: the value, or the limit if it is included."""
    if not row.is_number:
        return {"example": {column: json.loads(row.test)}}
    sign, limit = row.test.split(" ", 1)
    return {"example": {column: json.loads(limit)}} if sign in {">=", "<="} else {}


def _meet(rows: list[Row]) -> bool:
    """Whether two of the rows can match the same case."""
    spans = [span for row in rows if row.is_number and (span := read_span(row.test))]
    tests = [row.test for row in rows if not row.is_number]
    return len(set(tests)) < len(tests) or any(
        span.meets(other) for index, span in enumerate(spans) for other in spans[index + 1 :]
    )

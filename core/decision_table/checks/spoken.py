"""Text in an input cell that reads like a test: `"19세 미만"` is met by nothing but that text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from core.decision_table.checks.finding import Finding, brief, warning
from core.decision_table.columns import ANY_TYPE
from core.decision_table.evaluation.given import value_type
from core.decision_table.feel import parse_tests
from core.decision_table.feel.values import NoValue
from core.domain.errors import RuleInvalid
from core.domain.messages import Message
from core.domain.models import DecisionTable, DefectKind

_NUMBER = r"[-+]?\d[\d,]*(?:\.\d+)?"
_UNIT = r"\s?(?:[%°₩$€£]|[A-Za-z가-힣]{1,4})?"
_NATIVE = {
    "한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9,
    "열": 10, "스무": 20, "서른": 30,
}  # fmt: skip
_COUNT = rf"(?P<n>{_NUMBER}|{'|'.join(_NATIVE)})"
_AMOUNT = rf"[₩$€£]?\s?{_COUNT}(?P<big>천만|백만|십만|억|만|천|k\b)?{_UNIT}"
_BIG = {"천": 10**3, "만": 10**4, "십만": 10**5, "백만": 10**6, "천만": 10**7, "억": 10**8}
_BIG["k"] = 10**3
_LONGEST = 80  # longer texts say more than a test
_SIGNS = {"≥": ">=", "=>": ">=", "≤": "<=", "=<": "<="}
# The sign, and the pattern of a whole text that says it.
_SAID = (
    (">=", rf"{_AMOUNT}\s?(?:이상|부터|or (?:more|over|above|older|higher)|and (?:over|up"
        rf"|above)|\+)"),
    ("<=", rf"{_AMOUNT}\s?(?:이하|이내|까지|or (?:less|under|below|fewer|younger|lower))"),
    (">", rf"{_AMOUNT}\s?(?:[을를이가]\s?)?(?:초과|넘음|넘는|넘을 때)"),
    ("<", rf"{_AMOUNT}\s?(?:미만|미달)"),
    (">=", rf"(?:최소|적어도)\s?{_AMOUNT}"),
    ("<=", rf"(?:최대|많아야)\s?{_AMOUNT}"),
    (">", rf"(?:over|above|more than|greater than|exceeding|older than|higher than)\s{_AMOUNT}"),
    (">=", rf"(?:at least|from|min(?:imum)?\.?|no less than)\s{_AMOUNT}"),
    ("<=", rf"(?:at most|up to|max(?:imum)?\.?|no more than|within)\s{_AMOUNT}"),
    ("<", rf"(?:under|below|less than|fewer than|younger than|lower than)\s{_AMOUNT}"),
)  # fmt: skip
_WRITTEN = re.compile(rf"(?P<sign>>=|<=|=>|=<|≥|≤|!=|<|>|=)\s*(?P<n>{_NUMBER}){_UNIT}")
_RANGE = re.compile(
    rf"(?:between\s)?(?P<low>{_NUMBER}){_UNIT}\s?(?:~|\.\.|–|에서|부터|to\b|and\b|through\b)\s?"
    rf"(?P<high>{_NUMBER}){_UNIT}(?:\s?(?:사이|까지))?",
    re.IGNORECASE,
)
# Grades and days, which as texts have no order.
_ORDERED = re.compile(
    r"(?:[A-F][+-]?|[월화수목금토일]요일|VIP|골드|실버|브론즈)\s?(?:등급|학점)?\s?"
    r"(?:이상|이하|초과|미만|이후|이전|부터|까지)"
    r"|(?:grade |class )?[A-F][+-]? (?:or|and) (?:higher|above|better|lower|below|worse)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day (?:or|and) (?:later|earlier|after|before)"
    r"|(?:after|before|from|until) (?:mon|tues|wednes|thurs|fri|satur|sun)day",
    re.IGNORECASE,
)
_BRACKETS = re.compile(
    rf"[\[(\]]\s*{_NUMBER}\s*\.\.\s*{_NUMBER}\s*[\])\[]"
    rf"|not\(.+\)",
    re.IGNORECASE,
)


@cache  # when first asked: most commands check no table
def _spoken() -> list[tuple[str, re.Pattern[str]]]:
    return [(sign, re.compile(text, re.IGNORECASE)) for sign, text in _SAID]


def read_as_test(text: str) -> str | None:
    """Return the FEEL test that a text reads like, such as `< 19` for `19세 미만`, or None."""
    plain = " ".join(text.split())
    if len(plain) > _LONGEST:
        return None
    if _BRACKETS.fullmatch(plain):
        return plain
    if found := _WRITTEN.fullmatch(plain):
        return f"{_SIGNS.get(found['sign'], found['sign'])} {_digits(found['n'])}"
    if found := _RANGE.fullmatch(plain):
        return f"[{_digits(found['low'])}..{_digits(found['high'])}]"
    for sign, pattern in _spoken():
        if found := pattern.fullmatch(plain):
            factor = _BIG.get((found["big"] or "").lower(), 1)
            return f"{sign} {_digits(found['n'], factor)}"
    return None


def _digits(number: str, factor: int = 1) -> str:
    number = str(_NATIVE.get(number, number))
    plain = number.replace(",", "")
    if factor == 1:
        return plain
    return f"{float(plain) * factor:.6f}".rstrip("0").rstrip(".")


def spoken_tests(table: DecisionTable) -> Iterator[Finding]:
    """Yield the texts of input cells that read like tests, unless they are allowed values."""
    for position, column in enumerate(table.inputs):
        if not _may_be_text(column.type):
            continue
        allowed = set(_texts(column.allowed)) if column.allowed else set()
        for row in table.rows:
            for text in _texts(row.inputs[position]) if position < len(row.inputs) else ():
                said = None if text in allowed else _said(row.id, column.name, text)
                if said is not None:
                    yield warning(
                        DefectKind.SPOKEN_TEST, said, rows=(row.id,), columns=(column.name,)
                    )


def _said(row: str, column: str, text: str) -> Message | None:
    """Return what to say of a text that reads like a test; None of any other."""
    instead = read_as_test(text)
    if instead is not None:
        at = {"row": row, "column": column, "text": brief(text)}
        return Message("table.spoken_test", **at, instead=brief(instead))
    if _ORDERED.fullmatch(" ".join(text.split())):
        return Message("table.spoken_order", row=row, column=column, text=brief(text))
    return None


def _may_be_text(kind: str) -> bool:
    try:
        return value_type(kind) in {"string", ANY_TYPE}
    except NoValue:
        return False


def _texts(cell: str) -> list[str]:
    """Return the strings that a cell compares its input with."""
    if '"' not in cell:
        return []
    try:
        tests = parse_tests(cell)
    except RuleInvalid:
        return []
    parts = [
        part for test in tests.parts for part in (test.parts if test.op == "negated" else [test])
    ]
    values = [item for part in parts for item in (part.parts if part.op == "list" else [part])]
    return [
        value.value for value in values if value.op == "literal" and isinstance(value.value, str)
    ]

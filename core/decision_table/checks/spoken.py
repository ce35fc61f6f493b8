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
_AMOUNT = rf"[₩$€£]?\s?(?P<n>{_NUMBER})(?P<big>천만|백만|십만|억|만|천|k\b)?{_UNIT}"
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
                instead = None if text in allowed else read_as_test(text)
                if instead is not None:
                    yield warning(
                        DefectKind.SPOKEN_TEST,
                        Message(
                            "table.spoken_test",
                            row=row.id,
                            column=column.name,
                            text=brief(text),
                            instead=brief(instead),
                        ),
                        rows=(row.id,),
                        columns=(column.name,),
                    )


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

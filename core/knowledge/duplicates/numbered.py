"""The number by which a text names its subject: `3호기 점검은`, `line 2 is`; no `3 times`."""

from __future__ import annotations

import re
from typing import NamedTuple

# What is told apart by numbers and not counted by them; the noun may follow, or hold the number.
# No short noun that begins others: `2번 방문`, `3번 문의` are counts.
_COUNTLESS = "호기|호점|호선|호실|호차|호관"
_PARTS = "공장|창고|라인|병동|구역|지점|단계|층|동|팀|반|관|차"
_THINGS = (
    "거래처|고객|손님|환자|업체|협력사|창고|창구|라인|공장|지점|매장|게이트|출구|입구|출입구|서버"
    "|차량|구역|계좌|회의실|테이블|좌석|버스|노선|부스|침대|탱크|설비|기계|프린터|승강기|엘리베이터"
    "|주차장"
)
_NAMED = (
    "line|gate|dock|floor|building|warehouse|plant|branch|team|zone|bay|aisle|lane|counter|window"
    "|ward|tank|machine|printer"
)
_COUNTS = ("첫", "두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열")
_ORDINALS = (
    *("first", "second", "third", "fourth", "fifth"),
    *("sixth", "seventh", "eighth", "ninth", "tenth"),
)
# At the beginning alone: elsewhere the number is what the text says (`환불은 3번 창구에서`).
_KOREAN = re.compile(
    rf"""
    \s*(?:제\s?)?(?:(?P<number>\d{{1,4}})\s?|(?P<count>{"|".join(_COUNTS)})\s(?=번째))
    (?:(?P<sure>{_COUNTLESS})|(?:{_PARTS})|번째?(?=\s?(?:{_THINGS})))
    """,
    re.VERBOSE,
)
_TOPIC = re.compile(r"\s?[가-힣]{0,12}?(?:은|는|의|에게)(?:\s|$)")
_SUBJECT = re.compile(r"\s?[가-힣]{0,12}?(?:이|가)(?:\s|$)")
_OBJECT = re.compile(
    r"\s?[가-힣]{0,12}(?:에|에서|에서는|에는|을|를|로|으로|로는|까지|까지는|부터|마다)(?:\s|$)"
)
_WORD = re.compile(r"\s?[^\s]{1,20}")
_WORDS = 3  # of a noun phrase, before its particle
_ENGLISH = re.compile(
    rf"""
    \s*(?:\w+\s(?:for|of)\s)?(?:(?:the|our)\s)?
    (?:(?:{_NAMED})\s(?P<number>\d{{1,4}})\b(?![.,:]\d|\s?%|\s(?:to|and|or)\b)
      |(?:(?P<nth>\d{{1,4}})(?:st|nd|rd|th)|(?P<ordinal>{"|".join(_ORDINALS)}))[ -]
       (?=(?:{_NAMED}|shift)s?\b))
    """,
    re.VERBOSE | re.IGNORECASE,
)


class Numbered(NamedTuple):
    """A number that names, and where it stands in the text."""

    number: int
    start: int
    end: int


def numbered_subject(text: str) -> Numbered | None:
    """Return the number by which the beginning of a text names its subject, None without one."""
    if (match := _KOREAN.match(text)) and _is_topic(text, match):
        count = match["count"]
        number = int(match["number"]) if count is None else _COUNTS.index(count) + 1
        start = match.start("number") if count is None else match.start("count")
        return Numbered(number, start, match.end())
    if match := _ENGLISH.match(text):
        group = match.lastgroup or "number"
        told = match[group]
        number = int(told) if told.isdecimal() else _ORDINALS.index(told.casefold()) + 1
        end = match.end(group) if group == "number" else match.end() - 1
        return Numbered(number, match.start(group), end)
    return None


def _is_topic(text: str, match: re.Match[str]) -> bool:
    """Whether the noun phrase that begins with the number is what the text is about."""
    at = match.end()
    for _ in range(_WORDS):
        if _OBJECT.match(text, at):
            return False
        if _TOPIC.match(text, at) or (match["sure"] and _SUBJECT.match(text, at)):
            return True
        rest = _WORD.match(text, at)
        if rest is None:
            return False
        at = rest.end()
    return False

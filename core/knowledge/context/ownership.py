"""Whose an item is: what is about a named customer, branch or person matters where it is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from core.domain.models import Kind
from core.domain.models.context import TaskMatch

_CHARS = 2_000  # of an item, what it is about stands at its beginning
_WORD = re.compile(r"[A-Z][A-Za-z]*[a-z][A-Za-z]*")  # not AWS or VAT, which are no names of anybody
_BEGINS = re.compile(r"[\n.!?:;•–—\-\"'“‘][\s\"'“‘(]*\Z")  # here each word has a capital
_BEFORE = 8  # characters that are looked at for that
# German has capitals too, on each noun: they are names where a text is English.
_IS_ENGLISH = re.compile(
    r"\b(?:the|of|to|and|for|with|is|are|from|not|when|only|by|at|on|no|any|every|we|our|you|they|them"
    r"|their|this|that|it|must|should|more|than)\b",
    re.IGNORECASE,
)
_DATES = (
    "monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays"
    " fridays saturdays sundays january february march april may june july august september october"
    " november december english korean mr mrs ms dr"
)
_FIRM = "상사|물산|전자|산업|테크|유통|식품|건설|제약|물류|출판|정밀|화학|섬유|통신|은행|병원"
_PLACE = "지점|매장|공장|지사|영업소|대리점|사업소|캠퍼스"
_SURNAMES = (
    "김이박최정강조윤장임한오서신권황안송류전홍유고문양손배백허남심"
    "노하곽성차주우구민진지엄채원천방공현함변"
)
_PARTICLES = "은는이가을를에께의과와만도한으로"
_KOREAN = re.compile(
    rf"(?<![가-힣])(?P<firm>[가-힣]{{2,8}}(?:{_FIRM}))(?![가-힣]{{3}})"
    rf"|(?<![가-힣])(?P<place>[가-힣]{{2,4}}) (?:{_PLACE})"
    rf"|(?<![가-힣])(?P<person>[{_SURNAMES}][가-힣]{{1,2}}) ?(?:님|씨)(?=[{_PARTICLES}]|[^가-힣]|$)"
)
# Before such words stand descriptions too.
_DESCRIBE = (
    "모든 각 우리 해당 어느 다른 신규 기존 상대 전체 일부 가까운 같은 본사 자사 타사 국내 해외"
    " 직영 이사 지점장 이사장 조합장 주주 원장 구매자 신청자 지원자 주임 조교 전무 상무"
    " 고객 손님 선생 기사"
)
_NO_NAMES = frozenset([*_DATES.split(), *_DESCRIBE.split()])


def is_of_others(one: TaskMatch, task: str) -> bool:
    """Whether an item is about somebody or some place by name, and the task names none of them."""
    return names_others(one.name if one.kind is Kind.DMN_RULE else one.content, task)


def names_others(text: str, task: str) -> bool:
    """Whether a text has names, and the task none of them."""
    names = _names(text[:_CHARS])
    said = task.casefold()
    return bool(names) and not any(name in said for name in names)


@lru_cache(maxsize=4_096)
def _names(text: str) -> frozenset[str]:
    return frozenset([*_english(text), *_korean(text)])


def _english(text: str) -> Iterator[str]:
    if not _IS_ENGLISH.search(text):
        return
    for word in _WORD.finditer(text):
        name = word[0].casefold()
        before = text[max(0, word.start() - _BEFORE) : word.start()]
        if before.strip() and name not in _NO_NAMES and not _BEGINS.search(before):
            yield name


def _korean(text: str) -> Iterator[str]:
    for found in _KOREAN.finditer(text):
        name = found["firm"] or found["place"] or found["person"]
        if name not in _NO_NAMES:
            yield name

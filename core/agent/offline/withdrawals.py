"""Detect withdrawals for the offline model, and which known item they concern."""

from __future__ import annotations

import re
from typing import Protocol

from core.agent.offline.tables import rows_of
from core.agent.offline.text import Cue, clauses, has, letters, words

RELATED = 0.5  # share of the named words that an item must have
_ASKS = re.compile(
    r"(?:삭제|폐지|제거)\s?(?:해|하|부탁|바랍|요청)|(?:없애|지워|잊어)\s?(?:주|버려|달라)"
    r"|\b(?:delete|forget|remove|drop|scrap) (?:it|this|that|the|our|my)\b",
    re.I,
)
_LASTING = re.compile(
    r"항상|언제나|반드시|매번|마다|[가-힣]면 |[가-힣] ?(?:때|경우)|(?:뒤|후)에?는? |하지 마|지 말"
    r"|\balways\b|\bevery\b|\beach\b|\bafter\b|\bbefore\b|\bwhen|\bif\b|\bnever\b"
    r"|\bdo(?:n't| not)\b",
    re.I,
)
_VERB = re.compile(
    r"삭제|폐지|제거|없애|지[워우]|\b(?:delete|remove|drop|scrap|forget|purge)\b", re.I
)
_THINGS = re.compile(
    r"파일|폴더|디렉터리|데이터|로그|캐시|개인정보|첨부|초안|중복|머리글|(?:^|\s)[행열줄][은을이]"
    r"|\b(?:files?|folders?|director(?:y|ies)|data|logs?|caches?|attachments?|drafts?|duplicates?"
    r"|copies|headers?|rows?|columns?|lines?|records?)\b",
    re.I,
)
_WITHDRAWS = re.compile(
    r"더\s?이상|더는|규칙|기준|룰|스킬|지침|메모|기억|정책|\bno longer\b"
    r"|\b(?:rule|skill|memory|note|guideline|policy|threshold|procedure|instruction)s?\b",
    re.I,
)
_WORD = re.compile(r"[A-Za-z]+|[0-9]+(?:[,.][0-9]+)*|[가-힣]+")
_FORM = re.compile(
    r"(?:더|이상|이상은|더는|이제|이젠|이제는|안|않\w*|이|그|저|해당|삭제\w*|폐지\w*|제거\w*|무효\w*"
    r"|없애\w*|지워\w*|잊어\w*|쓰\w*|쓴\w*|씁니다|써\w*|사용하?\w*|보내지|하지|말\w*|마세요|주세요|줘\w*|주십시오"
    r"|부탁\w*|바랍니다|해|해줘|해주세요|합니다|했\w*|됩니다|되었\w*|됐\w*|필요\w*|없\w*|규칙\w*|기준\w*|룰\w*|스킬\w*"
    r"|지침\w*|메모\w*|기억\w*|내용\w*|절차\w*|것\w*|대한|관한|관련\w*|앞으로\w*|그냥|좀)"
)
_ENGLISH_FORM = words(
    "we i you it its is are was be our my the a an this that any on of for to in about no not "
    "longer more anymore please delete deleted remove removed drop scrap forget withdraw withdrawn "
    "obsolete abolish abolished discontinue discontinued do does don t s use used uses need needed "
    "needs apply applies rule rules skill skills memory note guideline policy and so now from with "
    "threshold procedure instruction"
)


class Known(Protocol):
    """The compared parts of a known item."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def excerpt(self) -> str:
        """The excerpt of its text."""


def asks_to_delete(text: str) -> bool:
    """Whether a clause asks to delete something known, rather than to delete as part of work."""
    return not has(text, Cue.SEQUENCE) and any(map(_asks, clauses(text)))


def deletes_as_work(text: str) -> bool:
    """Whether deleting is part of the described work, which withdraws nothing."""
    return any(map(_is_work, clauses(text)))


def is_about(text: str, known: Known) -> bool:
    """Whether an item has every number and half of the words that a withdrawal names."""
    named = [word for word in _WORD.findall(text.casefold()) if not _is_form(word)]
    text_of_item = letters(f"{known.name} {known.excerpt}")
    found = [word for word in named if _stem(word) in text_of_item]
    has_numbers = all(word in found for word in named if word[0].isdigit())
    return has_numbers and bool(named) and len(found) >= RELATED * len(named)


def _asks(clause: str) -> bool:
    is_work = _LASTING.search(clause) or rows_of(clause) or _is_work(clause)
    return bool(_ASKS.search(clause)) and not is_work


def _is_work(clause: str) -> bool:
    """Whether a deletion is recurrent, or of files and the like, and withdraws nothing known."""
    if not _VERB.search(clause) or _WITHDRAWS.search(clause):
        return False
    return bool(_LASTING.search(clause) or _THINGS.search(clause))


def _is_form(word: str) -> bool:
    return bool(_FORM.fullmatch(word)) or word in _ENGLISH_FORM


def _stem(word: str) -> str:
    """Return a word without its last one or two letters, if long enough: a crude stem."""
    least = 3 if word.isascii() else 2
    if word[0].isdigit() or len(word) <= least:
        return letters(word)
    return word[: max(least, len(word) - (2 if word.isascii() else 1))]

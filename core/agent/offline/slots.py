"""Whether two sentences say the same of one thing, but for the value in one slot.

`보고서는 PDF로 보내 주세요` and `보고서는 엑셀로 보내 주세요` cannot both be meant. `배송비는 무료`
and `교환비는 무료` can: what differs is what they are about. Nor is an object a slot, or whom
something is for: a table may be wanted beside a chart, a coupon for new customers beside others.
"""

from __future__ import annotations

import re

from core.agent.offline.text import clauses, is_korean
from core.agent.offline.wording import NO_SLOT, are_of_a_kind
from core.knowledge.duplicates import Evidence

_SUBJECT = re.compile(r"(?<=[가-힣A-Za-z0-9])[은는을를]$")
_HOW_OR_WHERE = re.compile(r"(?P<noun>\S+?)(?P<particle>으로|로|에서)만?$")
_BESIDE = re.compile(r"(?:은|는|도|과|와|이?나|이?랑)$")
_DOES = re.compile(
    r"(?:팀장|부장|본부장|이사|대표|사장|과장|대리|차장|주임|씨|님)(?:님)?(?:이|가|께서)$"
)
_SIDE = re.compile(
    r"(?:왼쪽|오른쪽|위|아래|위쪽|아래쪽|앞|뒤|맨\s?앞|맨\s?뒤|처음|끝|상단|하단)에만?$"
)
_ENGLISH_SLOT = re.compile(r"(?:^|\s)(?:as|by|from)(?:\s(?:an?|the))?$", re.IGNORECASE)
_ENGLISH_KIND = re.compile(r"(?:^|\s)(?:as|at|by|from|in|on|via)(?:\s(?:an?|the))?$", re.IGNORECASE)


def differ_in_one_slot(found: Evidence, new: str, known: str) -> bool:
    """Whether a new text gives another value for the one slot in which a known one differs."""
    words = [
        (difference.new, difference.known)
        for difference in found.differs
        if difference.what in {"name", "words"}
    ]
    mine, theirs = ([word for pair in words for word in pair[side]] for side in (0, 1))
    is_one = len(mine) == len(theirs) == 1 and len(words) == len(found.differs)
    if not is_one or any(len(clauses(text)) > 1 for text in (new, known)):
        return False
    one, other = _tokens(new), _tokens(known)
    at = _place(one, mine[0])
    if at is None or at != _place(other, theirs[0]) or _folded(one[:at]) != _folded(other[:at]):
        return False
    is_slot = _is_korean_slot if is_korean(new) else _is_english_slot
    return is_slot(one, other, at)


def _tokens(text: str) -> list[str]:
    return [token for part in text.split() if (token := part.strip(".,!?\"'“”‘’()"))]


def _folded(tokens: list[str]) -> list[str]:
    return [token.casefold() for token in tokens]


def _place(tokens: list[str], word: str) -> int | None:
    """Return which token a word is in, None if it is in several."""
    places = [at for at, token in enumerate(tokens) if word.casefold() in token.casefold()]
    return places[0] if len(places) == 1 else None


def _is_korean_slot(one: list[str], other: list[str], at: int) -> bool:
    if not any(map(_SUBJECT.search, one[:at])):
        return False
    mine, theirs = one[at], other[at]
    if _BESIDE.search(mine) or _BESIDE.search(theirs):
        return False
    if are_of_a_kind(mine, theirs):
        return True
    if one[at + 1 : at + 2] == other[at + 1 : at + 2] != [] and not _is_marked(mine, theirs):
        mine = theirs = one[at + 1]  # `파주 창고에서`: what the value belongs to
    return _is_marked(mine, theirs)


def _is_marked(mine: str, theirs: str) -> bool:
    """Whether both are marked as how, where, on which side or by whom."""
    ways = _HOW_OR_WHERE.fullmatch(mine), _HOW_OR_WHERE.fullmatch(theirs)
    if ways[0] and ways[1]:
        is_place = (way["particle"] == "에서" for way in ways if way)
        return len({*is_place}) == 1 and not any(way["noun"] in NO_SLOT for way in ways if way)
    return any(sign.search(mine) and sign.search(theirs) for sign in (_SIDE, _DOES))


def _is_english_slot(one: list[str], other: list[str], at: int) -> bool:
    if at + 1 != len(one) or at + 1 != len(other) or at < 2:
        return False
    before = " ".join(one[:at])
    is_kind = are_of_a_kind(one[at], other[at]) and _ENGLISH_KIND.search(before)
    return bool(is_kind or _ENGLISH_SLOT.search(before))

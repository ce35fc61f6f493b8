"""Another value put in the place of one of its kind in a sentence, Korean particles included."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Words of which one takes the place of another.
_KINDS = tuple(
    re.compile(rf"(?<![A-Za-z])(?:{words})(?![A-Za-z])", re.IGNORECASE)
    for words in (
        r"원화|달러화?|엔화|유로화?|위안화?|won|krw|dollars?|usd|euros?|eur|yen|jpy|pounds?|gbp",
        r"pdf|엑셀|워드|한글 파일|csv|ppt|스프레드시트|spreadsheet|excel|word document",
        r"[월화수목금토일]요일|(?:mon|tues|wednes|thurs|fri|satur|sun)days?",
        r"오전|오후",
        r"한국어|영어|일본어|중국어|korean|english|japanese|chinese",
        r"팀장|부장|본부장|이사|대표|사장|과장|manager|director|ceo",
        r"메일|이메일|전화|문자|팩스|카톡|slack|슬랙|e-?mails?|phone|sms|fax",
    )
)
_COUNTS = "한|두|세|네|다섯|여섯|일곱|여덟|아홉|열"
_UNITS = (
    r"개월|시간|퍼센트|만\s?원|천\s?원|억\s?원|원|도|개|명|일|시|분|장|건|매|회|번|주|년|%"
    r"|가지|달|자|줄"
)
_QUANTITY = re.compile(
    rf"(?:영하\s?|영상\s?)?(?:(?P<many>\d[\d,.]*\d|\d)\s?|(?P<few>{_COUNTS})\s?)(?P<unit>{_UNITS})"
    r"|\$\s?(?P<money>\d[\d,.]*)"
    r"|(?P<clock>\d{1,2}(?::\d\d)?\s?(?:am|pm)|\d{1,2}:\d\d)"
    r"|(?P<number>\d[\d,.]*)\s?(?P<what>%|percent|days?|hours?|minutes?|weeks?|months?|people|items?"
    r"|units?|points?|bullets?|pages?)",
    re.IGNORECASE,
)
_RO = re.compile(r"(?P<noun>[가-힣A-Za-z0-9]{2,}?)(?:으로|로)(?:만)?(?=[\s.,!]|요|$)")
NO_SLOT = {"앞", "그대", "이대", "따", "별도", "새", "바", "서", "실제", "주", "대체", "추가"}
_FINAL = re.compile("[\uac00-\ud7a3]")
_PAIRS = (("은", "는"), ("이", "가"), ("을", "를"), ("과", "와"), ("으로", "로"))


def are_of_a_kind(one: str, other: str) -> bool:
    """Whether two words are values of one kind, as two currencies or two weekdays."""
    return any(kind.search(one) and kind.search(other) for kind in _KINDS)


def put_in(known: str, fragment: str) -> str | None:
    """Return a sentence with a fragment's value in the place of the one value of its kind.

    None if the fragment has no such value, or the sentence none or several.
    """
    return next(filter(None, _attempts(known, fragment)), None)


def replaced(text: str, old: str, new: str) -> str | None:
    """Return a text with a word replaced and the particle after it fitting; None if it is not once.

    Particles of `old` itself are left out.
    """
    stem = re.sub(r"(?<=[가-힣]{2})(?:은|는|이|가|을|를|로|으로)$", "", old.strip())
    found = [*re.finditer(re.escape(stem), text, re.IGNORECASE)] if stem else []
    return _put(text, found[0].span(), new.strip()) if len(found) == 1 else None


def _attempts(known: str, fragment: str) -> Iterator[str | None]:
    yield _quantity(known, fragment)
    for kind in _KINDS:
        yield _one_for_one([*kind.finditer(known)], [*kind.finditer(fragment)], known)
    slots = [found for found in _RO.finditer(known) if found["noun"] not in NO_SLOT]
    given = [found for found in _RO.finditer(fragment) if found["noun"] not in NO_SLOT]
    if len(slots) == len(given) == 1:
        yield _put(known, slots[0].span("noun"), given[0]["noun"])


def _quantity(known: str, fragment: str) -> str | None:
    given = [*_QUANTITY.finditer(fragment)]
    if len(given) != 1:
        return None
    same = [one for one in _QUANTITY.finditer(known) if _unit(one) == _unit(given[0])]
    return _one_for_one(same, given, known)


def _unit(found: re.Match[str]) -> str:
    for name in ("unit", "what"):
        if found[name]:
            return re.sub(r"\s", "", found[name].casefold()).rstrip("s")
    return "money" if found["money"] else "clock"


def _one_for_one(there: list[re.Match[str]], given: list[re.Match[str]], known: str) -> str | None:
    if len(there) != 1 or len(given) != 1 or there[0][0] == given[0][0]:
        return None
    return _put(known, there[0].span(), given[0][0])


def _put(text: str, span: tuple[int, int], new: str) -> str:
    rest = text[span[1] :]
    for closed, open_ in _PAIRS:
        for particle in (closed, open_):
            after = rest[len(particle) : len(particle) + 1]
            if rest.startswith(particle) and (not after or not _FINAL.match(after)):
                fit = closed if _is_closed(new, l_counts=closed != "으로") else open_
                return text[: span[0]] + new + fit + rest[len(particle) :]
    return text[: span[0]] + new + rest


def _is_closed(word: str, *, l_counts: bool) -> bool:
    """Whether a Korean word ends in a consonant; a final ㄹ does not count before 로."""
    last = word[-1:]
    if not _FINAL.match(last):
        return False
    final = (ord(last) - 0xAC00) % 28
    return final != 0 and (l_counts or final != 8)

"""How long and for whom, as the offline model understands it: plain phrases in both languages.

`valid_until` is counted from when it was said. A day by which something is due is no end: "5일까지
제출" and "by Friday" say nothing of how long a rule holds.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterable
from datetime import date, timedelta

from pydantic import JsonValue

_MONTHS = {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
_MONTH = "|".join(_MONTHS)
_DUE = r"(?!\s*(?:\S+\s+){0,2}?(?:제출|신청|납부|완료|보내|마감|끝내|처리|회신|답변|도착|입금))"
_KOREAN = re.compile(
    r"(?:(?P<year>\d{4})년\s?)?(?P<month>\d{1,2})월\s?(?:(?P<day>\d{1,2})일|말(?:일)?)까지"
    r"|(?P<iso>\d{4}-\d\d-\d\d)\s?까지"
    r"|(?P<span>이번\s?달(?:\s?말)?|이달(?:\s?말)?|월말|다음\s?달(?:\s?말)?|이번\s?주(?:\s?말)?"
    r"|다음\s?주|올해(?:\s?말)?|연말|오늘|내일)까지"
)
_ENGLISH = re.compile(
    r"\b(?<!not )(?:until|till|through)\s+(?:the\s+)?(?:"
    r"(?P<iso>\d{4}-\d\d-\d\d)"
    rf"|(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})(?:,?\s+(?P<year>\d{{4}}))?"
    rf"|(?P<month2>{_MONTH})\s+(?P<day2>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<year2>\d{{4}}))?"
    r"|(?P<span>end of (?:this|the|next) (?:month|week|year)|tomorrow|today"
    r"|end of (?:the )?(?:month|week|year)))",
    re.IGNORECASE,
)
_FOR_USER = re.compile(
    r"(?:저|나|제|내)(?:한테|에게|게)(?:는|만)?(?:\s|$|,)|\b(?:for|to) me\b", re.IGNORECASE
)
_FOR_ALL = re.compile(
    r"(?:모든|전체|전)\s?에이전트|에이전트\s?(?:모두|전부|전체)|(?:우리\s?)?팀\s?(?:모두|전체|전원)"
    r"|전사\b|회사\s?전체|\b(?:all|every) (?:of our |the )?agents?\b|\bcompany-?wide\b"
    r"|\b(?:whole|entire) (?:team|company)\b",
    re.IGNORECASE,
)
_FROM_ALL = re.compile(
    r"전사(?:적|에서|에 걸쳐|\s)|모두에게|모든 (?:팀|부서|직원|사람)|전 (?:직원|사원|부서)|전체에서"
    r"|\b(?:organi[sz]ation|tenant)[- ]?wide\b|\bacross the (?:company|organi[sz]ation)\b"
    r"|\b(?:for|from) (?:everyone|everybody|all teams)\b",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"(?:아무도|누구도)[^.!?]{0,30}(?:않|안 |못|말)"
    r"|\b(?:nobody|no one)\b[^.!?]{0,30}\b(?:may|must|should|is to|uses?|needs?|does)\b",
    re.IGNORECASE,
)
_SPAN_ALONE = re.compile(
    r"(?:아|그거|그건|그게|그|이건|단|다만|네|아니)?[,\s]*%만?(?:\s?(?:이에요|예요|요|입니다|이야|야"
    r"|해\s?주세요|적용(?:돼요|됩니다|해\s?주세요)?|유효(?:해요|합니다)?|그래요|그렇습니다))?[.!\s]*"
)
_WORDS_ALONE = re.compile(
    r"(?:(?:but|and|only|just|that's|that is|it's|it|this|valid|holds?|applies|mind|though|please"
    r"|ok|okay|oh)[\s,.!]*|%[\s,.!]*)+",
    re.IGNORECASE,
)


def end_in(text: str, said_on: date | None) -> date | None:
    """Return the last day that a text names for how long it holds, None if it names none."""
    found = _found(text)
    if found is None or said_on is None:
        return None
    groups = {name.rstrip("2"): part for name, part in found.groupdict().items() if part}
    try:
        return _day(groups, said_on)
    except (ValueError, OverflowError):
        return None


def is_end_alone(text: str) -> bool:
    """Whether a text says how long something holds, and nothing else."""
    found = _found(text)
    if found is None:
        return False
    rest = f"{text[: found.start()]}%{text[found.end() :]}".strip()
    return bool(_SPAN_ALONE.fullmatch(rest) or _WORDS_ALONE.fullmatch(rest))


def reach_in(text: str, said_on: date | None, author: str | None) -> dict[str, JsonValue]:
    """Return the arguments `valid_until` and `scope` of a memory, where a text states them."""
    end = end_in(text, said_on)
    stated: dict[str, JsonValue] = {"valid_until": end.isoformat()} if end else {}
    if _FOR_ALL.search(text):
        stated["scope"] = "tenant"
    elif author and _FOR_USER.search(text):
        stated["scope"] = "user"
    return stated


def goes_for_all(text: str, asking: Iterable[str]) -> bool:
    """Whether a text withdraws something for everybody; `asking` are its clauses that withdraw."""
    is_said = any(_FOR_ALL.search(clause) or _FROM_ALL.search(clause) for clause in asking)
    return is_said or _NOBODY.search(text) is not None


def _found(text: str) -> re.Match[str] | None:
    found = _KOREAN.search(text)
    if found is not None and not re.match(_DUE, text[found.end() :]):
        found = None
    return found or _ENGLISH.search(text)


def _day(groups: dict[str, str], said_on: date) -> date:
    if "iso" in groups:
        return date.fromisoformat(groups["iso"])
    if "month" in groups:
        name = groups["month"].casefold()
        month = int(name) if name.isdecimal() else _MONTHS[name]
        year = int(groups.get("year", said_on.year))
        last = _last_of_month(year, month)
        day = last.replace(day=int(groups["day"])) if "day" in groups else last
        is_next_year = "year" not in groups and day < said_on
        return day.replace(year=year + 1) if is_next_year else day
    return _end_of(re.sub(r"\s", "", groups["span"].casefold()), said_on)


def _end_of(span: str, said_on: date) -> date:
    is_next = span.startswith("다음") or "next" in span
    if span in {"오늘", "today"}:
        return said_on
    if span in {"내일", "tomorrow"}:
        return said_on + timedelta(days=1)
    if "주" in span or "week" in span:
        sunday = said_on + timedelta(days=6 - said_on.weekday())
        return sunday + timedelta(days=7) if is_next else sunday
    if "올해" in span or "연말" in span or "year" in span:
        return date(said_on.year + is_next, 12, 31)
    month = said_on.month + is_next
    return _last_of_month(said_on.year + (month > 12), 1 if month > 12 else month)


def _last_of_month(year: int, month: int) -> date:
    return date(year, month, calendar.monthrange(year, month)[1])

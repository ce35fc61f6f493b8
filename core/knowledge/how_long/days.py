"""The last day that a span means, counted from the day on which it was said."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta

MONTHS = {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
MONTHS |= {name.casefold(): number for number, name in enumerate(calendar.month_abbr) if name}
MONTHS |= {"sept": 9}
WEEKDAYS = {name.casefold(): number for number, name in enumerate(calendar.day_name)}
_KOREAN_WEEKDAYS = "월화수목금토일"
_NUMBERS = dict.fromkeys(("한", "one", "a", "an", "another"), 1)
_NUMBERS |= {"두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9}
_NUMBERS |= {"석": 3, "넉": 4, "열": 10, "two": 2, "couple of": 2, "three": 3, "four": 4, "five": 5}
_NUMBERS |= {"six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12}
_DAYS = {"하루": 1, "이틀": 2, "사흘": 3, "나흘": 4, "닷새": 5, "일주일": 7, "열흘": 10, "보름": 15}
_FEASTS = {
    "크리스마스이브": (12, 24),
    "성탄전야": (12, 24),
    "크리스마스": (12, 25),
    "성탄절": (12, 25),
    "신정": (1, 1),
    "새해": (1, 1),
    "삼일절": (3, 1),
    "어린이날": (5, 5),
    "현충일": (6, 6),
    "광복절": (8, 15),
    "개천절": (10, 3),
    "한글날": (10, 9),
    "christmaseve": (12, 24),
    "christmas": (12, 25),
    "christmasday": (12, 25),
    "newyear'seve": (12, 31),
    "newyear'sday": (1, 1),
    "newyear": (1, 1),
    "newyear's": (1, 1),
    "halloween": (10, 31),
    "valentine'sday": (2, 14),
}
FEASTS = (
    r"크리스마스\s?이브|크리스마스|성탄\s?전야|성탄절|신정|새해|삼일절|어린이날|현충일|광복절|개천절"
    r"|한글날"
)
ENGLISH_FEASTS = r"Christmas(?: Eve| Day)?|New Year(?:'s(?: Eve| Day)?)?|Halloween|Valentine's Day"
_NEXT = ("다음", "내달", "next")

Groups = Mapping[str, str]


def end_of(groups: Groups, said: datetime) -> date | datetime | None:
    """Return the last day or moment of a span; None if there is no such day, or it is over."""
    try:
        day = _day(groups, said.date())
        end = _at(groups, day, said) if day is not None else None
    except (ValueError, OverflowError):
        return None
    if end is None or (end < said if isinstance(end, datetime) else end < said.date()):
        return None
    return end


def _at(groups: Groups, day: date, said: datetime) -> date | datetime:
    """Return a day with the time of day that the span names, if any."""
    if not groups.keys() & {"hour", "noon", "midnight"}:
        return day
    if "midnight" in groups:
        return day
    hour, minute = (12, 0) if "noon" in groups else (int(groups["hour"]), _minute(groups))
    half = groups.get("half", "").casefold()
    if half in {"오후", "저녁", "밤", "낮", "pm", "p.m."} and hour < 12:
        hour += 12
    if half in {"오전", "am", "a.m."} and hour == 12:
        hour = 0
    return day if hour == 24 else datetime.combine(day, time(hour, minute), said.tzinfo)


def _minute(groups: Groups) -> int:
    return 30 if "half_hour" in groups else int(groups.get("minute", 0))


def _day(groups: Groups, said: date) -> date | None:
    for names, read in _READERS:
        if names & groups.keys():
            return read(groups, said)
    return None


def _of_feast(groups: Groups, said: date) -> date:
    month, day = _FEASTS[re.sub(r"\s", "", groups["feast"].casefold())]
    found = date(said.year, month, day)
    return found if found >= said else date(said.year + 1, month, day)


def _of_count(groups: Groups, said: date) -> date:
    if "days" in groups:
        return said + timedelta(days=_DAYS[groups["days"]])
    number = groups.get("count", "one").casefold().strip()
    count = int(number) if number.isdecimal() else _NUMBERS[number]
    unit = groups["unit"].casefold()
    if unit in {"일", "day"}:
        return said + timedelta(days=count)
    if unit in {"주", "주일", "week"}:
        return said + timedelta(days=7 * count)
    months = {"분기": 3, "quarter": 3, "년": 12, "year": 12}.get(unit, 1)
    return _same_day(said, months * count)


def _same_day(said: date, months: int) -> date:
    year, month = divmod(said.year * 12 + said.month - 1 + months, 12)
    return date(year, month + 1, min(said.day, calendar.monthrange(year, month + 1)[1]))


def _of_slashes(groups: Groups, said: date) -> date | None:
    """Return the day of `24/12` or `12/24`; None where either may be the month."""
    one, two = int(groups["one"]), int(groups["two"])
    if one <= 12 and two <= 12 and one != two:
        return None
    month, day = (two, one) if one > 12 else (one, two)
    return _dated(groups, said, month, day)


def _of_month(groups: Groups, said: date) -> date:
    name = groups["month"].casefold()
    month = int(name) if name.isdecimal() else MONTHS[name]
    return _dated(groups, said, month, int(groups["day"]) if "day" in groups else None)


def _dated(groups: Groups, said: date, month: int, day: int | None) -> date:
    year = _year(groups, said)
    found = _in_month(year or said.year, month, day)
    is_next_year = year is None and found < said
    return _in_month(said.year + 1, month, day) if is_next_year else found


def _in_month(year: int, month: int, day: int | None) -> date:
    return last_of_month(year, month) if day is None else date(year, month, day)


def _year(groups: Groups, said: date) -> int | None:
    if "year" in groups:
        return int(groups["year"])
    named = groups.get("named_year", "")
    if not named:
        return None
    return said.year + {"내년": 1, "next": 1, "내후년": 2}.get(named.casefold(), 0)


def _of_quarter(groups: Groups, said: date) -> date:
    if "quarter" not in groups:
        this = (said.month - 1) // 3 + 1 + _is_next(groups)
        year, quarter = said.year + (this > 4), (this - 1) % 4 + 1
        return last_of_month(year, 3 * quarter)
    return _dated(groups, said, 3 * int(groups["quarter"]), None)


def _of_half(groups: Groups, said: date) -> date:
    return _dated(groups, said, 6 if groups["half_year"] == "상반기" else 12, None)


def _of_weekday(groups: Groups, said: date) -> date:
    name = groups["weekday"].casefold()
    number = _KOREAN_WEEKDAYS.find(name) if len(name) == 1 else WEEKDAYS[name]
    which = re.sub(r"\s", "", groups.get("which", "").casefold())
    monday = said - timedelta(days=said.weekday())
    if which.startswith("다다음"):
        return monday + timedelta(days=14 + number)
    if which.startswith(_NEXT):
        return monday + timedelta(days=7 + number)
    if which.startswith(("이번", "금")):
        return monday + timedelta(days=number)
    return said + timedelta(days=(number - said.weekday()) % 7)


def _of_period(groups: Groups, said: date) -> date:
    period, is_next = groups.get("period", "year").casefold(), _is_next(groups)
    if period in {"주", "week"}:
        weeks = 2 if groups.get("which", "").startswith("다다음") else int(is_next)
        return said + timedelta(days=6 - said.weekday() + 7 * weeks)
    if period in {"년", "연", "year"}:
        return date(_year(groups, said) or said.year + is_next, 12, 31)
    if period == "day":
        return said
    year, month = divmod(said.year * 12 + said.month - 1 + is_next, 12)
    return _in_month(year, month + 1, int(groups["day"]) if "day" in groups else None)


def _is_next(groups: Groups) -> bool:
    return re.sub(r"\s", "", groups.get("which", "").casefold()).startswith(_NEXT)


def _of_near(groups: Groups, said: date) -> date:
    name = re.sub(r"\s", "", groups["near"].casefold())
    after = {"내일": 1, "명일": 1, "tomorrow": 1, "모레": 2, "내일모레": 2, "글피": 3}
    return said + timedelta(days=after.get(name, 0))


_READERS = (
    (frozenset({"feast"}), _of_feast),
    (frozenset({"days", "unit"}), _of_count),
    (frozenset({"one"}), _of_slashes),
    (frozenset({"month"}), _of_month),
    (frozenset({"is_quarter"}), _of_quarter),
    (frozenset({"half_year"}), _of_half),
    (frozenset({"weekday"}), _of_weekday),
    (frozenset({"period", "named_year"}), _of_period),
    (frozenset({"near"}), _of_near),
)


def last_of_month(year: int, month: int) -> date:
    """Return the last day of a month."""
    return date(year, month, calendar.monthrange(year, month)[1])

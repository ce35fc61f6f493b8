"""Read the numbers of a text: amounts, times and dates, and the subject that a number names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from core.knowledge.duplicates import quantity_patterns as written

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
MAX_QUANTITIES = 300
_HALF_DAY, _NOON = 720, 720


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


@dataclass(frozen=True)
class Quantity:
    """A number and what it measures: `what` is "" for a bare count; `text` is as written.

    Clock times are minutes since midnight; without `is_half_known` it may be am or pm.
    """

    what: str
    value: Decimal
    text: str
    start: int
    end: int
    is_half_known: bool = True

    @property
    def is_alone(self) -> bool:
        """Whether no bare number means the same: of a clock time, or of a number as written."""
        return self.what == written.CLOCK or self.what.startswith(written.WRITTEN)

    def same(self, other: Quantity) -> bool:
        """Whether both may mean the same: a bare number matches any measure but clock time."""
        if self.what != other.what:
            fits = "" in {self.what, other.what} and not (self.is_alone or other.is_alone)
            return fits and self.value == other.value
        if self.what == written.CLOCK and not (self.is_half_known and other.is_half_known):
            return (self.value - other.value) % _HALF_DAY == 0
        return self.value == other.value


@lru_cache(maxsize=256)  # the words of a text and its signs are read one after the other
def quantities(text: str) -> Sequence[Quantity]:
    """Return the quantities of a lower-case NFC text by position, without overlaps.

    At most 300 of each notation are read.
    """
    found: list[Quantity] = []
    for needs, pattern, read in _READERS:
        if needs.search(text) is None:  # most texts have few of the notations
            continue
        matches = islice(pattern.finditer(text), MAX_QUANTITIES)
        free = [match for match in matches if not _overlaps(match, found)]
        found += [quantity for match in free for quantity in read(match)]
    return tuple(sorted(found, key=lambda quantity: quantity.start))


def _overlaps(match: re.Match[str], found: list[Quantity]) -> bool:
    return any(match.start() < known.end and known.start < match.end() for known in found)


def _of(match: re.Match[str], what: str, value: Decimal | int, *, half: bool = True) -> Quantity:
    end = match.start() + len(match[0].rstrip())
    return Quantity(what, Decimal(value), match[0].strip(), match.start(), end, half)


def _clock(match: re.Match[str]) -> Iterator[Quantity]:
    if match["noon"] or match["midnight"]:
        yield _of(match, written.CLOCK, _NOON if match["noon"] else 0)
        return
    told = match["hour"] or match["hour24"] or match["hour12"]
    hour = int(told) if told.isdigit() else written.HANGUL_COUNTS[told]
    minute = int(match["min"] or match["min24"] or (30 if match["thirty"] else 0))
    half = (match["half"] or match["half24"] or match["half12"] or "").replace(".", "")
    if half in written.NIGHT and hour < 12:
        hour += 12
    elif half in written.MORNING and hour == 12:
        hour = 0
    is_known = bool(match["hour24"]) or hour > 12 or half not in {"", "o'clock"}
    yield _of(match, written.CLOCK, hour * 60 + minute, half=is_known)


def _date(match: re.Match[str]) -> Iterator[Quantity]:
    day = match["day"] or match["day2"] or match["day3"]
    if match["name"] in {"may", "march"} and not day and not _is_month(match):
        return
    month = int(match["month"] or written.MONTHS.index(match["name"]) + 1)
    yield _of(match, written.DATE, month)
    if day:
        yield _of(match, written.TIME, int(day) * written.DAY)


def _is_month(match: re.Match[str]) -> bool:
    before = match.string[: match.start("name")].split()[-1:]
    return not written.BEFORE_MONTH.isdisjoint(before)


def _amount(match: re.Match[str]) -> Iterator[Quantity]:
    parts = written.PARTS.finditer(match["parts"])
    value = sum((_part(digits, scale) for digits, scale in (p.groups() for p in parts)), Decimal(0))
    what, factor = written.UNITS.get(match["unit"] or "", ("", 1))
    if match["sign"]:
        what = written.SIGNS[match["sign"].strip()]
    if match["ordinal"]:
        what, factor = written.TIME, written.DAY
    if what == "" and _is_as_written(match):
        what = f"{written.WRITTEN}{match['parts'].strip()}"
    yield _of(match, what, -value * factor if match["minus"] else value * factor)


def _is_as_written(match: re.Match[str]) -> bool:
    """Whether a number names: one with a leading zero, or a last one after its point."""
    digits = match["parts"].strip()
    whole, point, rest = digits.partition(".")
    if point:
        return len(rest) > 1 and rest.endswith("0")
    if not whole.isdigit() or whole[0] != "0" or len(whole) < 2:
        return False
    before = match.string[max(0, match.start() - 12) : match.start()]
    is_named = written.AS_WRITTEN.search(before) or written.PHONE.match(match.string, match.start())
    return len(whole) > 2 or bool(is_named)


def _part(digits: str, scale: str | None) -> Decimal:
    value = Decimal(digits.replace(",", ""))
    units = [scale] if scale in written.SCALES else list(scale or "")
    for unit in units:
        value *= written.SCALES[unit]
    return value


def _worded(match: re.Match[str]) -> Iterator[Quantity]:
    if match["days"]:
        yield _of(match, written.TIME, written.HANGUL_DAYS[match["days"]] * written.DAY)
    elif match["alone"]:
        yield _of(match, "", written.ENGLISH_COUNTS[match["alone"]])
    else:
        unit = match["unit"] or match["unit_ko"]
        what, factor = written.UNITS.get(unit, ("", 1))
        counts = written.ENGLISH_COUNTS | written.HANGUL_COUNTS
        yield _of(match, what, counts.get(match["count"] or match["count_ko"], 1) * factor)


def _sino(match: re.Match[str]) -> Iterator[Quantity]:
    large, scale, small = match["large"], match["scale"], match["small"]
    if not scale and len(small) < 2 and small not in written.SCALES:
        return
    value = _sino_value(large or "일") * written.SCALES[scale] if scale else 0
    what, factor = written.UNITS[match["unit"]]
    yield _of(match, what, (value + _sino_value(small)) * factor)


def _sino_value(text: str) -> int:
    value = digit = 0
    for sign in text:
        if sign in written.SINO_DIGITS:
            digit = written.SINO_DIGITS[sign]
        else:
            value, digit = value + (digit or 1) * written.SCALES[sign], 0
    return value + digit


_DIGIT, _ANY = re.compile(r"\d"), re.compile("")
_READERS = (
    (_ANY, written.CLOCKS, _clock),
    (_ANY, written.DATES, _date),
    (_DIGIT, written.AMOUNTS, _amount),
    (re.compile(f"[{''.join(written.SCALES)[:6]}]"), written.SINO, _sino),
    (_ANY, written.WORDED, _worded),
)

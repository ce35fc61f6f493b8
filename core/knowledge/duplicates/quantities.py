"""Parse the numbers, amounts, times and dates of a text into a canonical form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice

from core.knowledge.duplicates import quantity_patterns as written

MAX_QUANTITIES = 300
_HALF_DAY, _NOON = 720, 720


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

    def same(self, other: Quantity) -> bool:
        """Whether both may mean the same: a bare number matches any measure but clock time."""
        if self.what != other.what:
            fits = "" in {self.what, other.what} and written.CLOCK not in {self.what, other.what}
            return fits and self.value == other.value
        if self.what == written.CLOCK and not (self.is_half_known and other.is_half_known):
            return (self.value - other.value) % _HALF_DAY == 0
        return self.value == other.value


def quantities(text: str) -> list[Quantity]:
    """Return the quantities of a lower-case NFC text by position, without overlaps.

    At most 300 of each notation are read.
    """
    found: list[Quantity] = []
    for pattern, read in _READERS:
        matches = islice(pattern.finditer(text), MAX_QUANTITIES)
        free = [match for match in matches if not _overlaps(match, found)]
        found += [quantity for match in free for quantity in read(match)]
    return sorted(found, key=lambda quantity: quantity.start)


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
    yield _of(match, what, -value * factor if match["minus"] else value * factor)


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


_READERS = (
    (written.CLOCKS, _clock),
    (written.DATES, _date),
    (written.AMOUNTS, _amount),
    (written.SINO, _sino),
    (written.WORDED, _worded),
)

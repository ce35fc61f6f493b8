"""Ordered kinds of values: what lies between two of them, and how a case writes it.

Values of two lines never compare (DMN 1.3, 10.3.2.13): moments with a time zone are one line,
moments without another.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from core.decision_table.checks.segments import HIGHEST, LOWEST, Cut
from core.decision_table.feel import Months, Value
from core.decision_table.feel.temporal import instant
from core.decision_table.feel.values import MAX_MONTHS, NUMBERS, kind_of

_MICRO = timedelta(microseconds=1)
_HOUR, _MINUTE, _SECOND, _DAY = 3_600_000_000, 60_000_000, 1_000_000, 86_400_000_000
_FARTHEST = 14 * _HOUR  # UTC offsets range from -14:00 to +14:00
_OTHER = "other"


@dataclass(frozen=True)
class Pick:
    """A value that represents a run; of several the one with the lowest `rank` reads best."""

    value: Value
    rank: int = 0


class Line:
    """One ordered kind of values, as in "number line". Keys are ordered as the values are."""

    def __init__(self, key: Callable[[Value], object]) -> None:
        self.key = key

    def pick(self, low: Cut, high: Cut) -> Pick | None:
        """Return a value between two cuts, or None if there is none."""
        for key, rank in self._keys(low, high):
            if low <= (0, key, 0) and (0, key, 1) <= high:
                return Pick(self._value(key), rank)
        return None

    def single(self, low: Cut, high: Cut) -> bool:
        """Whether exactly one value lies between two cuts that have some between them."""
        return low[0] == high[0] == 0 and low[1] == high[1]

    def _value(self, key: object) -> Value:
        raise NotImplementedError

    def _keys(self, low: Cut, high: Cut) -> Iterator[tuple[object, int]]:
        """Yield candidate keys between the cuts with their ranks, the best first."""
        raise NotImplementedError


class _Strings(Line):
    """Strings by code point; each has a successor, itself followed by U+0000."""

    def __init__(self) -> None:
        super().__init__(lambda value: value)

    def _value(self, key: object) -> Value:
        return str(key)

    def _keys(self, low: Cut, high: Cut) -> Iterator[tuple[object, int]]:
        ends = [str(cut[1]) for cut in (low, high) if cut[0] == 0]
        stem = "" if low == LOWEST else ends[0]
        for text in (*ends, _OTHER):
            if _composed(text):
                yield text, 0
        for tail in ("0", " ", "\x01", "\x00"):
            yield stem + tail, 1
        yield "", 2


def _composed(text: str) -> bool:
    """Whether a string is in NFC; inputs are normalised, so no case holds any other."""
    return unicodedata.is_normalized("NFC", text)


class _Numbers(Line):
    """Decimals of 34 digits; they are not assumed to be integers."""

    def __init__(self) -> None:
        super().__init__(lambda value: value)

    def _value(self, key: object) -> Value:
        return key if isinstance(key, Decimal) else None

    def _keys(self, low: Cut, high: Cut) -> Iterator[tuple[object, int]]:
        start, end = (cut[1] if cut[0] == 0 else None for cut in (low, high))
        if isinstance(start, Decimal):
            yield start, 0
        if isinstance(end, Decimal):
            yield end, 0
        for key in filter(Decimal.is_finite, _between(start, end)):
            yield key, 1


def _between(start: object, end: object) -> Iterator[Decimal]:
    if isinstance(start, Decimal):
        yield NUMBERS.add(start.to_integral_value(ROUND_FLOOR), Decimal(1))
        if isinstance(end, Decimal):
            yield NUMBERS.divide(NUMBERS.add(start, end), Decimal(2))
        yield NUMBERS.next_plus(start)
    elif isinstance(end, Decimal):
        yield NUMBERS.subtract(end.to_integral_value(ROUND_CEILING), Decimal(1))
        yield NUMBERS.next_minus(end)
    else:
        yield Decimal(0)


class _Whole(Line):
    """A kind with countable values, from `least` to `most`."""

    def __init__(
        self,
        key: Callable[[Value], object],
        value: Callable[[int], Value],
        bounds: tuple[int, int],
        steps: tuple[int, ...] = (1,),
        usual: int = 0,
    ) -> None:
        super().__init__(key)
        self._to_value, self._bounds, self._steps, self._usual = value, bounds, steps, usual

    def single(self, low: Cut, high: Cut) -> bool:
        """Whether exactly one whole number lies between the cuts."""
        least, most = self._ends(low, high)
        return least == most

    def _value(self, key: object) -> Value:
        return self._to_value(key) if isinstance(key, int) else None

    def _keys(self, low: Cut, high: Cut) -> Iterator[tuple[object, int]]:
        least, most = self._ends(low, high)
        if least > most:
            return
        if low[2] == 0 and low != LOWEST:
            yield least, 0
        if high[2] == 1:
            yield most, 0
        if low == LOWEST and high == HIGHEST:
            yield self._usual, 0
        for step in self._steps:
            rounded = most // step * step if low == LOWEST else -(-least // step) * step
            if least <= rounded <= most:
                yield rounded, 1

    def _ends(self, low: Cut, high: Cut) -> tuple[int, int]:
        least, most = self._bounds
        if isinstance(low[1], int) and low != LOWEST:
            least = max(least, low[1] + low[2])
        if isinstance(high[1], int) and high != HIGHEST:
            most = min(most, high[1] - 1 + high[2])
        return least, most


def _day(value: Value) -> object:
    return value.toordinal() if isinstance(value, date) else None


def _moment(value: Value) -> object:
    if not isinstance(value, datetime):
        return None
    return (instant(value).replace(tzinfo=None) - datetime.min) // _MICRO


def _clock(value: Value) -> object:
    if not isinstance(value, time):
        return None
    at = datetime.combine(date.min, value.replace(tzinfo=None)) - datetime.min
    return (at - (value.utcoffset() or timedelta())) // _MICRO


def _to_clock(key: int) -> Value:
    return (datetime.min + key * _MICRO).time()


def _to_zoned_clock(key: int) -> Value:
    if 0 <= key < _DAY:
        return (datetime.min + key * _MICRO).time().replace(tzinfo=UTC)
    offset = _FARTHEST if key < 0 else -_FARTHEST
    local = (datetime.min + (key + offset) * _MICRO).time()
    return local.replace(tzinfo=timezone(offset * _MICRO))


_LAST_MOMENT = (datetime.max - datetime.min) // _MICRO
_LAST_DURATION = 999_999_999 * _DAY
_DATE_STEPS = (_DAY, _HOUR, _MINUTE, _SECOND, 1)
_USUAL_DAY = date(2024, 1, 1).toordinal()
_USUAL_MOMENT = (_USUAL_DAY - 1) * _DAY
_ZONED = " with a time zone"

LINES: dict[str, Line] = {
    "boolean": _Whole(lambda value: int(value is True), bool, (0, 1)),
    "number": _Numbers(),
    "string": _Strings(),
    "date": _Whole(_day, date.fromordinal, (1, date.max.toordinal()), usual=_USUAL_DAY),
    "time": _Whole(_clock, _to_clock, (0, _DAY - 1), _DATE_STEPS[1:]),
    "time" + _ZONED: _Whole(
        _clock, _to_zoned_clock, (-_FARTHEST, _DAY - 1 + _FARTHEST), _DATE_STEPS[1:]
    ),
    "date and time": _Whole(
        _moment, lambda key: datetime.min + key * _MICRO, (0, _LAST_MOMENT), _DATE_STEPS,
        _USUAL_MOMENT,
    ),
    "date and time" + _ZONED: _Whole(
        _moment, lambda key: (datetime.min + key * _MICRO).replace(tzinfo=UTC),
        (0, _LAST_MOMENT), _DATE_STEPS, _USUAL_MOMENT,
    ),
    "days and time duration": _Whole(
        lambda value: value // _MICRO if isinstance(value, timedelta) else None,
        lambda key: key * _MICRO, (-_LAST_DURATION, _LAST_DURATION), _DATE_STEPS,
    ),
    "years and months duration": _Whole(
        lambda value: value.count if isinstance(value, Months) else None,
        Months, (-MAX_MONTHS, MAX_MONTHS), (12, 1),
    ),
}  # fmt: skip


def line_of(value: Value) -> str:
    """Return the name of a value's line; for lists, ranges and null that of their kind."""
    kind = kind_of(value)
    zoned = isinstance(value, (datetime, time)) and value.tzinfo is not None
    return kind + _ZONED if zoned else kind


def lines_of(kind: str) -> tuple[str, ...]:
    """Return the lines of a FEEL type, the usual one first; none if its values are unordered."""
    return tuple(name for name in (kind, kind + _ZONED) if name in LINES)

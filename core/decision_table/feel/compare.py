"""Equality and order of values (DMN 1.3, 10.3.2): values of different kinds do not compare."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache

from core.decision_table.feel.temporal import instant
from core.decision_table.feel.values import Months, NoValue, Range, Value, kind_of
from core.domain.messages import Message

_ORDERED = (Decimal, str, date, time, timedelta, Months)


def equal(left: Value, right: Value) -> bool:
    """Whether two values are equal; null equals only null.

    A time with a zone equals none without one. Raises NoValue for values of different kinds.
    """
    if left is None or right is None:
        return left is right
    _same_kind(left, right)
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, Range) and isinstance(right, Range):
        ends = (left.low_closed, left.high_closed) == (right.low_closed, right.high_closed)
        return ends and same(left.low, right.low) and same(left.high, right.high)
    return _key(left) == _key(right)  # in Python, a naive time equals none with a zone


def same(left: Value, right: Value) -> bool:
    """Whether two values are equal; those that do not compare are not."""
    try:
        return equal(left, right)
    except NoValue:
        return False


def identical(left: Value, right: Value) -> bool:
    """Whether two values are the same in every part (`is`, DMN 1.3, 10.3.4.6).

    A date and time at another offset is another one, even if it is the same instant.
    """
    if isinstance(left, (datetime, time)) and isinstance(right, (datetime, time)):
        clocks = left.replace(tzinfo=None), right.replace(tzinfo=None)
        return same(*clocks) and left.utcoffset() == right.utcoffset()
    return same(left, right)


def less(left: Value, right: Value) -> bool:
    """Whether `left` comes before `right`. Raises NoValue if they are unordered."""
    _same_kind(left, right)
    if not isinstance(left, _ORDERED):
        raise NoValue(_no_order(kind_of(left)))
    left, right = _zoned(left, right), _zoned(right, left)
    return bool(_key(left) < _key(right))  # type: ignore[operator]


def compare(sign: str, left: Value, right: Value) -> bool:
    """Evaluate `=`, `!=`, `<`, `<=`, `>` or `>=`. Raises NoValue."""
    if sign in ("=", "!="):
        return equal(left, right) is (sign == "=")
    _same_kind(left, right)
    low, high = (left, right) if sign in ("<", "<=") else (right, left)
    return less(low, high) or (len(sign) == 2 and equal(_zoned(low, high), _zoned(high, low)))


def within(value: Value, span: Range) -> bool:
    """Whether a value lies in a range. Raises NoValue if they do not compare."""
    if span.low is not None and not compare(">=" if span.low_closed else ">", value, span.low):
        return False
    return span.high is None or compare("<=" if span.high_closed else "<", value, span.high)


def _same_kind(left: Value, right: Value) -> None:
    kinds = kind_of(left), kind_of(right)
    if kinds[0] != kinds[1]:
        raise NoValue(_not_comparable(*kinds))


# Kept, as all cells of a column may fail for the same reason.
@cache
def _not_comparable(one: str, other: str) -> Message:
    return Message("feel.not_comparable", one=one, other=other)


@cache
def _no_order(kind: str) -> Message:
    return Message("feel.no_order", kind=kind)


def _zoned(value: Value, other: Value) -> Value:
    """Return a time without a zone in that of the time it is compared with (DMN 1.3, 10.3.2)."""
    if isinstance(value, (datetime, time)) and isinstance(other, (datetime, time)):
        return value.replace(tzinfo=value.tzinfo or other.tzinfo)
    return value


def _key(value: Value) -> Value:
    return instant(value) if isinstance(value, datetime) else value

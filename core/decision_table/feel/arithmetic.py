"""Sums, products and powers of numbers, durations, dates (DMN 1.3, 10.3.2, arithmetic)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import Decimal

from core.decision_table.feel.temporal import minus, plus
from core.decision_table.feel.values import (
    NUMBERS,
    Months,
    NoValue,
    Value,
    bounded,
    kind_of,
    months,
)

_NUMERIC: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": NUMBERS.add,
    "-": NUMBERS.subtract,
    "*": NUMBERS.multiply,
    "/": NUMBERS.divide,
    "**": NUMBERS.power,
}
_MICROSECOND = timedelta(microseconds=1)


def calculate(sign: str, left: Value, right: Value) -> Value:
    """Carry out `+`, `-`, `*`, `/` or `**`. Raises NoValue where types do not fit.

    A result that 34 digits and the exponents of decimal128 do not hold raises DecimalException.
    """
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        if sign == "/" and not right:
            raise NoValue("division by zero")
        return _NUMERIC[sign](left, right)
    if sign == "+":
        return _sum(left, right)
    if sign == "-":
        return _difference(left, right)
    if sign == "*" and isinstance(left, Decimal):
        return _scaled(right, left)
    if sign == "*" and isinstance(right, Decimal):
        return _scaled(left, right)
    if sign == "/":
        return _quotient(left, right)
    raise _unfit(sign, left, right)


def negative(value: Value) -> Value:
    """Give `-value` of a number or duration. Raises NoValue."""
    if isinstance(value, Decimal):
        return -value
    return _scaled(value, Decimal(-1))


def _sum(left: Value, right: Value) -> Value:
    if isinstance(left, str) and isinstance(right, str):
        return bounded(left + right)
    if isinstance(left, (timedelta, Months)) and isinstance(right, (date, time)):
        return plus(right, left)
    return plus(left, right)


def _difference(left: Value, right: Value) -> Value:
    if isinstance(left, (date, time)) and isinstance(right, (timedelta, Months)):
        return plus(left, negative(right))
    return minus(left, right)


def _scaled(length: Value, factor: Decimal) -> Value:
    if isinstance(length, Months):
        return months(int(NUMBERS.multiply(Decimal(length.count), factor)))
    if isinstance(length, timedelta):
        return int(NUMBERS.multiply(Decimal(length // _MICROSECOND), factor)) * _MICROSECOND
    raise _unfit("*", length, factor)


def _quotient(left: Value, right: Value) -> Value:
    if not right:
        raise NoValue("division by zero, or by null")
    if isinstance(left, timedelta) and isinstance(right, timedelta):
        return NUMBERS.divide(Decimal(left // _MICROSECOND), Decimal(right // _MICROSECOND))
    if isinstance(left, Months) and isinstance(right, Months) and right.count:
        return NUMBERS.divide(Decimal(left.count), Decimal(right.count))
    if isinstance(right, Decimal) and isinstance(left, (timedelta, Months)):
        count = left.count if isinstance(left, Months) else left // _MICROSECOND
        whole = int(NUMBERS.divide(Decimal(count), right))
        return months(whole) if isinstance(left, Months) else whole * _MICROSECOND
    raise _unfit("/", left, right)


def _unfit(sign: str, left: Value, right: Value) -> NoValue:
    return NoValue(f"'{sign}' does not take {kind_of(left)} and {kind_of(right)}")

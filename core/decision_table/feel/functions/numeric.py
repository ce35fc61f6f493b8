"""Built-in numeric functions (DMN 1.3, 10.3.4.5)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_DOWN,
    ROUND_HALF_EVEN,
    ROUND_HALF_UP,
    ROUND_UP,
    Decimal,
)

from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.values import NUMBERS, Months, NoValue, Value

_SCALES = range(-6111, 6177)
_ONE = Decimal(1)


def rounded(number: Decimal, scale: Decimal, mode: str) -> Decimal:
    """Give a number with `scale` digits after the point; of the scale its whole part counts.

    Raises NoValue beyond the scales that numbers have.
    """
    digits = int(scale)
    if digits not in _SCALES:
        raise NoValue(f"the scale {scale} lies outside -6111 to 6176")
    if -int(number.as_tuple().exponent) <= digits:
        return number
    return NUMBERS.plus(number.quantize(_ONE.scaleb(-digits), rounding=mode, context=NUMBERS))


def _rounding(mode: str) -> Callable[..., Decimal]:
    return lambda number, scale=Decimal(0): rounded(number, scale, mode)


def _modulo(dividend: Decimal, divisor: Decimal) -> Decimal:
    """Give a rest with the sign of the divisor, as the standard has it."""
    if not divisor:
        raise NoValue("division by zero")
    rest = NUMBERS.remainder(dividend, divisor)
    return NUMBERS.add(rest, divisor) if rest and (rest < 0) is not (divisor < 0) else rest


def _absolute(value: Decimal | timedelta | Months) -> Value:
    if isinstance(value, Months):
        return Months(abs(value.count))
    return value.copy_abs() if isinstance(value, Decimal) else abs(value)


def _sqrt(number: Decimal) -> Decimal:
    if number < 0:
        raise NoValue("a negative number has no square root")
    return NUMBERS.sqrt(number)


def _log(number: Decimal) -> Decimal:
    if number <= 0:
        raise NoValue("only positive numbers have a logarithm")
    return NUMBERS.ln(number)


def _odd(number: Decimal) -> bool:
    return NUMBERS.remainder(number, Decimal(2)) in (1, -1)


def _even(number: Decimal) -> bool:
    return NUMBERS.remainder(number, Decimal(2)) == 0


_ROUNDED = ("number", "number")

NUMERIC = {
    "decimal": Function(_rounding(ROUND_HALF_EVEN), _ROUNDED, "n, scale"),
    "floor": Function(_rounding(ROUND_FLOOR), _ROUNDED, "n, scale", optional=1),
    "ceiling": Function(_rounding(ROUND_CEILING), _ROUNDED, "n, scale", optional=1),
    "round up": Function(_rounding(ROUND_UP), _ROUNDED, "n, scale", optional=1),
    "round down": Function(_rounding(ROUND_DOWN), _ROUNDED, "n, scale", optional=1),
    "round half up": Function(_rounding(ROUND_HALF_UP), _ROUNDED, "n, scale", optional=1),
    "round half down": Function(_rounding(ROUND_HALF_DOWN), _ROUNDED, "n, scale", optional=1),
    "abs": Function(_absolute, ("number|days and time duration|years and months duration",), "n"),
    "modulo": Function(_modulo, ("number", "number"), "dividend, divisor"),
    "sqrt": Function(_sqrt, ("number",), "number"),
    "log": Function(_log, ("number",), "number"),
    "exp": Function(lambda number: NUMBERS.exp(number), ("number",), "number"),
    "odd": Function(_odd, ("number",), "number"),
    "even": Function(_even, ("number",), "number"),
}

"""Built-in numeric functions (DMN 1.3, 10.3.4.5)."""

from __future__ import annotations

from collections import Counter
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
from core.decision_table.feel.functions.lists import LIST_EMPTY, items_of, numbers, total
from core.decision_table.feel.values import BY_ZERO, NUMBERS, Months, NoValue, Value
from core.domain.messages import Message

_SCALES = range(-6111, 6177)
_ONE = Decimal(1)


def rounded(number: Decimal, scale: Decimal, mode: str) -> Decimal:
    """Return a number with `scale` decimal places; the scale is truncated to an integer.

    Raises NoValue beyond the scales that numbers have.
    """
    digits = int(scale)
    if digits not in _SCALES:
        raise NoValue(Message("feel.scale", scale=scale))
    if -int(number.as_tuple().exponent) <= digits:
        return number
    return NUMBERS.plus(number.quantize(_ONE.scaleb(-digits), rounding=mode, context=NUMBERS))


def _rounding(mode: str) -> Callable[..., Decimal]:
    return lambda number, scale=Decimal(0): rounded(number, scale, mode)


def _modulo(dividend: Decimal, divisor: Decimal) -> Decimal:
    """Return a remainder with the sign of the divisor, as the standard defines it."""
    if not divisor:
        raise NoValue(BY_ZERO)
    rest = NUMBERS.remainder(dividend, divisor)
    return NUMBERS.add(rest, divisor) if rest and (rest < 0) is not (divisor < 0) else rest


def _absolute(value: Decimal | timedelta | Months) -> Value:
    if isinstance(value, Months):
        return Months(abs(value.count))
    return value.copy_abs() if isinstance(value, Decimal) else abs(value)


def _sqrt(number: Decimal) -> Decimal:
    if number < 0:
        raise NoValue(Message("feel.sqrt"))
    return NUMBERS.sqrt(number)


def _log(number: Decimal) -> Decimal:
    if number <= 0:
        raise NoValue(Message("feel.log"))
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


def _mean(*given: Value) -> Decimal:
    items = items_of(given)
    return NUMBERS.divide(total(items), Decimal(len(items)))


def _median(*given: Value) -> Decimal:
    """Return the middle of the sorted numbers, or the mean of the two in the middle."""
    ordered = sorted(_some(given))
    half, odd = divmod(len(ordered), 2)
    if odd:
        return ordered[half]
    return NUMBERS.divide(NUMBERS.add(ordered[half - 1], ordered[half]), Decimal(2))


def _stddev(*given: Value) -> Decimal:
    """Return the standard deviation of a sample of at least two numbers."""
    found = _some(given)
    if len(found) < 2:
        raise NoValue(Message("feel.deviation"))
    mean = NUMBERS.divide(total(found), Decimal(len(found)))
    squares = [NUMBERS.power(NUMBERS.subtract(one, mean), 2) for one in found]
    return NUMBERS.sqrt(NUMBERS.divide(total(tuple(squares)), Decimal(len(found) - 1)))


def _mode(*given: Value) -> tuple[Value, ...]:
    """Return the most frequent numbers, in ascending order."""
    counts = Counter(numbers(items_of(given)))
    most = max(counts.values(), default=0)
    return tuple(sorted(one for one, count in counts.items() if count == most))


def _product(*given: Value) -> Decimal:
    product = Decimal(1)
    for one in _some(given):
        product = NUMBERS.multiply(product, one)
    return product


def _some(given: tuple[Value, ...]) -> tuple[Decimal, ...]:
    found = numbers(items_of(given))
    if not found:
        raise NoValue(LIST_EMPTY)
    return found


STATISTICS = {
    "mean": Function(_mean, ("any",), "list", many=True),
    "median": Function(_median, ("any",), "list", many=True),
    "stddev": Function(_stddev, ("any",), "list", many=True),
    "mode": Function(_mode, ("any",), "list", many=True),
    "product": Function(_product, ("any",), "list", many=True),
}

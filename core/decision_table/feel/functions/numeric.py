"""Built-in numeric functions (DMN 1.3, 10.3.4.5)."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal

from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.values import NUMBERS, NoValue

_SCALES = range(-6111, 6177)
_ONE = Decimal(1)


def rounded(number: Decimal, scale: Decimal, mode: str) -> Decimal:
    """Give a number with `scale` digits after the point. Raises NoValue."""
    if scale != scale.to_integral_value() or int(scale) not in _SCALES:
        raise NoValue(f"the scale {scale} is no whole number from -6111 to 6176")
    if -int(number.as_tuple().exponent) <= scale:
        return number
    return NUMBERS.plus(number.quantize(_ONE.scaleb(-int(scale)), rounding=mode, context=NUMBERS))


def _floor(number: Decimal, scale: Decimal = Decimal(0)) -> Decimal:
    return rounded(number, scale, ROUND_FLOOR)


def _ceiling(number: Decimal, scale: Decimal = Decimal(0)) -> Decimal:
    return rounded(number, scale, ROUND_CEILING)


def _round_half_up(number: Decimal, scale: Decimal = Decimal(0)) -> Decimal:
    return rounded(number, scale, ROUND_HALF_UP)


def _decimal(number: Decimal, scale: Decimal) -> Decimal:
    return rounded(number, scale, ROUND_HALF_EVEN)


def _modulo(dividend: Decimal, divisor: Decimal) -> Decimal:
    """Give a rest with the sign of the divisor, as the standard has it."""
    if not divisor:
        raise NoValue("division by zero")
    rest = NUMBERS.remainder(dividend, divisor)
    return NUMBERS.add(rest, divisor) if rest and (rest < 0) is not (divisor < 0) else rest


NUMERIC = {
    "decimal": Function(_decimal, ("number", "number")),
    "floor": Function(_floor, ("number", "number"), optional=1),
    "ceiling": Function(_ceiling, ("number", "number"), optional=1),
    "round half up": Function(_round_half_up, ("number", "number"), optional=1),
    "abs": Function(abs, ("number|days and time duration",)),
    "modulo": Function(_modulo, ("number", "number")),
}

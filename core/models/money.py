"""Amounts of money: decimals from the price to the sum, since floats do not add up."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import Field, PlainSerializer

_SHOWN = Decimal("0.000001")
_CENT = Decimal("0.01")


def plain(amount: Decimal) -> str:
    """Give the exact amount in digits, without an exponent or zeros that say nothing."""
    text = format(amount, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def shown(amount: Decimal, currency: str = "") -> str:
    """Give an amount for people: two to six places, and `<0.000001` for less than that."""
    if 0 < amount < _SHOWN:
        text = f"<{_SHOWN:f}"
    else:
        rounded = plain(amount.quantize(_SHOWN, ROUND_HALF_UP))
        exact = Decimal(rounded)
        text = f"{exact:.2f}" if exact == exact.quantize(_CENT, ROUND_HALF_UP) else rounded
    return f"{text} {currency}".rstrip()


Money = Annotated[
    Decimal,
    Field(ge=0, allow_inf_nan=False),
    PlainSerializer(plain, return_type=str, when_used="json"),
]

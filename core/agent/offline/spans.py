"""Intervals of numbers, which the offline model needs so that rows of a table stay apart.

An end is a number and whether it lies behind it (1) or before it (0), so that every interval is
half open: `> 5` is from (5, 1), `>= 5` from (5, 0), `<= 5` up to (5, 1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

End = tuple[Decimal, int]
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_COMPARED = re.compile(rf"(<=|>=|<|>)\s*{_NUMBER}")
_RANGE = re.compile(rf"([\[\](])\s*{_NUMBER}\s*\.\.\s*{_NUMBER}\s*([\[\])])")
_LEAST, _MOST = (Decimal("-Infinity"), 0), (Decimal("Infinity"), 0)


@dataclass(frozen=True)
class Span:
    """The numbers from `low` up to `high`."""

    low: End = _LEAST
    high: End = _MOST

    def meets(self, other: Span) -> bool:
        """Tell whether some number lies in both."""
        return max(self.low, other.low) < min(self.high, other.high)

    def within(self, other: Span) -> bool:
        """Tell whether the other holds all of this one and more."""
        return self != other and other.low <= self.low and self.high <= other.high

    def without(self, other: Span) -> Span | None:
        """Give what the other leaves of this one; None where that is nothing, or two pieces."""
        below = Span(self.low, min(self.high, other.low))
        above = Span(max(self.low, other.high), self.high)
        left = [span for span in (below, above) if span.low < span.high]
        return left[0] if len(left) == 1 else None

    def goes_with(self, other: Span) -> bool:
        """Tell whether one limit, above which or below which both hold, is the same number."""
        return self.near(up=self.is_up) == other.near(up=self.is_up)

    @property
    def is_up(self) -> bool:
        """Tell whether it is open above."""
        return self.high == _MOST

    def near(self, *, up: bool) -> Decimal:
        """Give the limit above which (`up`) or below which it holds."""
        return (self.low if up else self.high)[0]

    def limits(self, *, up: bool) -> bool:
        """Tell whether there is such a limit."""
        return self.near(up=up).is_finite()


def read_span(test: str) -> Span | None:
    """Give the numbers that a FEEL unary test lets through; None where it is no plain interval."""
    if test.strip() == "-":
        return Span()
    if found := _COMPARED.fullmatch(test.strip()):
        sign, limit = found[1], Decimal(found[2])
        if sign.startswith(">"):
            return Span(low=(limit, int(sign == ">")))
        return Span(high=(limit, int(sign == "<=")))
    if found := _RANGE.fullmatch(test.strip()):
        low, high = Decimal(found[2]), Decimal(found[3])
        return Span((low, int(found[1] != "[")), (high, int(found[4] == "]")))
    return None


def write_span(span: Span) -> str:
    """Give the FEEL unary test of an interval."""
    (low, after), (high, upto) = span.low, span.high
    if not high.is_finite():
        return f"{'>' if after else '>='} {low:f}" if low.is_finite() else "-"
    if not low.is_finite():
        return f"{'<=' if upto else '<'} {high:f}"
    return f"{'(' if after else '['}{low:f}..{high:f}{']' if upto else ')'}"

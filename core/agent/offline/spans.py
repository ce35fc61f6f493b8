"""Intervals of numbers, with which the offline model keeps the rows of a table disjoint.

A bound is a number and whether it lies just after it (1) or at it (0), so that every interval is
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
        """Whether the intervals overlap."""
        return max(self.low, other.low) < min(self.high, other.high)

    def within(self, other: Span) -> bool:
        """Whether the other properly contains this one."""
        return self != other and other.low <= self.low and self.high <= other.high

    def without(self, other: Span) -> Span | None:
        """Return this interval less the other; None if nothing or two pieces remain."""
        below = Span(self.low, min(self.high, other.low))
        above = Span(max(self.low, other.high), self.high)
        left = [span for span in (below, above) if span.low < span.high]
        return left[0] if len(left) == 1 else None

    def goes_with(self, other: Span) -> bool:
        """Whether both have the same limit on the side this one is bounded."""
        return self.near(up=self.is_up) == other.near(up=self.is_up)

    @property
    def is_up(self) -> bool:
        """Whether it is unbounded above."""
        return self.high == _MOST

    def near(self, *, up: bool) -> Decimal:
        """Return the limit above which (`up`) or below which it lies."""
        return (self.low if up else self.high)[0]

    def limits(self, *, up: bool) -> bool:
        """Whether there is such a limit."""
        return self.near(up=up).is_finite()


def read_span(test: str) -> Span | None:
    """Return the interval of a FEEL unary test, None if it is no plain interval."""
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
    if re.fullmatch(_NUMBER, test.strip()):
        return Span((Decimal(test), 0), (Decimal(test), 1))
    return None


def write_span(span: Span) -> str:
    """Return the FEEL unary test of an interval."""
    (low, after), (high, upto) = span.low, span.high
    if not high.is_finite():
        return f"{'>' if after else '>='} {low:f}" if low.is_finite() else "-"
    if not low.is_finite():
        return f"{'<=' if upto else '<'} {high:f}"
    return f"{'(' if after else '['}{low:f}..{high:f}{']' if upto else ')'}"

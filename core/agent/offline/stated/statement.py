"""What a sentence states: parts of conditions and outcomes, and the cases of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import NamedTuple

_TIMES = {
    ("년", "개월"): 12, ("주", "일"): 7, ("일", "시간"): 24, ("시간", "분"): 60, ("분", "초"): 60,
    ("year", "month"): 12, ("week", "day"): 7, ("day", "hour"): 24, ("hour", "minute"): 60,
    ("minute", "second"): 60, ("kg", "g"): 1000, ("톤", "kg"): 1000, ("km", "m"): 1000,
    ("m", "cm"): 100, ("GB", "MB"): 1000, ("L", "mL"): 1000,
}  # fmt: skip
TIMES = frozenset(
    [
        "년",
        "개월",
        "주",
        "일",
        "시간",
        "분",
        "초",
        "year",
        "month",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "night",
    ]
)
_COMPARED = re.compile(r"(<=|>=|<|>) (.+)")
_RANGE = re.compile(r"([\[(])(.+)\.\.(.+)([\])])")
ELSE, BEYOND = "else", "beyond"  # kinds of conditions that only other parts can tell


class NotARule(Exception):
    """A text says more than rows of a table can hold, or too little."""


class Ends(NamedTuple):
    """The ends of an interval, None where it has none, and whether they belong to it."""

    low: str | None = None
    low_in: bool = False
    high: str | None = None
    high_in: bool = False

    @property
    def test(self) -> str:
        """Return it as a FEEL unary test."""
        if self.low is not None and self.high is not None:
            if self.low == self.high:
                return self.low
            opens, closes = "[" if self.low_in else "(", "]" if self.high_in else ")"
            return f"{opens}{self.low}..{self.high}{closes}"
        if self.low is not None:
            return f"{'>=' if self.low_in else '>'} {self.low}"
        return f"{'<=' if self.high_in else '<'} {self.high}"


def ends_of(test: str) -> Ends | None:
    """Return the ends of an interval written as a test; None if it is none."""
    if found := _COMPARED.fullmatch(test):
        if found[1].startswith(">"):
            return Ends(low=found[2], low_in=found[1] == ">=")
        return Ends(high=found[2], high_in=found[1] == "<=")
    if found := _RANGE.fullmatch(test):
        return Ends(found[2], found[1] == "[", found[3], found[4] == "]")
    if test.startswith(("not(", '"')):
        return None
    return Ends(test, True, test, True)


def size(limit: str) -> tuple[Decimal, str]:
    """Return what orders limits of one column: numbers, or dates and times as they are written."""
    return (Decimal(0), limit) if limit[0].isalpha() else (Decimal(limit), "")


@dataclass(frozen=True)
class Condition:
    """A column and its FEEL unary test; `unit` is that of its numbers, "" for none.

    `column` is "" for a condition whose sentence names no subject.
    """

    column: str
    test: str
    kind: str = "number"
    unit: str = ""

    @property
    def negated(self) -> Condition:
        """Return the condition that holds wherever this one does not."""
        flipped = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}
        sign, _, rest = self.test.partition(" ")
        if sign in flipped:
            return replace(self, test=f"{flipped[sign]} {rest}")
        if self.test.startswith("not("):
            return replace(self, test=self.test[4:-1])
        return replace(self, test=f"not({self.test})")

    @property
    def is_ordered(self) -> bool:
        """Whether it compares a number, a date or a time."""
        return self.kind in {"number", "date", "time"}


@dataclass(frozen=True)
class Part:
    """A clause of a rule: its conditions and outcome; `topic` is what it is said to be about.

    `joins` says how it follows on the one before: "but" if against it.
    """

    when: tuple[Condition, ...]
    then: str
    sentence: str
    topic: str = ""
    joins: str = ""
    overrides: bool = False
    is_group: bool = False
    is_only: bool = False
    is_done_by: bool = False
    is_weak: bool = False
    is_crisp: bool = False
    trumps: bool = False

    @property
    def is_rest(self) -> bool:
        """Whether it holds for all that is left."""
        return any(one.kind == ELSE for one in self.when)


@dataclass(frozen=True)
class Case:
    """One row as stated. Without conditions it is what remains (`otherwise`)."""

    when: tuple[Condition, ...]
    then: str
    sentence: str


def both(one: Condition, other: Condition) -> Condition:
    """Return two limits of one column as an interval."""
    mine, theirs = ends_of(one.test), ends_of(other.test)
    if mine is None or theirs is None:
        raise NotARule("two conditions on one column")
    lower, upper = (mine, theirs) if mine.low is not None else (theirs, mine)
    if lower.low is None or lower.high is not None or upper.high is None or upper.low is not None:
        raise NotARule("two limits that make no interval")
    if size(lower.low) >= size(upper.high):
        raise NotARule("an empty interval")
    return replace(one, test=Ends(lower.low, lower.low_in, upper.high, upper.high_in).test)


def beyond(conditions: Sequence[Condition], way: str) -> Condition:
    """Return the condition of what lies above (`up`) or below all of the others."""
    spans = [ends for one in conditions if (ends := ends_of(one.test)) is not None]
    limits = [(one.high, one.high_in) if way == "up" else (one.low, one.low_in) for one in spans]
    known = [(limit, inside) for limit, inside in limits if limit is not None]
    if not known or (len(known) < len(limits) and len(limits) == 1):
        raise NotARule("nothing to lie beyond of")
    if len(known) < len(limits):
        raise NotARule("a side that is taken")
    pick = max if way == "up" else min
    limit, inside = pick(known, key=lambda one: size(one[0]))
    ends = (
        Ends(low=limit, low_in=not inside) if way == "up" else Ends(high=limit, high_in=not inside)
    )
    return replace(conditions[-1], test=ends.test)


def between(conditions: Sequence[Condition]) -> Condition:
    """Return the condition of what lies between two open ends."""
    spans = [ends for one in conditions if (ends := ends_of(one.test)) is not None]
    below = [one for one in spans if one.low is None and one.high is not None]
    above = [one for one in spans if one.high is None and one.low is not None]
    if len(spans) != 2 or not below or not above:
        raise NotARule("nothing to lie between of")
    low, high = below[0], above[0]
    if low.high is None or high.low is None or size(low.high) >= size(high.low):
        raise NotARule("an empty interval")
    ends = Ends(low.high, not low.high_in, high.low, not high.low_in)
    return replace(conditions[-1], test=ends.test)


def in_unit(condition: Condition, unit: str) -> Condition:
    """Return a condition on a number in a smaller unit. Raises NotARule if it has none of it."""
    if condition.unit in {unit, ""}:
        return replace(condition, unit=unit)
    factor = _TIMES.get((condition.unit, unit))
    ends = ends_of(condition.test)
    if factor is None or ends is None:
        raise NotARule("numbers of different units")
    low, high = (None if end is None else f"{(Decimal(end) * factor).normalize():f}"
                 for end in (ends.low, ends.high))  # fmt: skip
    return replace(condition, unit=unit, test=Ends(low, ends.low_in, high, ends.high_in).test)


def is_convertible(one: str, other: str) -> bool:
    """Whether numbers of both units can be of one column."""
    return not one or not other or one == other or (one, other) in _TIMES or (other, one) in _TIMES


def smaller(units: Sequence[str]) -> str:
    """Return the unit into which numbers of all the others can be put."""
    known = [unit for unit in dict.fromkeys(units) if unit]
    for unit in known:
        if all(other == unit or (other, unit) in _TIMES for other in known):
            return unit
    if not known:
        return ""
    raise NotARule("numbers of different units")

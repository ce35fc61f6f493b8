"""What a sentence states: conditions, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, replace

_FLIPPED = {">": "<=", ">=": "<", "<": ">=", "<=": ">"}
_TIMES = {
    ("년", "개월"): 12, ("주", "일"): 7, ("일", "시간"): 24, ("시간", "분"): 60, ("분", "초"): 60,
    ("year", "month"): 12, ("week", "day"): 7, ("day", "hour"): 24, ("hour", "minute"): 60,
    ("minute", "second"): 60, ("kg", "g"): 1000, ("톤", "kg"): 1000, ("km", "m"): 1000,
    ("m", "cm"): 100, ("GB", "MB"): 1000, ("L", "mL"): 1000,
}  # fmt: skip


class NotARule(Exception):
    """A text says more than rows of a table can hold, or too little."""


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
        sign, _, rest = self.test.partition(" ")
        if sign in _FLIPPED:
            return replace(self, test=f"{_FLIPPED[sign]} {rest}")
        if self.test.startswith("not("):
            return replace(self, test=self.test[4:-1])
        return replace(self, test=f"not({self.test})")


@dataclass(frozen=True)
class Case:
    """One row as stated. Without conditions it is what remains (`otherwise`).

    A `weak` one names somebody or something (`gold members get …`): a rule only beside another.
    """

    when: tuple[Condition, ...]
    then: str
    sentence: str
    weak: bool = False


def in_one_unit(cases: list[Case]) -> list[Case]:
    """Return the cases with one unit per column, the smaller one. Raises NotARule if none is."""
    units: dict[str, set[str]] = {}
    for case in cases:
        for condition in case.when:
            units.setdefault(condition.column, set()).add(condition.unit)
    small = {column: _smallest(found) for column, found in units.items()}
    return [
        replace(case, when=tuple(_in(one, small[one.column]) for one in case.when))
        for case in cases
    ]


def _smallest(units: set[str]) -> str:
    if len(units) == 1:
        return next(iter(units))
    for large, small in _TIMES:
        if units == {large, small}:
            return small
    raise NotARule("numbers of different units")


def _in(condition: Condition, unit: str) -> Condition:
    factor = _TIMES.get((condition.unit, unit))
    if factor is None:
        return condition
    parts = condition.test.split(" ")
    numbers = [str(int(part) * factor) if part.isdigit() else part for part in parts]
    if numbers == parts:
        raise NotARule("a number that cannot be put in the unit of the others")
    return replace(condition, test=" ".join(numbers), unit=unit)


def otherwise(cases: list[Case]) -> tuple[Condition, ...]:
    """Return the conditions under which none of the cases holds; none where only order can say."""
    columns = {condition.column for case in cases for condition in case.when}
    if not cases or any(len(case.when) != 1 for case in cases):
        return ()
    if len(columns) != 1:
        return ()
    only = [case.when[0] for case in cases]
    if len(only) == 1:
        return (only[0].negated,)
    if any(one.test.startswith("not(") for one in only):
        return ()
    tests = ", ".join(dict.fromkeys(one.test for one in only))
    return (replace(only[0], test=f"not({tests})"),)

"""For which values a test holds, and for which it fails; for the rest FEEL comes to null."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.decision_table.checks.lines import LINES, line_of
from core.decision_table.checks.spans import (
    EVERYTHING,
    HIGHEST,
    LOWEST,
    NOTHING,
    Spans,
    after,
    before,
    complement,
    run,
    union,
)
from core.decision_table.feel import Range, Value

_RANGED = LINES.keys() - {"boolean"}
FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Truth:
    """Line -> values, null apart: of which the test holds, and of which it does not fail.

    The two are one object where the test is null for no value of the lines that are named. A line
    that is named in neither is null for all of it.
    """

    yes: Mapping[str, Spans]
    open: Mapping[str, Spans]

    @property
    def decided(self) -> bool:
        """True where the test either holds or fails, in all lines that are named."""
        return self.open is self.yes

    def negated(self) -> Truth:
        """What `not` makes of it: null stays null."""
        yes = {line: complement(spans) for line, spans in self.open.items()}
        if self.decided:
            return Truth(yes, yes)
        return Truth(yes, {line: complement(spans) for line, spans in self.yes.items()})


def always(lines: Sequence[str], *, holds: bool = True) -> Truth:
    """Hold (or fail) for all values of some lines."""
    everywhere = dict.fromkeys(lines, EVERYTHING if holds else NOTHING)
    return Truth(everywhere, everywhere)


def either(truths: Sequence[Truth]) -> Truth:
    """Hold where one holds, fail where all fail."""
    if len(truths) == 1:
        return truths[0]
    yes = _merged([truth.yes for truth in truths])
    if all(truth.decided and truth.yes.keys() == yes.keys() for truth in truths):
        return Truth(yes, yes)
    return Truth(yes, _common([truth.open for truth in truths]))


def both(truths: Sequence[Truth]) -> Truth:
    """Hold where all hold, fail where one fails."""
    return either([truth.negated() for truth in truths]).negated()


def any_item(items: Sequence[Truth], lines: Sequence[str]) -> Truth:
    """Hold where one item does; fail elsewhere, save where none of the items compares at all."""
    yes = _merged([item.yes for item in items])
    known = {line for item in items for line in (*item.yes, *item.open)} if items else lines
    sure = {line: yes.get(line, NOTHING) for line in known}
    return Truth(sure, sure)


def compared(sign: str, constant: Value, lines: Sequence[str]) -> Truth:
    """Hold for the values `v` of which `v sign constant` is true."""
    if constant is None:
        return always(lines, holds=sign == "!=") if sign in ("=", "!=") else Truth({}, {})
    line = line_of(constant)
    if line not in lines or (line == "boolean" and sign not in ("=", "!=")):
        return Truth({}, {})
    yes = {line: _where(sign, LINES[line].key(constant))}
    return Truth(yes, yes)


def within(span: Range, lines: Sequence[str]) -> Truth:
    """Hold for the values in a range; an end of None is open to that side."""
    if (line := line_of(span.low)) == line_of(span.high) and line in lines and line in _RANGED:
        low, high = LINES[line].key(span.low), LINES[line].key(span.high)
        start = before(low) if span.low_closed else after(low)
        yes = {line: run(start, after(high) if span.high_closed else before(high))}
        return Truth(yes, yes)
    ends = []
    if span.low is not None:
        ends.append(compared(">=" if span.low_closed else ">", span.low, lines))
    if span.high is not None:
        ends.append(compared("<=" if span.high_closed else "<", span.high, lines))
    return both(ends) if ends else always(lines)


def _where(sign: str, key: object) -> Spans:
    if sign in ("<", "<="):
        return run(LOWEST, after(key) if sign == "<=" else before(key))
    if sign in (">", ">="):
        return run(before(key) if sign == ">=" else after(key), HIGHEST)
    point = run(before(key), after(key))
    return point if sign == "=" else complement(point)


def _merged(parts: Sequence[Mapping[str, Spans]]) -> dict[str, Spans]:
    lines = dict.fromkeys(line for part in parts for line in part)
    return {line: union([part.get(line, NOTHING) for part in parts]) for line in lines}


def _common(parts: Sequence[Mapping[str, Spans]]) -> dict[str, Spans]:
    """Leave out the lines of which one part knows nothing: there the whole cannot fail."""
    return {
        line: union([part[line] for part in parts])
        for line in parts[0]
        if all(line in part for part in parts)
    }

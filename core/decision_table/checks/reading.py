"""Unary tests read as sets of values; what is no such set says why, and is never guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.decision_table.checks.lines import LINES, line_of
from core.decision_table.checks.segments import (
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
from core.decision_table.feel import Node, Range, Scope, Value, evaluate, to_text
from core.decision_table.feel.functions import FUNCTIONS
from core.decision_table.feel.values import kind_of
from core.domain.messages import Message, joined

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class Truth:
    """Line -> values, apart from null: `yes` where the test holds, and where it does not fail.

    The two are the same object if the test is null for no value of the lines that are named. On a
    line named in neither the test is null everywhere.
    """

    yes: Mapping[str, Spans]
    open: Mapping[str, Spans]

    @property
    def decided(self) -> bool:
        """Whether the test is never null on the lines that are named."""
        return self.open is self.yes

    def negated(self) -> Truth:
        """Return the result of `not`: null stays null."""
        yes = {line: complement(spans) for line, spans in self.open.items()}
        if self.decided:
            return Truth(yes, yes)
        return Truth(yes, {line: complement(spans) for line, spans in self.yes.items()})


def always(lines: Sequence[str], *, holds: bool = True) -> Truth:
    """Return a truth that holds (or fails) for all values of some lines."""
    everywhere = dict.fromkeys(lines, EVERYTHING if holds else NOTHING)
    return Truth(everywhere, everywhere)


def either(truths: Sequence[Truth]) -> Truth:
    """Return a truth that holds where one of several holds, and fails where all fail."""
    if len(truths) == 1:
        return truths[0]
    yes = _merged([truth.yes for truth in truths])
    if all(truth.decided and truth.yes.keys() == yes.keys() for truth in truths):
        return Truth(yes, yes)
    return Truth(yes, _common([truth.open for truth in truths]))


def both(truths: Sequence[Truth]) -> Truth:
    """Return a truth that holds where all hold, and fails where one fails."""
    return either([truth.negated() for truth in truths]).negated()


def any_item(items: Sequence[Truth], lines: Sequence[str]) -> Truth:
    """Return a truth that holds where one item does, else fails unless no item compares."""
    yes = _merged([item.yes for item in items])
    known = {line for item in items for line in (*item.yes, *item.open)} if items else lines
    sure = {line: yes.get(line, NOTHING) for line in known}
    return Truth(sure, sure)


def compared(sign: str, constant: Value, lines: Sequence[str]) -> Truth:
    """Return where `v sign constant` is true of a value `v`."""
    if constant is None:
        return always(lines, holds=sign == "!=") if sign in ("=", "!=") else Truth({}, {})
    line = line_of(constant)
    if line not in lines or (line == "boolean" and sign not in ("=", "!=")):
        return Truth({}, {})
    yes = {line: _where(sign, LINES[line].key(constant))}
    return Truth(yes, yes)


def within(span: Range, lines: Sequence[str]) -> Truth:
    """Return where a value is in a range."""
    if (line := line_of(span.low)) == line_of(span.high):
        low, high = LINES[line].key(span.low), LINES[line].key(span.high)
        start = before(low) if span.low_closed else after(low)
        yes = {line: run(start, after(high) if span.high_closed else before(high))}
        return Truth(yes, yes)
    # Moments of which one has a time zone: a column with both is not checked.
    return both([compared(">=", span.low, lines), compared("<=", span.high, lines)])


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
    """Unite the parts, omitting lines that one part does not know: there the whole cannot fail."""
    return {
        line: union([part[line] for part in parts])
        for line in parts[0]
        if all(line in part for part in parts)
    }


_VARIABLE = {"subject", "name"}
_CONDITIONS = {"comparison", "between", "membership", "conjunction", "disjunction", "negated"}


class Opaque(Exception):
    """A cell that its text alone does not determine; `pointwise` if a single value would."""

    def __init__(self, why: str, *, pointwise: bool = False) -> None:
        super().__init__(why)
        self.pointwise = pointwise


class Unreadable(Exception):
    """A cell says something that its column can never mean."""


@dataclass(frozen=True)
class Reader:
    """Reads the tests of one column: `kind` is its type, `lines` those of the type."""

    kind: str
    lines: tuple[str, ...]

    def read(self, tests: Node) -> Truth:
        """Return the values for which the tests hold, null apart. Raises Opaque, Unreadable.

        As in `feel.holds`: a test that uses `?` has to be true; otherwise the value equals that of
        the test, is among its items, or lies in its range.
        """
        if tests.op == "anything":
            return always(self.lines)
        if len(tests.parts) == 1 and tests.parts[0].op == "negated":
            return self._one_of(tests.parts[0].parts).negated()
        return self._one_of(tests.parts)

    def _one_of(self, tests: Sequence[Node]) -> Truth:
        return either([self._passes(test) for test in tests])

    def _passes(self, test: Node) -> Truth:
        if test.op == "operator_test":
            return self._compared(str(test.value), self._constant(test.parts[0]))
        if test.uses("subject"):
            return self._condition(test)
        if test.op in _CONDITIONS and "boolean" not in self.lines:
            raise Unreadable(Message("table.is_boolean", type=self.kind))
        return self._among(self._constant(test))

    def _condition(self, node: Node) -> Truth:
        if node.op in ("conjunction", "disjunction"):
            parts = [self._condition(part) for part in node.parts]
            return both(parts) if node.op == "conjunction" else either(parts)
        if node.op == "negated":
            return self._condition(node.parts[0]).negated()
        if not node.uses("subject"):
            value = self._constant(node)
            return always(self.lines, holds=value) if isinstance(value, bool) else Truth({}, {})
        if node.op == "comparison":
            return self._comparison(node)
        if node.op == "between" and _is_input(node.parts[0]):
            low, high = map(self._constant, node.parts[1:])
            return both([self._compared(">=", low), self._compared("<=", high)])
        if node.op == "membership" and _is_input(node.parts[0]):
            return self._member(node.parts[1])
        if _is_input(node) and self.lines == ("boolean",):
            return self._compared("=", True)
        raise self._opaque(node)

    def _comparison(self, node: Node) -> Truth:
        left, right = node.parts
        sign = str(node.value)
        if _is_input(left):
            return self._compared(sign, self._constant(right))
        if _is_input(right):
            return self._compared(FLIPPED[sign], self._constant(left))
        raise self._opaque(node)

    def _member(self, node: Node) -> Truth:
        if node.op == "operator_test":
            return self._compared(str(node.value), self._constant(node.parts[0]))
        if node.op == "several":
            return either([self._member(part) for part in node.parts])
        return self._among(self._constant(node))

    def _among(self, value: Value) -> Truth:
        if isinstance(value, tuple):
            return any_item([self._item(item) for item in value], self.lines)
        if isinstance(value, Range):
            for end in (value.low, value.high):
                self._fitting(end)
            return within(value, self.lines)
        return self._compared("=", value)

    def _item(self, value: Value) -> Truth:
        """Return where a value is such an item of a list; a list in it does not compare."""
        return Truth({}, {}) if isinstance(value, tuple) else self._among(value)

    def _compared(self, sign: str, constant: Value) -> Truth:
        return compared(sign, self._fitting(constant), self.lines)

    def _fitting(self, constant: Value) -> Value:
        if constant is None or line_of(constant) in self.lines:
            return constant
        if line_of(constant) not in LINES:
            raise Opaque(Message("table.compares", type=kind_of(constant)))
        found = kind_of(constant)
        raise Unreadable(
            Message("table.input_type", value=to_text(constant), found=found, type=self.kind)
        )

    def _constant(self, node: Node) -> Value:
        if node.op == "literal":
            return node.value
        if any(part.op in _VARIABLE or _is_clock(part) for part in node.walk()):
            raise self._opaque(node)
        scope = Scope()
        value = evaluate(node, scope)
        if scope.notes:
            raise Unreadable(joined(dict.fromkeys(scope.notes)))
        return value

    def _opaque(self, node: Node) -> Opaque:
        names = [str(part.value) for part in node.walk() if part.op == "name"]
        if names:
            return Opaque(Message("table.depends_on_input", name=names[0]))
        if _asks_clock(node):
            return Opaque(Message("table.depends_on_moment"))
        return Opaque(Message("table.computes"), pointwise=True)


def _is_input(node: Node) -> bool:
    return node.op == "subject"


def _asks_clock(node: Node) -> bool:
    return any(map(_is_clock, node.walk()))


def _is_clock(node: Node) -> bool:
    return node.op == "call" and FUNCTIONS[str(node.value)].clock

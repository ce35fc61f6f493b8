"""Unary tests read as sets of values; what is no such set says why, and is never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.decision_table.checks.lines import LINES, line_of
from core.decision_table.checks.truth import (
    FLIPPED,
    Truth,
    always,
    any_item,
    both,
    compared,
    either,
    within,
)
from core.decision_table.feel import Node, Range, Scope, Value, evaluate, to_text
from core.decision_table.feel.functions import FUNCTIONS
from core.decision_table.feel.values import kind_of

_VARIABLE = {"subject", "name"}
_CONDITIONS = {"comparison", "between", "membership", "conjunction", "disjunction", "negated"}


class Opaque(Exception):
    """A cell cannot be told from its text alone; `pointwise` where it can for a single value."""

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
        """Give for which values the tests hold, null apart. Raises Opaque, Unreadable.

        As in `feel.holds`: a test that uses `?` has to come to true; else the value equals that
        of the test, is among its items, or lies in its range.
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
            raise Unreadable(
                f"it comes to true or false, and the input is {self.kind}: `?` stands for the input"
            )
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
            return any_item([self._among(item) for item in value], self.lines)
        if isinstance(value, Range):
            for end in (value.low, value.high):
                self._fitting(end)
            return within(value, self.lines)
        return self._compared("=", value)

    def _compared(self, sign: str, constant: Value) -> Truth:
        return compared(sign, self._fitting(constant), self.lines)

    def _fitting(self, constant: Value) -> Value:
        if constant is None or line_of(constant) in self.lines:
            return constant
        if line_of(constant) not in LINES:
            raise Opaque(f"it compares with a {kind_of(constant)}")
        found = kind_of(constant)
        raise Unreadable(f"{to_text(constant)} is {found}, and the input is {self.kind}")

    def _constant(self, node: Node) -> Value:
        if node.op == "literal":
            return node.value
        if any(part.op in _VARIABLE or _is_clock(part) for part in node.walk()):
            raise self._opaque(node)
        scope = Scope()
        value = evaluate(node, scope)
        if scope.notes:
            raise Unreadable("; ".join(dict.fromkeys(scope.notes)))
        return value

    def _opaque(self, node: Node) -> Opaque:
        names = [str(part.value) for part in node.walk() if part.op == "name"]
        if names:
            return Opaque(f"it depends on the input '{names[0]}'")
        if _asks_clock(node):
            return Opaque("it depends on the moment of the decision")
        return Opaque("it computes with the input", pointwise=True)


def _is_input(node: Node) -> bool:
    return node.op == "subject"


def _asks_clock(node: Node) -> bool:
    return any(map(_is_clock, node.walk()))


def _is_clock(node: Node) -> bool:
    return node.op == "call" and FUNCTIONS[str(node.value)].clock

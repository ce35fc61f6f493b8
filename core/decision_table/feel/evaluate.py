"""Trees to values: what has no value is null, with the reason kept (DMN 1.3, 10.3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import DecimalException

from core.decision_table.feel.arithmetic import calculate, negative
from core.decision_table.feel.compare import compare, equal, less, within
from core.decision_table.feel.functions import FUNCTIONS
from core.decision_table.feel.functions.lists import conjunction, disjunction
from core.decision_table.feel.node import Node
from core.decision_table.feel.properties import property_of
from core.decision_table.feel.temporal import from_text
from core.decision_table.feel.values import NoValue, Range, Value, kind_of


@dataclass
class Scope:
    """What an expression may see, and in `notes` why parts of it came to null.

    `subject` is what `?` stands for; `now` has a time zone, or is None where time stands still.
    """

    names: Mapping[str, Value] = field(default_factory=dict)
    subject: Value = None
    now: datetime | None = None
    notes: list[str] = field(default_factory=list)


def evaluate(node: Node, scope: Scope) -> Value:
    """Give the value of an expression. Never raises: an error is null, with a note."""
    return _noted(lambda: _OPERATIONS[node.op](node, scope), scope)


def holds(tests: Node, scope: Scope) -> bool | None:
    """Tell whether the subject passes unary tests; None where that cannot be told.

    As the standard has it (DMN 1.3, 7.3.2 and 10.3.2): a test that uses `?` and comes to true or
    false says so by itself; else the subject equals the value of the test, or is among its items,
    or lies in its range. One test of a list is enough.
    """
    if tests.op == "anything":
        return True
    if len(tests.parts) == 1 and tests.parts[0].op == "negated":
        inner = _one_of(tests.parts[0], scope)
        return None if inner is None else not inner
    return _one_of(tests, scope)


def _one_of(tests: Node, scope: Scope) -> bool | None:
    return disjunction(tuple(_noted(_testing(test, scope), scope) for test in tests.parts))


def _testing(test: Node, scope: Scope) -> Callable[[], Value]:
    return lambda: _passes(test, scope)


def _passes(test: Node, scope: Scope) -> bool | None:
    if test.op == "operator_test":
        return _matches(test, scope.subject, scope)
    value = evaluate(test, scope)
    if test.uses("subject") and (value is None or isinstance(value, bool)):
        return value
    return _among(scope.subject, value)


def _matches(test: Node, candidate: Value, scope: Scope) -> bool | None:
    """Tell whether a candidate passes the right side of `in`, or a test with an operator."""
    if test.op == "operator_test":
        return compare(str(test.value), candidate, evaluate(test.parts[0], scope))
    if test.op == "several":
        tries = (lambda part=part: _matches(part, candidate, scope) for part in test.parts)
        return disjunction(tuple(_noted(one, scope) for one in tries))
    return _among(candidate, evaluate(test, scope))


def _among(candidate: Value, value: Value) -> bool:
    if isinstance(value, Range) and not isinstance(candidate, Range):
        return within(candidate, value)
    if isinstance(value, tuple):
        return _among_items(candidate, value)
    return equal(candidate, value)


def _among_items(candidate: Value, items: tuple[Value, ...]) -> bool:
    """True for one that fits; that values do not compare is raised where none of them does."""
    reasons: list[NoValue] = []
    tried = (items, *items) if isinstance(candidate, tuple) else items
    for item in tried:
        try:
            if _fits(candidate, item):
                return True
        except NoValue as reason:
            reasons.append(reason)
    if reasons and len(reasons) == len(tried):
        raise reasons[0]
    return False


def _fits(candidate: Value, item: Value) -> bool:
    if isinstance(item, Range) and not isinstance(candidate, Range):
        return within(candidate, item)
    return equal(candidate, item)


def _noted(step: Callable[[], Value], scope: Scope) -> Value:
    try:
        return step()
    except NoValue as reason:
        scope.notes.append(str(reason))
    except (OverflowError, DecimalException):
        scope.notes.append("the result is too large, too small, or undefined")
    return None


def _parts(node: Node, scope: Scope) -> tuple[Value, ...]:
    return tuple(evaluate(part, scope) for part in node.parts)


def _choice(node: Node, scope: Scope) -> Value:
    condition, yes, no = node.parts
    return evaluate(yes if evaluate(condition, scope) is True else no, scope)


def _between(node: Node, scope: Scope) -> Value:
    """As the standard has it: `value >= low and value <= high`, which may be null."""
    value, low, high = _parts(node, scope)
    ends = (lambda: compare(">=", value, low), lambda: compare("<=", value, high))
    return conjunction(tuple(_noted(end, scope) for end in ends))


def _range(node: Node, scope: Scope) -> Value:
    low, high = _parts(node, scope)
    less(low, high)
    ends = str(node.value)
    return Range(low, high, ends[0] == "[", ends[1] == "]")


def _call(node: Node, scope: Scope) -> Value:
    name = str(node.value)
    function = FUNCTIONS[name]
    if function.clock:
        return function.call(scope.now)
    return function.of(name, _parts(node, scope))


def _negated(node: Node, scope: Scope) -> Value:
    value = evaluate(node.parts[0], scope)
    if isinstance(value, bool):
        return not value
    raise NoValue(f"'not' takes boolean there, not {kind_of(value)}")


def _name(node: Node, scope: Scope) -> Value:
    return scope.names.get(str(node.value))


_OPERATIONS: dict[str, Callable[[Node, Scope], Value]] = {
    "literal": lambda node, _scope: node.value,
    "at_literal": lambda node, _scope: from_text(str(node.value)),
    "subject": lambda _node, scope: scope.subject,
    "name": _name,
    "list": _parts,
    "range": _range,
    "call": _call,
    "choice": _choice,
    "negated": _negated,
    "conjunction": lambda node, scope: conjunction(_parts(node, scope)),
    "disjunction": lambda node, scope: disjunction(_parts(node, scope)),
    "comparison": lambda node, scope: compare(str(node.value), *_parts(node, scope)),
    "between": _between,
    "membership": lambda node, scope: _matches(
        node.parts[1], evaluate(node.parts[0], scope), scope
    ),
    "arithmetic": lambda node, scope: calculate(str(node.value), *_parts(node, scope)),
    "negative": lambda node, scope: negative(evaluate(node.parts[0], scope)),
    "property": lambda node, scope: property_of(evaluate(node.parts[0], scope), str(node.value)),
}

"""Trees to values: what has no value is null, with a note of the reason (DMN 1.3, 10.3.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal, DecimalException
from functools import cache, lru_cache
from zoneinfo import ZoneInfo

from core.decision_table.feel.compare import compare, equal, less, within
from core.decision_table.feel.functions import FUNCTIONS
from core.decision_table.feel.functions.lists import conjunction, disjunction
from core.decision_table.feel.node import Node
from core.decision_table.feel.temporal import from_text, minus, plus
from core.decision_table.feel.values import (
    BY_ZERO,
    NUMBERS,
    Months,
    NoValue,
    Range,
    Unsupported,
    Value,
    bounded,
    kind_of,
    months,
)
from core.domain.messages import Message, said

_NUMERIC: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": NUMBERS.add,
    "-": NUMBERS.subtract,
    "*": NUMBERS.multiply,
    "/": NUMBERS.divide,
    "**": NUMBERS.power,
}
_UNDEFINED = Message("feel.undefined")
_MICROSECOND = timedelta(microseconds=1)


def calculate(sign: str, left: Value, right: Value) -> Value:
    """Evaluate `+`, `-`, `*`, `/` or `**`. Raises NoValue if the types do not fit.

    A result beyond 34 digits or the exponents of decimal128 raises DecimalException.
    """
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        if sign == "/" and not right:
            raise NoValue(BY_ZERO)
        return _NUMERIC[sign](left, right)
    if sign == "+":
        return _sum(left, right)
    if sign == "-":
        return _difference(left, right)
    if sign == "*" and isinstance(left, Decimal):
        return _scaled(right, left)
    if sign == "*" and isinstance(right, Decimal):
        return _scaled(left, right)
    if sign == "/":
        return _quotient(left, right)
    raise _unfit(sign, left, right)


def negative(value: Value) -> Value:
    """Return `-value` of a number or duration. Raises NoValue."""
    if isinstance(value, Decimal):
        return -value
    return _scaled(value, Decimal(-1))


def _sum(left: Value, right: Value) -> Value:
    if isinstance(left, str) and isinstance(right, str):
        return bounded(left + right)
    if isinstance(left, (timedelta, Months)) and isinstance(right, (date, time)):
        return plus(right, left)
    return plus(left, right)


def _difference(left: Value, right: Value) -> Value:
    if isinstance(left, (date, time)) and isinstance(right, (timedelta, Months)):
        return plus(left, negative(right))
    return minus(left, right)


def _scaled(length: Value, factor: Decimal) -> Value:
    if isinstance(length, Months):
        return months(int(NUMBERS.multiply(Decimal(length.count), factor)))
    if isinstance(length, timedelta):
        return int(NUMBERS.multiply(Decimal(length // _MICROSECOND), factor)) * _MICROSECOND
    raise _unfit("*", length, factor)


def _quotient(left: Value, right: Value) -> Value:
    if not right:
        raise NoValue(Message("feel.by_zero_or_null"))
    if isinstance(left, timedelta) and isinstance(right, timedelta):
        return NUMBERS.divide(Decimal(left // _MICROSECOND), Decimal(right // _MICROSECOND))
    if isinstance(left, Months) and isinstance(right, Months) and right.count:
        return NUMBERS.divide(Decimal(left.count), Decimal(right.count))
    if isinstance(right, Decimal) and isinstance(left, (timedelta, Months)):
        count = left.count if isinstance(left, Months) else left // _MICROSECOND
        whole = int(NUMBERS.divide(Decimal(count), right))
        return months(whole) if isinstance(left, Months) else whole * _MICROSECOND
    raise _unfit("/", left, right)


def _unfit(sign: str, left: Value, right: Value) -> NoValue:
    return NoValue(_operands(sign, kind_of(left), kind_of(right)))


@cache
def _operands(sign: str, left: str, right: str) -> Message:
    return Message("feel.operands", sign=sign, left=left, right=right)


def property_of(value: Value, name: str) -> Value:
    """Return a property of a value. Raises NoValue if the value has none of that name."""
    parts = _parts_of(value)
    if name not in parts:
        raise NoValue(_no_part(kind_of(value), name, tuple(parts)))
    found = parts[name]
    if isinstance(found, int) and not isinstance(found, bool):
        return Decimal(found)
    return found


@lru_cache(maxsize=256)
def _no_part(kind: str, name: str, parts: tuple[str, ...]) -> Message:
    listed = ", ".join(f"'{part}'" for part in parts) or Message("list.none")
    return Message("feel.no_part", kind=kind, name=name, listed=listed)


def _parts_of(value: Value) -> dict[str, Value | int]:
    parts: dict[str, Value | int] = {}
    if isinstance(value, date):
        parts |= {"year": value.year, "month": value.month, "day": value.day}
        parts["weekday"] = value.isoweekday()
    if isinstance(value, (datetime, time)):
        parts |= {"hour": value.hour, "minute": value.minute, "second": _second(value)}
        zone = value.tzinfo
        parts |= {"time offset": value.utcoffset()}
        parts |= {"timezone": zone.key if isinstance(zone, ZoneInfo) else None}
    if isinstance(value, Range):
        parts |= {"start": value.low, "end": value.high}
        parts |= {"start included": value.low_closed, "end included": value.high_closed}
    if isinstance(value, Months):
        years, months = divmod(abs(value.count), 12)
        sign = -1 if value.count < 0 else 1
        parts |= {"years": sign * years, "months": sign * months}
    if isinstance(value, timedelta):
        sign = -1 if value < timedelta() else 1
        minutes, seconds = divmod(int(abs(value).total_seconds()), 60)
        parts |= {"days": sign * (minutes // 1440), "hours": sign * (minutes // 60 % 24)}
        parts |= {"minutes": sign * (minutes % 60), "seconds": sign * seconds}
    return parts


def _second(clock: datetime | time) -> Decimal:
    return clock.second + Decimal(clock.microsecond).scaleb(-6)


@dataclass
class Scope:
    """What an expression may see, and in `notes` why parts of it came to null.

    `subject` is what `?` stands for; `now` has a time zone, or is None if there is no clock.
    `beyond` says which values are not kept here: what they were part of is not to decide.
    """

    names: Mapping[str, Value] = field(default_factory=dict)
    subject: Value = None
    now: datetime | None = None
    notes: list[str] = field(default_factory=list)
    beyond: list[str] = field(default_factory=list)


def evaluate(node: Node, scope: Scope) -> Value:
    """Return the value of an expression. Never raises: an error is null, with a note."""
    return _noted(lambda: _OPERATIONS[node.op](node, scope), scope)


def holds(tests: Node, scope: Scope) -> bool | None:
    """Whether the subject passes unary tests; None if that cannot be determined.

    Per the standard (DMN 1.3, 7.3.2 and 10.3.2), a test that uses `?` and comes to true or false
    decides by itself; otherwise the subject equals the value of the test, or is among its items, or
    lies in its range. One test of a list is enough.
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
    if value is None and (test.op == "range" or test.uses("subject")):
        return None  # a range whose ends do not compare holds neither this nor its opposite
    if test.uses("subject") and isinstance(value, bool):
        return value
    return _among(scope.subject, value)


def _matches(test: Node, candidate: Value, scope: Scope) -> bool | None:
    """Whether a candidate passes the right side of `in`, or a test with an operator."""
    if test.op == "operator_test":
        return compare(str(test.value), candidate, evaluate(test.parts[0], scope))
    if test.op == "several":
        tries = (lambda part=part: _matches(part, candidate, scope) for part in test.parts)
        return disjunction(tuple(_noted(one, scope) for one in tries))
    value = evaluate(test, scope)
    return None if value is None and test.op == "range" else _among(candidate, value)


def _among(candidate: Value, value: Value) -> bool:
    if isinstance(value, Range) and not isinstance(candidate, Range):
        return within(candidate, value)
    if isinstance(value, tuple):
        return _among_items(candidate, value)
    return equal(candidate, value)


def _among_items(candidate: Value, items: tuple[Value, ...]) -> bool:
    """Whether an item fits; raises NoValue only if no item compares with the candidate."""
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
        scope.notes.append(said(reason))
        if isinstance(reason, Unsupported):
            scope.beyond.append(said(reason))
    except (OverflowError, DecimalException):
        scope.notes.append(_UNDEFINED)
    return None


def _parts(node: Node, scope: Scope) -> tuple[Value, ...]:
    return tuple(evaluate(part, scope) for part in node.parts)


def _choice(node: Node, scope: Scope) -> Value:
    condition, yes, no = node.parts
    return evaluate(yes if evaluate(condition, scope) is True else no, scope)


def _between(node: Node, scope: Scope) -> Value:
    """Return `value >= low and value <= high` as the standard defines it, which may be null."""
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
    raise NoValue(_not_boolean(kind_of(value)))


@cache
def _not_boolean(kind: str) -> Message:
    return Message("feel.not_boolean", kind=kind)


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

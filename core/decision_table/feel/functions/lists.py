"""Built-in functions that look at lists (DMN 1.3, 10.3.4.4). `sum(1, 2)` is `sum([1, 2])`."""

from __future__ import annotations

from decimal import Decimal

from core.decision_table.feel.compare import less, same
from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.values import NUMBERS, NoValue, Value, kind_of

_List = tuple[Value, ...]


def items_of(arguments: _List) -> _List:
    """Give the items of a function that takes one list, or its items one by one."""
    only = arguments[0] if len(arguments) == 1 else arguments
    return only if isinstance(only, tuple) else (only,)


def numbers(items: _List) -> tuple[Decimal, ...]:
    """Give the items, all of them numbers. Raises NoValue."""
    for item in items:
        if not isinstance(item, Decimal):
            raise NoValue(f"the list holds {kind_of(item)} where a number is needed")
    return tuple(item for item in items if isinstance(item, Decimal))


def total(items: _List) -> Decimal:
    """Add up numbers. Raises NoValue for an empty list and for what is no number."""
    if not items:
        raise NoValue("the list is empty")
    found = Decimal(0)
    for item in numbers(items):
        found = NUMBERS.add(found, item)
    return found


def extreme(items: _List, *, largest: bool) -> Value:
    """Give the smallest or largest item. Raises NoValue where there is none or no order."""
    if not items:
        raise NoValue("the list is empty")
    found = items[0]
    for item in items:
        if less(found, item) if largest else less(item, found):
            found = item
    return found


def conjunction(items: _List) -> bool | None:
    """Give false where one is false, true where all are true, else null (three-valued `and`)."""
    if any(item is False for item in items):
        return False
    return True if all(item is True for item in items) else None


def disjunction(items: _List) -> bool | None:
    """Give true where one is true, false where all are false, else null (three-valued `or`)."""
    if any(item is True for item in items):
        return True
    return False if all(item is False for item in items) else None


def _all(*arguments: Value) -> Value:
    return conjunction(items_of(arguments))


def _any(*arguments: Value) -> Value:
    return disjunction(items_of(arguments))


def _list_contains(items: _List, element: Value) -> bool:
    return any(same(item, element) for item in items)


LISTS = {
    "list contains": Function(_list_contains, ("list", "any"), "list, element"),
    "count": Function(lambda items: Decimal(len(items)), ("list",), "list"),
    "min": Function(
        lambda *given: extreme(items_of(given), largest=False), ("any",), "list", many=True
    ),
    "max": Function(
        lambda *given: extreme(items_of(given), largest=True), ("any",), "list", many=True
    ),
    "sum": Function(lambda *given: total(items_of(given)), ("any",), "list", many=True),
    "all": Function(_all, ("any",), "list", many=True),
    "any": Function(_any, ("any",), "list", many=True),
    "is": Function(same, ("any", "any"), "value1, value2"),
}

"""Built-in list functions (DMN 1.3, 10.3.4.4). `sum(1, 2)` is `sum([1, 2])`."""

from __future__ import annotations

from decimal import Decimal

from core.decision_table.feel.compare import equal, less, same
from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.values import NUMBERS, NoValue, Value, kind_of

_List = tuple[Value, ...]


def total(items: _List) -> Decimal:
    """Add up numbers. Raises NoValue for an empty list and for what is no number."""
    if not items:
        raise NoValue("the list is empty")
    found = Decimal(0)
    for item in items:
        if not isinstance(item, Decimal):
            raise NoValue(f"the list holds {kind_of(item)} where numbers add up")
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


def _items(arguments: _List) -> _List:
    only = arguments[0] if len(arguments) == 1 else arguments
    return only if isinstance(only, tuple) else (only,)


def _mean(*arguments: Value) -> Value:
    items = _items(arguments)
    return NUMBERS.divide(total(items), Decimal(len(items)))


def _all(*arguments: Value) -> Value:
    return conjunction(_items(arguments))


def _any(*arguments: Value) -> Value:
    return disjunction(_items(arguments))


def conjunction(items: _List) -> bool | None:
    """Give false where one is false, true where all are true, else null (DMN 1.3, table 48)."""
    if any(item is False for item in items):
        return False
    return True if all(item is True for item in items) else None


def disjunction(items: _List) -> bool | None:
    """Give true where one is true, false where all are false, else null (DMN 1.3, table 48)."""
    if any(item is True for item in items):
        return True
    return False if all(item is False for item in items) else None


def _list_contains(items: _List, element: Value) -> bool:
    if any(same(item, element) for item in items):
        return True
    for item in items:
        equal(item, element)
    return False


def _concatenate(*lists: _List) -> _List:
    return tuple(item for items in lists for item in items)


LISTS = {
    "list contains": Function(_list_contains, ("list", "any")),
    "count": Function(lambda items: Decimal(len(items)), ("list",)),
    "min": Function(lambda *given: extreme(_items(given), largest=False), ("any",), many=True),
    "max": Function(lambda *given: extreme(_items(given), largest=True), ("any",), many=True),
    "sum": Function(lambda *given: total(_items(given)), ("any",), many=True),
    "mean": Function(_mean, ("any",), many=True),
    "all": Function(_all, ("any",), many=True),
    "any": Function(_any, ("any",), many=True),
    "append": Function(lambda items, *more: items + more, ("list", "any"), many=True),
    "concatenate": Function(_concatenate, ("list",), many=True),
}

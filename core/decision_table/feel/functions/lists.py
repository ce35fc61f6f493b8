"""Built-in list functions (DMN 1.3, 10.3.4.4). `sum(1, 2)` is `sum([1, 2])`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import cache

from core.decision_table.feel.compare import identical, less, same
from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.values import NUMBERS, NoValue, Unsupported, Value, kind_of
from core.domain.messages import Message

_List = tuple[Value, ...]
LIST_EMPTY = Message("feel.list_empty")


def items_of(arguments: _List) -> _List:
    """Return the items of a function that takes one list, or its items one by one."""
    only = arguments[0] if len(arguments) == 1 else arguments
    return only if isinstance(only, tuple) else (only,)


def numbers(items: _List) -> tuple[Decimal, ...]:
    """Return the items, all of them numbers. Raises NoValue."""
    for item in items:
        if not isinstance(item, Decimal):
            raise NoValue(_no_number(kind_of(item)))
    return tuple(item for item in items if isinstance(item, Decimal))


@cache
def _no_number(kind: str) -> Message:
    return Message("feel.list_number", kind=kind)


def total(items: _List) -> Decimal:
    """Return the sum of numbers. Raises NoValue for an empty list and for a non-number."""
    if not items:
        raise NoValue(LIST_EMPTY)
    found = Decimal(0)
    for item in numbers(items):
        found = NUMBERS.add(found, item)
    return found


def extreme(items: _List, *, largest: bool) -> Value:
    """Return the smallest or largest item. Raises NoValue if there is none, or no order."""
    if not items:
        raise NoValue(LIST_EMPTY)
    found = items[0]
    for item in items:
        if less(found, item) if largest else less(item, found):
            found = item
    return found


def conjunction(items: _List) -> bool | None:
    """Return false if an item is false, true if all are true, else null (three-valued `and`)."""
    if any(item is False for item in items):
        return False
    return True if all(item is True for item in items) else None


def disjunction(items: _List) -> bool | None:
    """Return true if an item is true, false if all are false, else null (three-valued `or`)."""
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
    "is": Function(identical, ("any", "any"), "value1, value2"),
}

MAX_ITEMS = 100_000


def _append(items: _List, *more: Value) -> _List:
    return _bounded(items + more)


def _concatenate(*lists: _List) -> _List:
    return _bounded(tuple(item for items in lists for item in items))


def _union(*lists: _List) -> _List:
    return _distinct(_concatenate(*lists))


def _distinct(items: _List) -> _List:
    distinct: list[Value] = []
    for item in items:
        if not any(same(item, other) for other in distinct):
            distinct.append(item)
    return tuple(distinct)


def _flatten(items: _List) -> _List:
    return tuple(_leaves(items))


def _leaves(items: _List) -> Iterator[Value]:
    for item in items:
        if isinstance(item, tuple):
            yield from _leaves(item)
        else:
            yield item


def _index_of(items: _List, match: Value) -> _List:
    return tuple(Decimal(position) for position, item in enumerate(items, 1) if same(item, match))


def _insert_before(items: _List, position: Decimal, item: Value) -> _List:
    at = _index(items, position)
    return _bounded((*items[:at], item, *items[at:]))


def _remove(items: _List, position: Decimal) -> _List:
    at = _index(items, position)
    return items[:at] + items[at + 1 :]


def _sublist(items: _List, start: Decimal, length: Decimal | None = None) -> _List:
    at = _index(items, start)
    if length is None:
        return items[at:]
    count = int(length)
    if not 1 <= count <= len(items) - at:
        raise NoValue(Message("feel.list_short", count=count, start=start))
    return items[at : at + count]


def _index(items: _List, position: Decimal) -> int:
    index = int(position)
    if index == 0 or abs(index) > len(items):
        raise NoValue(Message("feel.list_place", n=len(items), position=position))
    return index - 1 if index > 0 else len(items) + index


def _bounded(items: _List) -> _List:
    if len(items) > MAX_ITEMS:
        raise Unsupported(Message("feel.list_long", most=MAX_ITEMS))
    return items


SEQUENCES = {
    "append": Function(_append, ("list", "any"), "list, item", many=True),
    "concatenate": Function(_concatenate, ("list",), many=True),
    "union": Function(_union, ("list",), many=True),
    "distinct values": Function(_distinct, ("list",), "list"),
    "flatten": Function(_flatten, ("list",), "list"),
    "reverse": Function(lambda items: items[::-1], ("list",), "list"),
    "index of": Function(_index_of, ("list", "any"), "list, match"),
    "insert before": Function(_insert_before, ("list", "number", "any"), "list, position, newItem"),
    "remove": Function(_remove, ("list", "number"), "list, position"),
    "sublist": Function(
        _sublist, ("list", "number", "number"), "list, start position, length", optional=1
    ),
}

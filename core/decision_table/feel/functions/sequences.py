"""Built-in functions that make lists from lists (DMN 1.3, 10.3.4.4). Places count from 1 or -1."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from core.decision_table.feel.compare import same
from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.values import NoValue, Value

MAX_ITEMS = 100_000

_List = tuple[Value, ...]


def _append(items: _List, *more: Value) -> _List:
    return _bounded(items + more)


def _concatenate(*lists: _List) -> _List:
    return _bounded(tuple(item for items in lists for item in items))


def _union(*lists: _List) -> _List:
    return _distinct(_concatenate(*lists))


def _distinct(items: _List) -> _List:
    kept: list[Value] = []
    for item in items:
        if not any(same(item, other) for other in kept):
            kept.append(item)
    return tuple(kept)


def _flatten(items: _List) -> _List:
    return tuple(_leaves(items))


def _leaves(items: _List) -> Iterator[Value]:
    for item in items:
        if isinstance(item, tuple):
            yield from _leaves(item)
        else:
            yield item


def _index_of(items: _List, match: Value) -> _List:
    return tuple(Decimal(place) for place, item in enumerate(items, 1) if same(item, match))


def _insert_before(items: _List, position: Decimal, item: Value) -> _List:
    at = _place(items, position)
    return _bounded((*items[:at], item, *items[at:]))


def _remove(items: _List, position: Decimal) -> _List:
    at = _place(items, position)
    return items[:at] + items[at + 1 :]


def _sublist(items: _List, start: Decimal, length: Decimal | None = None) -> _List:
    at = _place(items, start)
    if length is None:
        return items[at:]
    count = int(length)
    if not 1 <= count <= len(items) - at:
        raise NoValue(f"the list has no {count} items from place {start} on")
    return items[at : at + count]


def _place(items: _List, position: Decimal) -> int:
    place = int(position)
    if place == 0 or abs(place) > len(items):
        raise NoValue(f"the list of {len(items)} has no place {position}")
    return place - 1 if place > 0 else len(items) + place


def _bounded(items: _List) -> _List:
    if len(items) > MAX_ITEMS:
        raise NoValue(f"the list is longer than {MAX_ITEMS} items")
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

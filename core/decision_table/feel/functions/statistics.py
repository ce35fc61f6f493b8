"""Built-in list functions over numbers (DMN 1.3, 10.3.4.4): what is typical, how it varies."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal

from core.decision_table.feel.functions.function import Function
from core.decision_table.feel.functions.lists import items_of, numbers, total
from core.decision_table.feel.values import NUMBERS, NoValue, Value


def _mean(*given: Value) -> Decimal:
    items = items_of(given)
    return NUMBERS.divide(total(items), Decimal(len(items)))


def _median(*given: Value) -> Decimal:
    """Give the middle of the sorted numbers, or the mean of the two in the middle."""
    ordered = sorted(_some(given))
    half, odd = divmod(len(ordered), 2)
    if odd:
        return ordered[half]
    return NUMBERS.divide(NUMBERS.add(ordered[half - 1], ordered[half]), Decimal(2))


def _stddev(*given: Value) -> Decimal:
    """Give the standard deviation of a sample: of two numbers at least."""
    found = _some(given)
    if len(found) < 2:
        raise NoValue("a standard deviation needs two numbers at least")
    mean = NUMBERS.divide(total(found), Decimal(len(found)))
    squares = [NUMBERS.power(NUMBERS.subtract(one, mean), 2) for one in found]
    return NUMBERS.sqrt(NUMBERS.divide(total(tuple(squares)), Decimal(len(found) - 1)))


def _mode(*given: Value) -> tuple[Value, ...]:
    """Give the numbers that come most often, in ascending order."""
    counts = Counter(numbers(items_of(given)))
    most = max(counts.values(), default=0)
    return tuple(sorted(one for one, count in counts.items() if count == most))


def _product(*given: Value) -> Decimal:
    product = Decimal(1)
    for one in _some(given):
        product = NUMBERS.multiply(product, one)
    return product


def _some(given: tuple[Value, ...]) -> tuple[Decimal, ...]:
    found = numbers(items_of(given))
    if not found:
        raise NoValue("the list is empty")
    return found


STATISTICS = {
    "mean": Function(_mean, ("any",), "list", many=True),
    "median": Function(_median, ("any",), "list", many=True),
    "stddev": Function(_stddev, ("any",), "list", many=True),
    "mode": Function(_mode, ("any",), "list", many=True),
    "product": Function(_product, ("any",), "list", many=True),
}

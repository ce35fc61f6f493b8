"""Find the items that rely on what a change takes away."""

from __future__ import annotations

from collections.abc import Iterable

from core.knowledge.interference.delta import compare
from core.knowledge.interference.items import Item
from core.knowledge.interference.rules import Judge, Reliance

MAX_OTHERS = 50


def find_reliance(before: Item, after: Item, others: Iterable[Item]) -> list[Reliance]:
    """Return what other items rely on and the change takes away, what weighs most first."""
    delta = compare(before, after)
    found = [Judge(before, after, delta, other).found() for other in others]
    return sorted(filter(None, found), key=lambda one: -one.weight)

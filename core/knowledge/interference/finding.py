"""Find the items that rely on what a change takes away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.knowledge.interference.delta import compare
from core.knowledge.interference.items import Item
from core.knowledge.interference.rules import Changed, Judge, Reliance
from core.knowledge.interference.words import terms

_MANY = 8  # items from which on a word that several have tells nothing of any


def find_reliance(before: Item, after: Item, others: Sequence[Item]) -> list[Reliance]:
    """Return what other items rely on and the change takes away, what weighs most first."""
    delta = compare(before, after)
    if delta.is_empty:
        return []
    kept = {one.text for one in after.statements}
    rest = {t for one in before.statements if one.text in kept for t in terms(one.text)}
    common = _common(others)
    changed = Changed(before, after, delta, frozenset(rest | common), common)
    found = [Judge(changed, other).found() for other in others]
    return sorted(filter(None, found), key=lambda one: -one.weight)


def _common(others: Sequence[Item]) -> frozenset[str]:
    """Return the terms of more than a twentieth of many items: they tie none to a change."""
    if len(others) < _MANY:
        return frozenset()
    counts = Counter(term for other in others for term in other.terms)
    return frozenset(t for t, n in counts.items() if n > max(2, len(others) // 20))

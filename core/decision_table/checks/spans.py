"""Sets of an ordered domain as runs between cuts: union and complement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

# A key stands for a value: an integer, a Decimal or a string, by its line (see lines.py).
Cut: TypeAlias = tuple[int, object, int]
Spans: TypeAlias = tuple[tuple[Cut, Cut], ...]

LOWEST: Cut = (-1, 0, 0)
HIGHEST: Cut = (1, 0, 0)
NOTHING: Spans = ()
EVERYTHING: Spans = ((LOWEST, HIGHEST),)


def before(key: object) -> Cut:
    """The place just below a key."""
    return (0, key, 0)


def after(key: object) -> Cut:
    """The place just above a key."""
    return (0, key, 1)


def run(low: Cut, high: Cut) -> Spans:
    """The run between two cuts; nothing where they stand the wrong way round."""
    return ((low, high),) if low < high else NOTHING


def union(sets: Sequence[Spans]) -> Spans:
    """What is in at least one of the sets; the runs are sorted and do not touch."""
    merged: list[tuple[Cut, Cut]] = []
    for low, high in sorted(span for spans in sets for span in spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(spans: Spans) -> Spans:
    """What is not in the set."""
    ends = [LOWEST, *(cut for span in spans for cut in span), HIGHEST]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return tuple((low, high) for low, high in pairs if low < high)

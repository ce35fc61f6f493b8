"""Sets of segments as the bits of an integer: intersection, union, inclusion are one operation.

Python integers are bit sets of any width that the interpreter combines a machine word at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import and_
from typing import TypeAlias

# The segments of an input, by number; 0 is the empty set.
Side: TypeAlias = int
# A box of cases: one set of segments per input.
Sides: TypeAlias = tuple[Side, ...]

_FEW = 16  # runs up to which shifting is cheaper than going through a string of digits


def span(start: int, end: int) -> Side:
    """Return the segments from `start` up to but excluding `end`."""
    return (1 << end) - (1 << start) if start < end else 0


def of_runs(runs: Sequence[tuple[int, int]]) -> Side:
    """Return the segments of half-open runs, given in any order."""
    if len(runs) <= _FEW:
        found = 0
        for start, end in runs:
            found |= span(start, end)
        return found
    size = max(end for _, end in runs)
    digits = bytearray(b"0" * size)  # setting the bits of a long integer one by one is quadratic
    for start, end in runs:
        digits[size - end : size - start] = b"1" * (end - start)
    return int(digits, 2)


def runs_of(side: Side) -> Iterator[tuple[int, int]]:
    """Yield a set as half-open runs, sorted and not touching."""
    digits = bin(side)[:1:-1]
    start = digits.find("1")
    while start >= 0:
        end = digits.find("0", start)
        if end < 0:
            yield start, len(digits)
            return
        yield start, end
        start = digits.find("1", end)


def bits(mask: int) -> Iterator[int]:
    """Yield the positions of the set bits, lowest first."""
    # Shifting a 10,000-bit integer once per bit is quadratic, a string search is not.
    digits = bin(mask)[:1:-1]
    position = digits.find("1")
    while position >= 0:
        yield position
        position = digits.find("1", position + 1)


def shared(left: Sides, right: Sides) -> Sides:
    """Return the intersection of two boxes."""
    return tuple(map(and_, left, right))


def contains(outer: Sides, inner: Sides) -> bool:
    """Whether a box lies wholly within another."""
    return all(not other & ~one for one, other in zip(outer, inner, strict=True))


# A key represents a value: an integer, a Decimal or a string, by its line (see lines.py).
Cut: TypeAlias = tuple[int, object, int]
Spans: TypeAlias = tuple[tuple[Cut, Cut], ...]

LOWEST: Cut = (-1, 0, 0)
HIGHEST: Cut = (1, 0, 0)
NOTHING: Spans = ()
EVERYTHING: Spans = ((LOWEST, HIGHEST),)


def before(key: object) -> Cut:
    """Return the cut just below a key."""
    return (0, key, 0)


def after(key: object) -> Cut:
    """Return the cut just above a key."""
    return (0, key, 1)


def run(low: Cut, high: Cut) -> Spans:
    """Return the run between two cuts; nothing if they are the wrong way round."""
    return ((low, high),) if low < high else NOTHING


def union(sets: Sequence[Spans]) -> Spans:
    """Return the union of the sets; the runs are sorted and do not touch."""
    merged: list[tuple[Cut, Cut]] = []
    for low, high in sorted(span for spans in sets for span in spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(spans: Spans) -> Spans:
    """Return what is not in the set."""
    ends = [LOWEST, *(cut for span in spans for cut in span), HIGHEST]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return tuple((low, high) for low, high in pairs if low < high)

"""Which units of two sequences correspond, in about linear time whatever they contain (pure).

Units that occur once on both sides are anchors (patience diff); what lies between them is compared
closely if it is small, and counts as rewritten if not.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

# Close comparison is quadratic: only short parts get it, and only so many equal pairs in all.
_LEAF_UNITS = 200
_LEAF_PAIRS = 4_000
_DEPTH = 8


class Block(NamedTuple):
    """`old[start:end]` against `new[to_start:to_end]`; `same` says that they are equal."""

    same: bool
    start: int
    end: int
    to_start: int
    to_end: int


@dataclass
class Effort:
    """How many pairs of equal units may still be compared closely."""

    pairs: int = 40_000


def align(old: Sequence[str], new: Sequence[str], effort: Effort) -> list[Block]:
    """Return the blocks of two sequences in order, without empty ones."""
    whole = Block(False, 0, len(old), 0, len(new))
    return [*_joined(_aligned(old, new, whole, effort, _DEPTH))]


def _aligned(
    old: Sequence[str], new: Sequence[str], part: Block, effort: Effort, depth: int
) -> Iterator[Block]:
    _, start, end, to_start, to_end = part
    while start < end and to_start < to_end and old[start] == new[to_start]:
        start, to_start = start + 1, to_start + 1
    while start < end and to_start < to_end and old[end - 1] == new[to_end - 1]:
        end, to_end = end - 1, to_end - 1
    yield Block(True, part.start, start, part.to_start, to_start)
    yield from _middle(old, new, Block(False, start, end, to_start, to_end), effort, depth)
    yield Block(True, end, part.end, to_end, part.to_end)


def _middle(
    old: Sequence[str], new: Sequence[str], part: Block, effort: Effort, depth: int
) -> Iterator[Block]:
    _, start, end, to_start, to_end = part
    if start == end or to_start == to_end or depth == 0:
        yield part
        return
    ours, theirs = Counter(old[start:end]), Counter(new[to_start:to_end])
    pairs = sum(count * theirs[unit] for unit, count in ours.items())
    if max(end - start, to_end - to_start) <= _LEAF_UNITS and pairs <= _LEAF_PAIRS:
        yield from _closely(old, new, part, effort, pairs)
        return
    once = {unit for unit, count in ours.items() if count == 1 and theirs.get(unit) == 1}
    at, to_at = start, to_start
    for index, to_place in _anchors(old, new, part, once):
        gap = Block(False, at, index, to_at, to_place)
        yield from _aligned(old, new, gap, effort, depth - 1)
        yield Block(True, index, index + 1, to_place, to_place + 1)
        at, to_at = index + 1, to_place + 1
    rest = Block(False, at, end, to_at, to_end)
    if rest == part:  # no anchor: another pass would gain nothing
        yield part
    else:
        yield from _aligned(old, new, rest, effort, depth - 1)


def _closely(
    old: Sequence[str], new: Sequence[str], part: Block, effort: Effort, pairs: int
) -> Iterator[Block]:
    if pairs > effort.pairs:
        yield part
        return
    effort.pairs -= pairs
    _, start, end, to_start, to_end = part
    matcher = SequenceMatcher(None, old[start:end], new[to_start:to_end], autojunk=False)
    for tag, i, j, to_i, to_j in matcher.get_opcodes():
        yield Block(tag == "equal", start + i, start + j, to_start + to_i, to_start + to_j)


def _anchors(
    old: Sequence[str], new: Sequence[str], part: Block, once: set[str]
) -> list[tuple[int, int]]:
    """Return the longest run of pairs of units that occur once, rising on both sides."""
    indexes = {new[at]: at for at in range(part.to_start, part.to_end) if new[at] in once}
    pairs = [(at, indexes[old[at]]) for at in range(part.start, part.end) if old[at] in once]
    return [pairs[at] for at in rising([to for _, to in pairs])]


def rising(numbers: Sequence[int]) -> list[int]:
    """Return the indexes of a longest increasing subsequence of distinct numbers."""
    ends: list[int] = []  # the lowest last number of a run of each length
    indexes: list[int] = []  # its index
    before: list[int | None] = []
    for index, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(indexes[length - 1] if length else None)
        if length == len(ends):
            ends.append(number)
            indexes.append(index)
        else:
            ends[length], indexes[length] = number, index
    run: list[int] = []
    at = indexes[-1] if indexes else None
    while at is not None:
        run.append(at)
        at = before[at]
    return run[::-1]


def _joined(blocks: Iterator[Block]) -> Iterator[Block]:
    """Join neighbours of one kind, and drop empty ones."""
    last: Block | None = None
    for block in blocks:
        if block.start == block.end and block.to_start == block.to_end:
            continue
        if last is not None and last.same == block.same:
            last = Block(last.same, last.start, block.end, last.to_start, block.to_end)
            continue
        if last is not None:
            yield last
        last = block
    if last is not None:
        yield last

"""Whether some boxes leave a part of another box uncovered: a search that ends in any case.

The question is hard in general (it is that of a tautology), so the search has a budget. Boxes
that do not meet are counted instead of searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from core.decision_table.checks.search import Budget, search
from core.decision_table.checks.segments import Side, Sides, runs_of, shared, span


def uncovered(
    box: Sides,
    boxes: Sequence[Sides],
    budget: Budget,
    *,
    apart: bool = False,
) -> Sides | None:
    """Give a part of `box` that none of `boxes` covers, or None. Raises GaveUp.

    `apart` tells that no two of the boxes meet: then counting answers, without a search.
    """
    if not all(box):
        return None
    if apart:
        clipped = (shared(row, box) for row in boxes)
        return _uncounted(box, [row for row in clipped if all(row)])
    return search(box, boxes, budget)


def _uncounted(box: Sides, rows: Sequence[Sides]) -> Sides | None:
    """Boxes that do not meet leave a part of `box` where they count for less than it does."""
    if sum(map(_volume, rows)) >= _volume(box):
        return None
    path: list[Side] = []
    for place, side in enumerate(box):
        wanted = _volume(box[place + 1 :])
        volumes = [_volume(row[place + 1 :]) for row in rows]
        pieces = list(_pieces(side, [row[place] for row in rows], volumes))
        empty = sum(span(*piece.run) for piece in pieces if not piece.weight)
        short = empty or next(span(*piece.run) for piece in pieces if piece.weight < wanted)
        path.append(short)
        rows = [row for row in rows if row[place] & short]
    return tuple(path)


def _volume(box: Sides) -> int:
    return prod(side.bit_count() for side in box)


@dataclass(frozen=True)
class _Piece:
    """A run of segments in which the same boxes hold, and the sum of their weights."""

    run: tuple[int, int]
    weight: int


def _pieces(side: Side, rows: Sequence[Side], weights: Sequence[int]) -> Iterator[_Piece]:
    """Cut a side wherever one of the rows begins or ends."""
    turns: dict[int, int] = {}
    for row, own in zip(rows, weights, strict=True):
        for start, end in runs_of(row):
            turns[start] = turns.get(start, 0) + own
            turns[end] = turns.get(end, 0) - own
    within = {cut for run in runs_of(side) for cut in run}
    cuts = sorted({*turns, *within})
    weight, inside = 0, False
    for start, end in pairwise(cuts):
        weight += turns.get(start, 0)
        inside ^= start in within
        if inside:
            yield _Piece((start, end), weight)

"""Whether some boxes leave a part of another box uncovered: a search that ends in any case.

The question is hard in general (it is that of a tautology), so the search has a budget. Boxes
that do not meet are counted instead of searched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from operator import and_, ne

from core.decision_table.checks.segments import Side, Sides, runs_of, span

_MANY, _WORTH = 24, 0.8  # rows from which halves are tried, and what a half may still touch
_LONG = 1 << 13  # bits from which the size of a set tells in what it costs to compare it


class GaveUp(Exception):
    """The search would take too long; nothing is known."""


@dataclass
class Budget:
    """How many comparisons of two sets of segments may still be made."""

    left: int

    def spend(self, comparisons: int) -> None:
        """Take some away. Raises GaveUp where none are left."""
        self.left -= comparisons
        if self.left < 0:
            raise GaveUp


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
        return _uncounted(tuple(box), _clipped(boxes, box))
    return _searched(tuple(box), boxes, budget)


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


def _searched(box: Sides, rows: Sequence[Sides], budget: Budget) -> Sides | None:
    """Split the box until each part is full or bare.

    As in the procedure of Davis, Putnam, Logemann and Loveland for clauses: a row that fills a
    part ends it, one that fills it but for one column takes its values out of that column.
    """
    price = sum(1 + side.bit_length() // _LONG for side in box)
    parts = [(box, rows)]
    while parts:
        left, near = parts.pop()
        narrowed = _narrowed(left, near, budget, price)
        if narrowed is None:
            continue
        left, near = narrowed
        if not near:
            return left
        budget.spend(len(near) * price)
        place, side = _split(left, near)
        parts += [
            ((*left[:place], part, *left[place + 1 :]), near)
            for part in (side, left[place] & ~side)
        ]
    return None


def _split(box: Sides, rows: Sequence[Sides]) -> tuple[int, Side]:
    """Give a column and a part of its side: of many rows the better half, else the widest row."""
    if len(rows) > _MANY:
        halves = [(place, _lower_half(side, rows, place)) for place, side in enumerate(box)]
        touching = [_touching(rows, box, *half) for half in halves]
        if min(touching) < _WORTH * len(rows):
            return halves[touching.index(min(touching))]
    widest = min(rows, key=lambda row: sum(map(ne, row, box)))
    place = max(_open(widest, box), key=lambda each: _apart(rows, widest[each], each))
    return place, widest[place]


def _lower_half(side: Side, rows: Sequence[Sides], place: int) -> Side:
    """Give what of a side lies below the middle one of the places where rows begin."""
    starts = sorted(row[place] & -row[place] for row in rows)
    return side & (starts[len(rows) // 2] - 1)


def _touching(rows: Sequence[Sides], box: Sides, place: int, half: Side) -> int:
    """Count the rows in the fuller half."""
    rest = box[place] & ~half
    sides = [row[place] for row in rows]
    below, above = [side for side in sides if side & half], [side for side in sides if side & rest]
    return max(len(below), len(above))


def _narrowed(
    box: Sides, rows: Sequence[Sides], budget: Budget, price: int
) -> tuple[Sides, Sequence[Sides]] | None:
    """Take out of a box what single columns show to be covered; None where nothing is left."""
    while all(box):
        budget.spend(len(rows) * price)
        rows = _clipped(rows, box)
        slabs: dict[int, Side] = {}
        for row in rows:
            unfilled = sum(map(ne, row, box))
            if not unfilled:
                return None
            if unfilled == 1:
                place = _open(row, box)[0]
                slabs[place] = slabs.get(place, 0) | row[place]
        if not slabs:
            return box, rows
        box = tuple(side & ~slabs.get(place, 0) for place, side in enumerate(box))
    return None


def _clipped(rows: Sequence[Sides], box: Sides) -> list[Sides]:
    """Give what of the rows lies in a box."""
    clipped = (tuple(map(and_, row, box)) for row in rows)
    return [row for row in clipped if all(row)]


def _open(row: Sides, box: Sides) -> list[int]:
    """Give the columns in which a row does not fill a box."""
    return [place for place, side in enumerate(row) if side != box[place]]


def _apart(rows: Sequence[Sides], side: Side, place: int) -> int:
    """Count the rows that lie wholly within a side or wholly outside."""
    return sum(row[place] & side in (0, row[place]) for row in rows)

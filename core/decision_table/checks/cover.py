"""Whether a set of boxes leaves part of another box uncovered: a search with a budget.

The question is co-NP-complete (it is that of a tautology in disjunctive normal form), hence the
budget. Disjoint boxes are counted instead of searched.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TypeAlias

from core.decision_table.checks.segments import Side, Sides, runs_of, shared, span

# Rows from which halves are tried, and the share of rows that a half may still touch.
_MANY, _WORTH = 24, 0.8
_LONG = 1 << 13  # bits from which the length of a set adds to the price of comparing it

# All columns in one integer, so that a row is compared in one operation however many columns there
# are. Above each column is a guard bit: set, and 1 subtracted from every column, it is cleared by
# the borrow of exactly those columns that are empty.
_Packed: TypeAlias = int


class GaveUp(Exception):
    """The search would take too long; nothing is known."""


@dataclass
class Budget:
    """How many comparisons of two sets of segments remain."""

    left: int

    def spend(self, comparisons: int) -> None:
        """Deduct some comparisons. Raises GaveUp when none are left."""
        self.left -= comparisons
        if self.left < 0:
            raise GaveUp


def search(box: Sides, rows: Sequence[Sides], budget: Budget) -> Sides | None:
    """Split a box until each part is full or bare; return a bare one. Raises GaveUp.

    As in the Davis-Putnam-Logemann-Loveland procedure for clauses: a row that fills a part ends it,
    one that fills it in all columns but one takes its values out of that column.
    """
    price = sum(1 + side.bit_length() // _LONG for side in box)
    return _Search(box, budget, price).bare(rows)


class _Search:
    def __init__(self, box: Sides, budget: Budget, price: int) -> None:
        self._box, self._budget, self._price = box, budget, price
        self._starts: list[int] = []
        self._fields: dict[_Packed, _Packed] = {}  # guard bit of a column -> all of its bits
        self._lowest = at = 0
        for side in box:
            self._starts.append(at)
            self._lowest |= 1 << at
            end = at + side.bit_length()
            self._fields[1 << end] = (1 << end) - (1 << at)
            at = end + 1
        self._above = sum(self._fields)

    def bare(self, rows: Sequence[Sides]) -> Sides | None:
        """Return a part that no row covers, or None."""
        parts = [(self._packed(self._box), [self._packed(shared(row, self._box)) for row in rows])]
        while parts:
            box, near = parts.pop()
            narrowed = self._narrowed(box, self._near(near, box))
            if narrowed is None:
                continue
            box, near = narrowed
            if not near:
                return self._unpacked(box)
            self._budget.spend(len(near) * self._price)
            part = self._split(box, near)
            field = next(field for field in self._fields.values() if field & part)
            parts += [(box & ~field | part, near), (box & ~part, near)]
        return None

    def _packed(self, box: Sides) -> _Packed:
        packed = 0
        for side, start in zip(box, self._starts, strict=True):
            packed |= side << start
        return packed

    def _unpacked(self, box: _Packed) -> Sides:
        fields = zip(self._fields.values(), self._starts, strict=True)
        return tuple((box & field) >> start for field, start in fields)

    def _near(self, rows: Sequence[_Packed], box: _Packed) -> list[_Packed]:
        """Return the rows that overlap a box."""
        self._budget.spend(len(rows) * self._price)
        above, lowest = self._above, self._lowest
        return [row for row in rows if ((row & box | above) - lowest) & above == above]

    def _open(self, rows: Sequence[_Packed], box: _Packed) -> list[_Packed]:
        """Return, for each row, the guard bits of the columns in which it does not fill a box."""
        above, lowest = self._above, self._lowest
        return [((row & box ^ box | above) - lowest) & above for row in rows]

    def _narrowed(self, box: _Packed, rows: list[_Packed]) -> tuple[_Packed, list[_Packed]] | None:
        """Remove from a box what single columns show to be covered; None if nothing is left."""
        while True:
            covered = 0
            for row, unfilled in zip(rows, self._open(rows, box), strict=True):
                if not unfilled:
                    return None
                if not unfilled & (unfilled - 1):
                    covered |= row & self._fields[unfilled]
            if not covered:
                return box, rows
            box &= ~covered
            if ((box | self._above) - self._lowest) & self._above != self._above:
                return None
            rows = self._near(rows, box)

    def _split(self, box: _Packed, rows: Sequence[_Packed]) -> Side:
        """Return part of one column: the better half for many rows, else a side of the widest."""
        if len(rows) > _MANY:
            touching, half = min(
                (self._half(box, rows, field) for field in self._fields.values()),
                key=lambda one: one[0],
            )
            if touching < _WORTH * len(rows):
                return half
        unfilled = self._open(rows, box)
        counts = [columns.bit_count() for columns in unfilled]
        widest = counts.index(min(counts))
        sides = [
            rows[widest] & field & box
            for above, field in self._fields.items()
            if above & unfilled[widest]
        ]
        return max(sides, key=lambda side: self._apart(rows, box, side))

    def _half(self, box: _Packed, rows: Sequence[_Packed], field: _Packed) -> tuple[int, Side]:
        """Return the part of a column below the median of the rows' starts.

        It is preceded by the number of rows that the fuller half touches.
        """
        column = box & field
        low = (column & -column).bit_length() - 1
        # Shifted down, the integers are much shorter where columns are long.
        sides = [(row & column) >> low for row in rows]
        starts = sorted([side & -side for side in sides])
        middle = starts[len(rows) // 2]
        over = sum([side >= middle for side in sides])
        return max(bisect_left(starts, middle), over), column & ((middle << low) - 1)

    def _apart(self, rows: Sequence[_Packed], box: _Packed, side: Side) -> int:
        """Count the rows that lie wholly inside a side or wholly outside it."""
        column = box & next(field for field in self._fields.values() if field & side)
        return sum([row & side in (0, row & column) for row in rows])


def uncovered(
    box: Sides,
    boxes: Sequence[Sides],
    budget: Budget,
    *,
    apart: bool = False,
) -> Sides | None:
    """Return a part of `box` that none of `boxes` covers, or None. Raises GaveUp.

    `apart` asserts that no two of the boxes overlap: then counting answers, without a search.
    """
    if not all(box):
        return None
    if apart:
        clipped = (shared(row, box) for row in boxes)
        return _uncounted(box, [row for row in clipped if all(row)])
    return search(box, boxes, budget)


def _uncounted(box: Sides, rows: Sequence[Sides]) -> Sides | None:
    """Return an uncovered part of `box`, found by comparing volumes; the rows are disjoint."""
    if sum(map(_volume, rows)) >= _volume(box):
        return None
    path: list[Side] = []
    for index, side in enumerate(box):
        wanted = _volume(box[index + 1 :])
        volumes = [_volume(row[index + 1 :]) for row in rows]
        pieces = list(_pieces(side, [row[index] for row in rows], volumes))
        empty = sum(span(*piece.run) for piece in pieces if not piece.weight)
        short = empty or next(span(*piece.run) for piece in pieces if piece.weight < wanted)
        path.append(short)
        rows = [row for row in rows if row[index] & short]
    return tuple(path)


def _volume(box: Sides) -> int:
    return prod(side.bit_count() for side in box)


@dataclass(frozen=True)
class _Piece:
    """A run of segments covered by the same boxes, and the sum of their weights."""

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

"""The rows of a table as boxes, a set of segments per input, and which of them overlap."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from pydantic import JsonValue

from core.decision_table.checks.columns import Cell, Column, read_column
from core.decision_table.checks.segments import Side, Sides, runs_of
from core.decision_table.feel import Value, to_json
from core.domain.models import DecisionRow, DecisionTable

_FEW_SIDES = 500  # up to which comparing all pairs is cheaper than building a tree


@dataclass(frozen=True)
class Box:
    """A row of the table, with its cells in column order."""

    row: DecisionRow
    cells: tuple[Cell, ...]

    @cached_property
    def must(self) -> Sides:
        """Where the row certainly matches."""
        return tuple(cell.must for cell in self.cells)

    @cached_property
    def may(self) -> Sides:
        """Where the row may match."""
        return tuple(cell.may for cell in self.cells)

    @property
    def clear(self) -> bool:
        """Whether every cell is fully understood."""
        return not any(cell.why for cell in self.cells)

    @property
    def wrong(self) -> bool:
        """Whether a cell says something that its column can never mean."""
        return any(cell.wrong for cell in self.cells)

    @property
    def empty(self) -> bool:
        """Whether the row can never match."""
        return not all(self.may)


def names_in(table: DecisionTable) -> tuple[str, ...]:
    """Return the names that cells may use: the inputs, and what the document declares."""
    return tuple(dict.fromkeys(column.name for column in (*table.inputs, *table.declared)))


class Space:
    """The input space of a table, with its rows as boxes in it."""

    def __init__(self, table: DecisionTable) -> None:
        self.names = names = names_in(table)
        rows = [row for row in table.rows if len(row.inputs) == len(table.inputs)]
        self.columns: tuple[Column, ...] = tuple(
            read_column(column, [row.inputs[index] for row in rows], names)
            for index, column in enumerate(table.inputs)
        )
        self.boxes: tuple[Box, ...] = tuple(
            Box(
                row,
                tuple(
                    column.cells[text]
                    for column, text in zip(self.columns, row.inputs, strict=True)
                ),
            )
            for row in rows
        )

    def case(self, box: Sides) -> dict[str, Value]:
        """Return input -> a value from a non-empty box; null only where there is no other."""
        return {
            column.name: column.domain.best(side).value
            for column, side in zip(self.columns, box, strict=True)
        }

    @cached_property
    def others(self) -> frozenset[str]:
        """The names that conditions use besides the inputs."""
        used = frozenset[str]().union(*(column.names for column in self.columns))
        return used - {column.name for column in self.columns}

    @cached_property
    def meeting(self) -> tuple[int, ...]:
        """For each row, a bit mask of the rows that certainly share a case with it, itself too."""
        return self._meeting([box.must for box in self.boxes])

    @cached_property
    def perhaps_meeting(self) -> tuple[int, ...]:
        """As `meeting`, including the rows that only may share a case."""
        if all(box.clear for box in self.boxes):
            return self.meeting
        return self._meeting([box.may for box in self.boxes])

    def _meeting(self, boxes: Sequence[Sides]) -> tuple[int, ...]:
        everyone = (1 << len(boxes)) - 1
        found = [everyone] * len(boxes)
        for index, column in enumerate(self.columns):
            sides = [box[index] for box in boxes]
            for number, others in enumerate(_sharing(sides, column.domain.size)):
                found[number] &= others
        return tuple(found)


def as_json(case: Mapping[str, Value]) -> dict[str, JsonValue]:
    """Return a case in the form that `rule decide` takes."""
    return {name: to_json(value) for name, value in case.items()}


def _sharing(rows: Sequence[Side], size: int) -> Iterator[int]:
    """Yield, for each row, a bit mask of the rows that share a segment of one input with it."""
    holders: dict[Side, int] = {}
    for number, side in enumerate(rows):
        holders[side] = holders.get(side, 0) | 1 << number
    known = _in_pairs(holders) if len(holders) <= _FEW_SIDES else _by_segments(holders, size)
    return (known[side] for side in rows)


def _in_pairs(holders: Mapping[Side, int]) -> dict[Side, int]:
    known = dict(holders)
    for (one, of_one), (other, of_other) in combinations(holders.items(), 2):
        if one & other:
            known[one] |= of_other
            known[other] |= of_one
    return known | ({0: 0} if 0 in known else {})


def _by_segments(holders: Mapping[Side, int], size: int) -> dict[Side, int]:
    """Return, for each side, a bit mask of the rows that share a segment with it."""
    # A segment tree of unions, in which a run takes O(log size) nodes: comparing all pairs of rows
    # is quadratic, and so is collecting rows segment by segment where wide ranges overlap.
    tree = [0] * size + _active(holders, size)
    for index in range(size - 1, 0, -1):
        tree[index] = tree[2 * index] | tree[2 * index + 1]
    return {side: _united(tree, side, size) for side in holders}


def _active(holders: Mapping[Side, int], size: int) -> list[int]:
    """Return, for each segment, a bit mask of the rows that cover it."""
    turned = [0] * (size + 1)
    for side, rows in holders.items():
        for start, end in runs_of(side):
            turned[start] ^= rows
            turned[end] ^= rows
    active, found = 0, []
    for turn in turned[:size]:
        active ^= turn
        found.append(active)
    return found


def _united(tree: Sequence[int], side: Side, size: int) -> int:
    found = 0
    for start, end in runs_of(side):
        low, high = start + size, end + size
        while low < high:
            if low & 1:
                found |= tree[low]
                low += 1
            if high & 1:
                high -= 1
                found |= tree[high]
            low, high = low >> 1, high >> 1
    return found

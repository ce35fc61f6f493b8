"""Which column of a decision table became which, and how a row's cell of it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from core.desk.sheet.shown import Cell, ColumnDiff, RowKind
from core.models import DecisionRow, DecisionTable

Read = Callable[[DecisionRow], str]


class _Column(NamedTuple):
    role: str
    name: str
    type: str
    allowed: str
    default: str
    read: Read


@dataclass(frozen=True)
class ColumnPair:
    """A column as it is shown; `before` and `after` read its cell where it is there."""

    shown: ColumnDiff
    before: Read | None
    after: Read | None


def column_pairs(old: DecisionTable | None, new: DecisionTable | None) -> list[ColumnPair]:
    """Pair the columns by role and name, in the order after; those removed come last in a role."""
    ours = {(column.role, column.name): column for column in _columns(old)}
    theirs = {(column.role, column.name): column for column in _columns(new)}
    roles = ("input", "output", "annotation")
    keys = sorted({**theirs, **ours}, key=lambda key: roles.index(key[0]))
    return [_pair(ours.get(key), theirs.get(key)) for key in keys]


def _columns(table: DecisionTable | None) -> Iterator[_Column]:
    if table is None:
        return
    for place, column in enumerate(table.inputs):
        yield _Column("input", column.name, column.type, column.allowed, "", _input(place))
    for place, output in enumerate(table.outputs):
        yield _Column(
            "output", output.name, output.type, output.allowed, output.default, _output(place)
        )
    yield _Column("annotation", "", "", "", "", lambda row: row.annotation)


def _input(place: int) -> Read:
    return lambda row: row.inputs[place]


def _output(place: int) -> Read:
    return lambda row: row.outputs[place]


def _pair(old: _Column | None, new: _Column | None) -> ColumnPair:
    known = new or old
    assert known is not None
    kind = RowKind.ADDED if old is None else RowKind.REMOVED if new is None else RowKind.SAME
    if old and new and old[:5] != new[:5]:
        kind = RowKind.CHANGED
    shown = ColumnDiff(
        kind=kind,
        role=known.role,
        name=known.name,
        type=Cell(before=old.type if old else None, after=new.type if new else None),
        allowed=Cell(before=old.allowed if old else None, after=new.allowed if new else None),
        default=Cell(before=old.default if old else None, after=new.default if new else None),
    )
    return ColumnPair(shown, old.read if old else None, new.read if new else None)

"""The diff of two decision tables: which rows and columns are added, removed, changed, moved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.decision_table import check_table, read_xml
from core.decision_table.learning.older import Older
from core.domain.models import DecisionRow, DecisionTable
from core.entrypoints.service.review_view.alignment import rising
from core.entrypoints.service.review_view.shown import (
    Cell,
    ColumnDiff,
    Finding,
    RowKind,
    TableDiff,
    TableRow,
)

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
    """A column as it is shown; `before` and `after` read its cell if the column is there."""

    shown: ColumnDiff
    before: Read | None
    after: Read | None


def column_pairs(old: DecisionTable | None, new: DecisionTable | None) -> list[ColumnPair]:
    """Pair the columns by role and name, in the order after; removed ones come last in a role."""
    ours = {(column.role, column.name): column for column in _columns(old)}
    theirs = {(column.role, column.name): column for column in _columns(new)}
    roles = ("input", "output", "annotation")
    keys = sorted({**theirs, **ours}, key=lambda key: roles.index(key[0]))
    return [_pair(ours.get(key), theirs.get(key)) for key in keys]


def _columns(table: DecisionTable | None) -> Iterator[_Column]:
    if table is None:
        return
    for index, column in enumerate(table.inputs):
        yield _Column("input", column.name, column.type, column.allowed, "", _input(index))
    for index, output in enumerate(table.outputs):
        yield _Column(
            "output", output.name, output.type, output.allowed, output.default, _output(index)
        )
    yield _Column("annotation", "", "", "", "", lambda row: row.annotation)


def _input(index: int) -> Read:
    return lambda row: row.inputs[index]


def _output(index: int) -> Read:
    return lambda row: row.outputs[index]


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


CONTEXT = 3
MAX_ROWS = 300
MAX_FINDINGS = 50
CELL_CHARS = 1_000
_BY_PLACE = re.compile(r"row_\d+(_\d+)?")  # the ids of rows that have none of their own
Pairs = Mapping[str, str]


def table_diff(before: str | None, after: str | None) -> TableDiff:
    """Compare two DMN documents, None for one that does not exist. Raises RuleInvalid."""
    old = None if before is None else read_xml(before)
    new = None if after is None else read_xml(after)
    pairs = _row_pairs(old.rows if old else (), new.rows if new else ())
    columns = column_pairs(old, new)
    rows = [*_folded([*_rows(old, new, pairs, columns)])]
    findings = [*_findings(old, new, pairs)]
    return TableDiff(
        name=_cell(old, new, lambda table: table.name),
        hit_policy=_cell(old, new, _policy),
        columns=tuple(pair.shown for pair in columns),
        rows=tuple(rows[:MAX_ROWS]),
        more=sum(row.hidden or 1 for row in rows[MAX_ROWS:]),
        findings=tuple(findings[:MAX_FINDINGS]),
        more_findings=len(findings[MAX_FINDINGS:]),
    )


def _cell(
    old: DecisionTable | None, new: DecisionTable | None, part: Callable[[DecisionTable], str]
) -> Cell:
    return Cell(before=part(old) if old else None, after=part(new) if new else None)


def _policy(table: DecisionTable) -> str:
    return " ".join(filter(None, (table.hit_policy, table.aggregation)))


def _row_pairs(old: Sequence[DecisionRow], new: Sequence[DecisionRow]) -> Pairs:
    """Return which row became which, by ids if rows have their own, else by content."""
    pairs: dict[str, str] = {}
    named = {row.id: row for row in new}
    _pair_up(pairs, old, named, lambda row: row.id, _says_same)
    _pair_up(pairs, old, named, lambda row: row.id, lambda row, _: not _BY_PLACE.fullmatch(row.id))
    free = [row for row in new if row.id not in set(pairs.values())]
    by_content = {_content(row): row for row in reversed(free)}
    _pair_up(pairs, old, by_content, _content, lambda *_: True)
    _pair_up(pairs, old, named, lambda row: row.id, lambda *_: True)
    return pairs


def _pair_up(
    pairs: dict[str, str],
    old: Sequence[DecisionRow],
    new: Mapping[str, DecisionRow],
    key: Callable[[DecisionRow], str],
    fits: Callable[[DecisionRow, DecisionRow], bool],
) -> None:
    taken = set(pairs.values())
    for row in old:
        found = new.get(key(row)) if row.id not in pairs else None
        if found is not None and found.id not in taken and fits(row, found):
            pairs[row.id] = found.id
            taken.add(found.id)


def _content(row: DecisionRow) -> str:
    return "\0".join((*row.inputs, "", *row.outputs, "", row.annotation))


def _says_same(row: DecisionRow, other: DecisionRow) -> bool:
    return _content(row) == _content(other)


@dataclass(frozen=True)
class _Numbered:
    """A row and its number in its table, from 1."""

    row: DecisionRow
    number: int


def _numbered(table: DecisionTable | None) -> dict[str, _Numbered]:
    rows = table.rows if table else ()
    return {row.id: _Numbered(row, number) for number, row in enumerate(rows, 1)}


def _rows(
    old: DecisionTable | None,
    new: DecisionTable | None,
    pairs: Pairs,
    columns: Sequence[ColumnPair],
) -> Iterator[TableRow]:
    """Yield all rows in the order after; removed rows follow their former predecessors."""
    ours, theirs = _numbered(old), _numbered(new)
    was = {now: then for then, now in pairs.items()}
    stayed = [(ours[was[row_id]].number, row_id) for row_id in theirs if row_id in was]
    in_order = {stayed[index][1] for index in rising([number for number, _ in stayed])}
    removed = _removed_behind(ours, pairs)
    yield from (_row(ours[row_id], None, columns) for row_id in removed.get("", ()))
    for row_id, now in theirs.items():
        then = ours.get(was.get(row_id, ""))
        yield _row(then, now, columns, moved=then is not None and row_id not in in_order)
        gone = removed.get(was.get(row_id, "\0"), ())
        yield from (_row(ours[other], None, columns) for other in gone)


def _removed_behind(ours: Mapping[str, _Numbered], pairs: Pairs) -> dict[str, list[str]]:
    """Return the removed rows, by the id of the last remaining row before them."""
    removed: dict[str, list[str]] = {}
    last = ""
    for row_id in ours:
        if row_id in pairs:
            last = row_id
        else:
            removed.setdefault(last, []).append(row_id)
    return removed


def _row(
    old: _Numbered | None,
    new: _Numbered | None,
    columns: Sequence[ColumnPair],
    *,
    moved: bool = False,
) -> TableRow:
    cells = tuple(_cell_of(pair, old, new) for pair in columns)
    known = new or old
    assert known is not None
    kind = RowKind.ADDED if old is None else RowKind.REMOVED if new is None else RowKind.SAME
    if kind is RowKind.SAME and any(cell.before != cell.after for cell in cells):
        kind = RowKind.CHANGED
    return TableRow(
        kind=kind,
        id=known.row.id,
        before_number=old.number if old else None,
        after_number=new.number if new else None,
        moved=moved,
        cells=cells,
    )


def _cell_of(pair: ColumnPair, old: _Numbered | None, new: _Numbered | None) -> Cell:
    before = pair.before(old.row) if old and pair.before else None
    after = pair.after(new.row) if new and pair.after else None
    return Cell(
        before=None if before is None else before[:CELL_CHARS],
        after=None if after is None else after[:CELL_CHARS],
    )


def _folded(rows: Sequence[TableRow]) -> Iterator[TableRow]:
    """Yield rows, with unchanged ones that are far from all others folded."""
    changed = [index for index, row in enumerate(rows) if row.moved or row.kind is not RowKind.SAME]
    shown = {near for index in changed for near in range(index - CONTEXT, index + CONTEXT + 1)}
    hidden = 0
    for index, row in enumerate(rows):
        if index not in shown:
            hidden += 1
            continue
        if hidden:
            yield TableRow(kind=RowKind.FOLDED, hidden=hidden)
        hidden = 0
        yield row
    if hidden:
        yield TableRow(kind=RowKind.FOLDED, hidden=hidden)


def _findings(
    old: DecisionTable | None, new: DecisionTable | None, pairs: Pairs
) -> Iterator[Finding]:
    if new is None:
        return
    older = Older(old, new, pairs) if old else None
    for defect in check_table(new):
        yield Finding(defect=defect, is_new=older is None or not older.had(defect))

"""A diff as data: rows of lines, files, rows of a decision table, lists."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from core.domain.models import Defect
from core.domain.models import findings as screen
from core.domain.models.base import Model, Text, absent


class Side(StrEnum):
    """One of the two states of a change."""

    BEFORE = "before"
    AFTER = "after"


class RowKind(StrEnum):
    """What became of a row. `folded` represents unchanged rows that are not shown."""

    SAME = "same"
    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    FOLDED = "folded"


class Span(Model):
    """A changed part of a line: from `start`, before `end`, in code points of its `text`."""

    start: int
    end: int


class FoundSpan(Span):
    """A part of a line in which the screen found something, and what."""

    finding: screen.Finding


class Line(Model):
    """A line of a file. `cut`: it is longer, and `text` is the part around its first change.

    `found` are the parts in which the screen found something; of a cut line none are marked.
    """

    number: int
    text: str
    spans: tuple[Span, ...] = ()
    cut: bool = False
    found: Annotated[tuple[FoundSpan, ...], Field(exclude_if=absent)] = ()


class LineRow(Model):
    """Two lines side by side; `hidden` counts the lines that a folded row represents.

    A changed row without spans has little in common: the whole line has changed.
    """

    kind: RowKind
    left: Line | None = None
    right: Line | None = None
    hidden: int = 0


class TextDiff(Model):
    """The rows of a text; `more` counts those beyond the limit."""

    rows: tuple[LineRow, ...]
    added: int
    removed: int
    more: int = 0


class FileSide(Model):
    """A file in one of the states; `size` in bytes."""

    sha256: str
    size: int
    executable: bool = False


class FileDiff(Model):
    """One file that differs. `text` is None for a binary one; `problem` names any other reason."""

    path: str
    kind: RowKind
    before: FileSide | None
    after: FileSide | None
    binary: bool = False
    text: TextDiff | None = None
    problem: Text = ""


class ListDiff(Model):
    """Names that are added, removed and unchanged."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...]


class Cell(Model):
    """One value before and after; None if it does not exist."""

    before: str | None
    after: str | None


class ColumnDiff(Model):
    """A column of a table: `role` is input, output or annotation."""

    kind: RowKind
    role: str
    name: str
    type: Cell
    allowed: Cell
    default: Cell


class TableRow(Model):
    """A row of a table with a cell for each column. `moved`: its position has changed."""

    kind: RowKind
    id: str = ""
    before_number: int | None = None
    after_number: int | None = None
    moved: bool = False
    cells: tuple[Cell, ...] = ()
    hidden: int = 0


class Finding(Model):
    """What the checks find in the resulting table; `is_new`: it was not so before."""

    defect: Defect
    is_new: bool


class TableDiff(Model):
    """A decision table row by row, and what its checks find; the document's diff is separate."""

    name: Cell
    hit_policy: Cell
    columns: tuple[ColumnDiff, ...]
    rows: tuple[TableRow, ...]
    more: int = 0
    findings: tuple[Finding, ...] = ()
    more_findings: int = 0


class Diff(Model):
    """What a change does, file by file; for an agent's list and a table also as such.

    A memory, a table and a list count as one file each. `table_problem` says why a table is shown
    only as text. `unchanged` counts files that stay, `more` those that are not shown.
    """

    files: tuple[FileDiff, ...]
    unchanged: int = 0
    more: int = 0
    table: TableDiff | None = None
    table_problem: Text = ""
    names: ListDiff | None = None

"""The diff of two texts as rows to be shown side by side, bounded whatever their size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.desk.sheet.alignment import Block, Effort, align
from core.desk.sheet.shown import LineRow, RowKind, TextDiff
from core.desk.sheet.spans import lines_side_by_side, one_line

CONTEXT = 3


@dataclass
class Room:
    """How much a sheet may still show, over all of its files."""

    rows: int = 1_000
    chars: int = 200_000
    effort: Effort = field(default_factory=Effort)

    def takes(self, row: LineRow) -> bool:
        """Take up the place of a row; False where there is none left."""
        if self.rows <= 0 or self.chars <= 0:
            return False
        self.rows -= 1
        self.chars -= sum(len(line.text) for line in (row.left, row.right) if line)
        return True


def text_diff(before: str | None, after: str | None, room: Room) -> TextDiff:
    """Give the rows of two texts, None for one that is not there; what stays is folded."""
    old, new = _lines(before, after)
    blocks = align(old, new, room.effort)
    changed = [block for block in blocks if not block.same]
    rows: list[LineRow] = []
    left_out = 0
    for number, block in enumerate(blocks):
        is_edge = (number == 0, number == len(blocks) - 1)
        for row in _rows(old, new, block, is_edge, room, full=bool(left_out)):
            if not left_out and room.takes(row):
                rows.append(row)
            else:
                left_out += row.hidden or 1
    return TextDiff(
        rows=tuple(rows),
        added=sum(block.to_end - block.to_start for block in changed),
        removed=sum(block.end - block.start for block in changed),
        more=left_out,
    )


def _lines(before: str | None, after: str | None) -> tuple[list[str], list[str]]:
    """Split at line feeds alone: all else is content. A last line feed is shown if one has none."""
    texts = [text for text in (before, after) if text is not None]
    drop = all(text.endswith("\n") or not text for text in texts)
    return _split(before, drop=drop), _split(after, drop=drop)


def _split(text: str | None, *, drop: bool) -> list[str]:
    if not text:
        return []
    lines = text.split("\n")
    return lines[:-1] if drop else lines


def _rows(
    old: Sequence[str],
    new: Sequence[str],
    block: Block,
    is_edge: tuple[bool, bool],
    room: Room,
    *,
    full: bool,
) -> Iterator[LineRow]:
    """Give a block's rows; once the sheet is full, one that stands for all of them."""
    longest = max(block.end - block.start, block.to_end - block.to_start)
    if full:
        yield LineRow(kind=RowKind.FOLDED, hidden=longest)
    elif block.same:
        yield from _folded(old, block, is_edge)
    else:
        shown = min(longest, max(0, room.rows) + 1)
        for place in range(shown):
            yield _pair(old, new, block, place, room)
        if shown < longest:
            yield LineRow(kind=RowKind.FOLDED, hidden=longest - shown)


def _folded(old: Sequence[str], block: Block, is_edge: tuple[bool, bool]) -> Iterator[LineRow]:
    length = block.end - block.start
    head, tail = (0 if is_edge[0] else CONTEXT), (0 if is_edge[1] else CONTEXT)
    hidden = length - head - tail
    if hidden <= 1:
        head, tail, hidden = length, 0, 0
    for place in range(head):
        yield _same(old, block, place)
    if hidden:
        yield LineRow(kind=RowKind.FOLDED, hidden=hidden)
    for place in range(length - tail, length):
        yield _same(old, block, place)


def _same(old: Sequence[str], block: Block, place: int) -> LineRow:
    text = old[block.start + place]
    return LineRow(
        kind=RowKind.SAME,
        left=one_line(text, block.start + place + 1),
        right=one_line(text, block.to_start + place + 1),
    )


def _pair(old: Sequence[str], new: Sequence[str], block: Block, place: int, room: Room) -> LineRow:
    at, to_at = block.start + place, block.to_start + place
    if at >= block.end:
        return LineRow(kind=RowKind.ADDED, right=one_line(new[to_at], to_at + 1))
    if to_at >= block.to_end:
        return LineRow(kind=RowKind.REMOVED, left=one_line(old[at], at + 1))
    left, right = lines_side_by_side(old[at], new[to_at], (at + 1, to_at + 1), room.effort)
    return LineRow(kind=RowKind.CHANGED, left=left, right=right)

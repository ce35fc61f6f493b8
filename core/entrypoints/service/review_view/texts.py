"""The diff of two texts as rows to be shown side by side, bounded whatever their size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from core.entrypoints.service.review_view.alignment import Block, Effort, align
from core.entrypoints.service.review_view.shown import Line, LineRow, RowKind, Span, TextDiff

LINE_CHARS = 1_000
_AHEAD = 100  # characters shown of a long line before its first change
_ALIKE = 0.3  # with a smaller part in common the whole line counts as changed
# Consecutive letters are a word; syllables of Hangul and CJK are alone, jamo with their syllable,
# marks with their letter.
_UNIT = re.compile(
    r"[ᄀ-ᅟ]+[ᅠ-ᆧ]*[ᆨ-ᇿ]*"
    r"|[0-9A-Za-z_\u00c0-\u02af\u0400-\u04ff\u0300-\u036f]+"
    r"|\s+"
    r"|[^\s][\u0300-\u036f\ufe0f\u200d]*"
)


def lines_side_by_side(
    left: str, right: str, numbers: tuple[int, int], effort: Effort
) -> tuple[Line, Line]:
    """Return two lines that differ with their changed spans, long ones cut around the first."""
    start = 0
    if max(len(left), len(right)) > LINE_CHARS:
        start = max(0, _common(left, right) - _AHEAD)
    cut_left, cut_right = _cut(left, start), _cut(right, start)
    spans = _spans(cut_left, cut_right, effort)
    return (
        Line(number=numbers[0], text=cut_left, spans=spans[0], cut=cut_left != left),
        Line(number=numbers[1], text=cut_right, spans=spans[1], cut=cut_right != right),
    )


def one_line(text: str, number: int) -> Line:
    """Return a line that is alone, or the same on both sides."""
    return Line(number=number, text=text[:LINE_CHARS], cut=len(text) > LINE_CHARS)


def _cut(text: str, start: int) -> str:
    return text[start : start + LINE_CHARS]


def _common(left: str, right: str) -> int:
    """Return the length of the common prefix; bisecting compares slices, which is fast."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _spans(left: str, right: str, effort: Effort) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    ours, theirs = _UNIT.findall(left), _UNIT.findall(right)
    blocks = _rid_of_splinters(align(ours, theirs, effort), ours)
    same = sum(len(_text(ours, block.start, block.end)) for block in blocks if block.same)
    if same < _ALIKE * max(len(left), len(right)):
        return (), ()
    changed = [block for block in blocks if not block.same]
    return (
        _placed(ours, [(block.start, block.end) for block in changed]),
        _placed(theirs, [(block.to_start, block.to_end) for block in changed]),
    )


def _rid_of_splinters(blocks: Sequence[Block], units: Sequence[str]) -> list[Block]:
    """Treat a lone unchanged character between two changes as changed: that reads better."""
    merged: list[Block] = []
    for number, block in enumerate(blocks):
        inner = 0 < number < len(blocks) - 1
        if inner and len(_text(units, block.start, block.end).strip()) <= 1:
            block = block._replace(same=False)
        if merged and not merged[-1].same and not block.same:
            merged[-1] = merged[-1]._replace(end=block.end, to_end=block.to_end)
        else:
            merged.append(block)
    return merged


def _text(units: Sequence[str], start: int, end: int) -> str:
    return "".join(units[start:end])


def _placed(units: Sequence[str], parts: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Return parts of units as spans of characters; an empty part is none."""
    ends = [0]
    for unit in units:
        ends.append(ends[-1] + len(unit))
    return tuple(Span(start=ends[i], end=ends[j]) for i, j in parts if i < j)


CONTEXT = 3


@dataclass
class Room:
    """How much a review view may still show, over all of its files."""

    rows: int = 1_000
    chars: int = 200_000
    effort: Effort = field(default_factory=Effort)

    def takes(self, row: LineRow) -> bool:
        """Account for a row; False if no room is left."""
        if self.rows <= 0 or self.chars <= 0:
            return False
        self.rows -= 1
        self.chars -= sum(len(line.text) for line in (row.left, row.right) if line)
        return True


def text_diff(before: str | None, after: str | None, room: Room) -> TextDiff:
    """Return the rows of two texts, None for one that does not exist; unchanged rows are folded."""
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
    """Split at line feeds alone; a final one is shown if only one of the texts has it."""
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
    """Yield a block's rows; once there is no room, one that stands for all of them."""
    longest = max(block.end - block.start, block.to_end - block.to_start)
    if full:
        yield LineRow(kind=RowKind.FOLDED, hidden=longest)
    elif block.same:
        yield from _folded(old, block, is_edge)
    else:
        shown = min(longest, room.rows)
        for offset in range(shown):
            yield _pair(old, new, block, offset, room)
        if shown < longest:
            yield LineRow(kind=RowKind.FOLDED, hidden=longest - shown)


def _folded(old: Sequence[str], block: Block, is_edge: tuple[bool, bool]) -> Iterator[LineRow]:
    length = block.end - block.start
    head, tail = (0 if is_edge[0] else CONTEXT), (0 if is_edge[1] else CONTEXT)
    hidden = length - head - tail
    if hidden <= 1:
        head, tail, hidden = length, 0, 0
    for offset in range(head):
        yield _same(old, block, offset)
    if hidden:
        yield LineRow(kind=RowKind.FOLDED, hidden=hidden)
    for offset in range(length - tail, length):
        yield _same(old, block, offset)


def _same(old: Sequence[str], block: Block, offset: int) -> LineRow:
    text = old[block.start + offset]
    return LineRow(
        kind=RowKind.SAME,
        left=one_line(text, block.start + offset + 1),
        right=one_line(text, block.to_start + offset + 1),
    )


def _pair(old: Sequence[str], new: Sequence[str], block: Block, offset: int, room: Room) -> LineRow:
    at, to_at = block.start + offset, block.to_start + offset
    if at >= block.end:
        return LineRow(kind=RowKind.ADDED, right=one_line(new[to_at], to_at + 1))
    if to_at >= block.to_end:
        return LineRow(kind=RowKind.REMOVED, left=one_line(old[at], at + 1))
    left, right = lines_side_by_side(old[at], new[to_at], (at + 1, to_at + 1), room.effort)
    return LineRow(kind=RowKind.CHANGED, left=left, right=right)

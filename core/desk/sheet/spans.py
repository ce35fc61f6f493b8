"""What has changed inside of a line, by words, and by syllables where writing is by syllables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from core.desk.sheet.alignment import Block, Effort, align
from core.desk.sheet.shown import Line, Span

LINE_CHARS = 1_000
_AHEAD = 100  # shown of a long line before its first change
_ALIKE = 0.3  # with less in common than this part the whole line counts as changed
# Letters in a row are a word; syllables of Hangul and CJK stand alone, jamo with their syllable,
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
    """Give two lines that differ with their changed spans, long ones cut around the first."""
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
    """Give a line that stands alone, or is the same on both sides."""
    return Line(number=number, text=text[:LINE_CHARS], cut=len(text) > LINE_CHARS)


def _cut(text: str, start: int) -> str:
    return text[start : start + LINE_CHARS]


def _common(left: str, right: str) -> int:
    """Give how many characters both begin with; halving compares slices, which is fast."""
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
    """Let a lone character that stays between two changes count as changed: so it reads better."""
    kept: list[Block] = []
    for number, block in enumerate(blocks):
        inner = 0 < number < len(blocks) - 1
        if inner and block.same and len(_text(units, block.start, block.end).strip()) <= 1:
            block = block._replace(same=False)
        if kept and not kept[-1].same and not block.same:
            kept[-1] = kept[-1]._replace(end=block.end, to_end=block.to_end)
        else:
            kept.append(block)
    return kept


def _text(units: Sequence[str], start: int, end: int) -> str:
    return "".join(units[start:end])


def _placed(units: Sequence[str], parts: Sequence[tuple[int, int]]) -> tuple[Span, ...]:
    """Give parts of units as spans of characters; a part without any is none."""
    ends = [0]
    for unit in units:
        ends.append(ends[-1] + len(unit))
    return tuple(Span(start=ends[i], end=ends[j]) for i, j in parts if i < j)

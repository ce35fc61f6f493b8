"""Items at the end of a Markdown list, written as that list is (pure).

A new item has the list's own marker, indentation, numbering and tightness, as defined by CommonMark
0.31, sections 5.2 and 5.3.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, pairwise, takewhile

from core.domain.errors import BundleInvalid
from core.domain.messages import Message
from core.skills.document.markdown import Block, blocks, is_blank, lines_of

_MARKER = re.compile(r"(?P<indent> {0,3})(?P<marker>[-+*]|\d{1,9}[.)])(?P<gap>[ \t]*)")
_TASK = re.compile(r"\[[ xX]\][ \t]")
_LISTS = frozenset(("bullet_list_open", "ordered_list_open"))
_TAB = 4
_WIDEST_GAP = 4  # five blanks after a marker begin indented code
_HIGHEST = 999_999_999  # CommonMark reads at most nine digits as a marker
# What begins with more digits is a year, not an item that the author numbered.
_NUMBERED = re.compile(r" {0,3}(?:[-+*]|\d{1,3}[.)])(?:[ \t]|$)")


@dataclass(frozen=True)
class MarkdownList:
    """A list nested in no other block: the lines where its items begin, and its end."""

    items: tuple[int, ...]
    end: int


def lists_in(blocks: Sequence[Block]) -> list[MarkdownList]:
    """Return the outermost lists among blocks, in order."""
    return [
        MarkdownList(_items_of(blocks, number), block.after)
        for number, block in enumerate(blocks)
        if block.level == 0 and block.kind in _LISTS
    ]


def new_items(lines: Sequence[str], target: MarkdownList, text: str, newline: str) -> list[str]:
    """Return the lines that add `text` to the list: one item, or each of the list that it is.

    They begin with a blank line if the list is loose. Raises BundleInvalid.
    """
    shape = _Shape.of(lines, target)
    block: list[str] = []
    for number, item in enumerate(_items_to_add(text), 1):
        block += [newline] if shape.is_loose else []
        block += [line + newline for line in shape.item(item, number)]
    return block


@dataclass(frozen=True)
class _Shape:
    """How a list is written, judged by its last item."""

    indent: str
    marker: str
    gap: str
    counts: bool
    is_task: bool
    is_loose: bool

    @classmethod
    def of(cls, lines: Sequence[str], target: MarkdownList) -> _Shape:
        markers = [_marker(lines[start]) for start in target.items]
        last = markers[-1]
        rest = lines[target.items[-1]][last.end() :]
        is_plain = not is_blank(rest) and len(last["gap"].expandtabs(_TAB)) <= _WIDEST_GAP
        return cls(
            indent=last["indent"],
            marker=last["marker"],
            gap=last["gap"] if is_plain else " ",
            counts=len({found["marker"] for found in markers}) > 1 or len(markers) == 1,
            is_task=_TASK.match(rest) is not None,
            is_loose=any(is_blank(lines[start - 1]) for start in target.items[1:]),
        )

    def item(self, text: Sequence[str], number: int) -> list[str]:
        """Return the lines of the `number`-th new item, without their endings."""
        lead = f"{self.indent}{self._next(number)}{self.gap}"
        hang = " " * len(lead.expandtabs(_TAB))
        box = "[ ] " if self.is_task and not _TASK.match(f"{text[0]} ") else ""
        first, *rest = text
        return [lead + box + first, *(hang + line if line else "" for line in rest)]

    def _next(self, step: int) -> str:
        digits, ending = self.marker[:-1], self.marker[-1]
        if not digits or not self.counts:
            return self.marker
        number = int(digits) + step
        if number > _HIGHEST:
            raise BundleInvalid(Message("edit.list_numbers", digits=digits))
        return f"{number:0{len(digits)}d}{ending}"


def _marker(line: str) -> re.Match[str]:
    found = _MARKER.match(line)
    assert found is not None  # the parser found an item here
    return found


def _items_of(blocks: Sequence[Block], opening: int) -> tuple[int, ...]:
    inside = takewhile(lambda block: block.level > 0, islice(blocks, opening + 1, None))
    return tuple(block.first for block in inside if block.kind == "list_item_open")


def _items_to_add(text: str) -> list[list[str]]:
    """Return the items that a text stands for, each as its lines without marker and indentation."""
    lines = [line.rstrip("\r\n") for line in lines_of(text)]
    while is_blank(lines[0]):
        lines.pop(0)
    while is_blank(lines[-1]):
        lines.pop()
    read = blocks("\n".join(lines))
    found = lists_in(read)
    is_list = len(found) == 1 and read[0].kind in _LISTS and found[0].end >= len(lines)
    if not is_list or not _NUMBERED.match(lines[0]):
        return [lines]
    bounds = [*found[0].items, len(lines)]
    return [_bare(lines[start:end]) for start, end in pairwise(bounds)]


def _bare(lines: list[str]) -> list[str]:
    """Return the lines of an item without its marker and indentation."""
    marker = _marker(lines[0])
    gap = marker["gap"] if len(marker["gap"].expandtabs(_TAB)) <= _WIDEST_GAP else marker["gap"][:1]
    lead = lines[0][: marker.end("marker")] + gap
    width = len(lead.expandtabs(_TAB))
    bare = [lines[0][len(lead) :], *(_outdented(line, width) for line in lines[1:])]
    while bare[1:] and is_blank(bare[-1]):
        bare.pop()
    if all(map(is_blank, bare)):
        raise BundleInvalid(Message("edit.item_empty"))
    return bare


def _outdented(line: str, width: int) -> str:
    expanded = line.expandtabs(_TAB) if line[:1] in " \t" else line
    blank = len(expanded) - len(expanded.lstrip(" "))
    return expanded[min(blank, width) :]

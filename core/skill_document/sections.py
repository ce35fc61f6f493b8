"""One edit of a Markdown text: what it does not name keeps its bytes and its meaning (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from core.errors import BundleInvalid
from core.models import SkillEdit
from core.skill_document.addresses import address, find_heading
from core.skill_document.frontmatter import parted
from core.skill_document.lists import MarkdownList, lists_in, new_items
from core.skill_document.markdown import (
    Block,
    Heading,
    blocks,
    headings,
    headings_in,
    is_blank,
    lines_of,
    newline_of,
    outermost,
)

_MARK = "\ufeff"
_NAMED = 8
_OPEN_ENDED = frozenset(("fence", "html_block"))


def edit_text(text: str, edit: SkillEdit) -> str:
    """Carry out an edit that names a heading of the text. Raises BundleInvalid.

    New lines end as those beside them do. A byte order mark and the frontmatter are left alone.
    """
    if not edit.text.strip():
        raise BundleInvalid("text is empty")
    head, body = _split(text)
    page = _Page.of(body, newline_of(text))
    splice = _EDITS[edit.op](page, edit)
    _check_structure(page, splice)
    return head + "".join(splice.lines)


@dataclass(frozen=True)
class _Page:
    """A Markdown text: its lines, its blocks, and the line ending to use where none is near."""

    lines: list[str]
    blocks: tuple[Block, ...]
    found: list[Heading]
    newline: str

    @classmethod
    def of(cls, body: str, newline: str) -> _Page:
        found = blocks(body)
        return cls(lines_of(body), found, headings_in(found), newline)

    def end_of(self, index: int) -> int:
        """Give the line after a section, its subsections included."""
        level = self.found[index].level
        below = (item.first for item in self.found[index + 1 :] if item.level <= level)
        return next(below, len(self.lines))

    def last_text(self, start: int, end: int) -> int:
        """Give `end` without the blank lines before it; at least `start`."""
        while end > start and is_blank(self.lines[end - 1]):
            end -= 1
        return end

    def newline_at(self, line: int) -> str:
        """Give the line ending that is used above a line."""
        above = self.lines[line - 1] if line else ""
        return above[len(above.rstrip("\r\n")) :] or self.newline


@dataclass(frozen=True)
class _Splice:
    """`block` takes the place of the lines `start` to `end`; `lines` is the whole outcome."""

    start: int
    end: int
    block: list[str]
    lines: list[str]

    @classmethod
    def of(cls, page: _Page, start: int, end: int, block: list[str], *, apart: bool) -> _Splice:
        """Put a block into a page, with a blank line after it, and before it where `apart`."""
        before, after = page.lines[:start], page.lines[end:]
        newline = page.newline_at(start)
        lead = [newline] if before and not before[-1].endswith(("\r", "\n")) else []
        if apart and before and not is_blank(before[-1]):
            lead.append(newline)
        tail = [newline] if after and not is_blank(after[0]) else []
        placed = [*lead, *block, *tail]
        return cls(start, end, placed, [*before, *placed, *after])


def _replace(page: _Page, edit: SkillEdit) -> _Splice:
    index = find_heading(page.found, edit.heading)
    heading = page.found[index]
    text = _without_heading(edit.text, heading)
    end = page.last_text(heading.after, page.end_of(index))
    block = _block(text, page.newline_at(heading.after))
    return _Splice.of(page, heading.after, end, block, apart=True)


def _insert(page: _Page, edit: SkillEdit) -> _Splice:
    end = len(page.lines)
    if edit.heading.strip():
        end = page.end_of(find_heading(page.found, edit.heading))
    start = page.last_text(0, end)
    block = _block(edit.text, page.newline_at(start))
    return _Splice.of(page, start, start, block, apart=True)


def _append(page: _Page, edit: SkillEdit) -> _Splice:
    target = _list_under(page, edit.heading)
    end = page.last_text(0, target.end)
    block = new_items(page.lines, target, edit.text, page.newline_at(end))
    return _Splice.of(page, end, end, block, apart=False)


_EDITS: dict[str, Callable[[_Page, SkillEdit], _Splice]] = {
    "replace_section": _replace,
    "insert_section": _insert,
    "append_item": _append,
}


def _list_under(page: _Page, asked: str) -> MarkdownList:
    """Give the last list of a section itself, or of the whole text where no heading is named."""
    found = lists_in(page.blocks)
    if not asked.strip():
        if not found:
            raise BundleInvalid("the text has no list; use insert_section to begin one")
        return found[-1]
    index = find_heading(page.found, asked)
    start = page.found[index].after
    below = page.found[index + 1].first if index + 1 < len(page.found) else len(page.lines)
    own = [item for item in found if start <= item.items[0] < below]
    if own:
        return own[-1]
    raise BundleInvalid(
        f"there is no list under {asked!r} to append to{_lists_below(page, index, found)};"
        " use insert_section to begin one"
    )


def _lists_below(page: _Page, index: int, found: Sequence[MarkdownList]) -> str:
    """Say which of the section's subsections have a list, the first few."""
    firsts, end = [item.first for item in page.found], page.end_of(index)
    starts = (item.items[0] for item in found)
    having = dict.fromkeys(
        bisect_right(firsts, start) - 1 for start in starts if firsts[index] < start < end
    )
    named = [repr(address(page.found, place)) for place in islice(having, _NAMED)]
    more = f" and {len(having) - _NAMED} more" if len(having) > _NAMED else ""
    return f" (there is one under {', '.join(named)}{more})" if named else ""


def _block(text: str, newline: str) -> list[str]:
    lines = [line.rstrip("\r\n") + newline for line in lines_of(text)]
    while is_blank(lines[0]):
        lines.pop(0)
    while is_blank(lines[-1]):
        lines.pop()
    return lines


def _check_structure(page: _Page, splice: _Splice) -> None:
    """See that what is around reads as before, and that the text's own headings are headings.

    A code fence or a comment that the text leaves open would swallow what comes after it.
    """
    found = blocks("".join(splice.lines))
    shift = len(splice.lines) - len(page.lines)
    old, new = list(outermost(page.blocks)), list(outermost(found))
    above = [item for item in old if item[1] < splice.start]
    below = [(kind, line + shift) for kind, line in old if line >= splice.end]
    kept = new[: len(above)] == above and new[len(new) - len(below) :] == below
    own = [heading.level for heading in headings("".join(splice.block))]
    after = splice.start + len(splice.block)
    inside = [item.level for item in headings_in(found) if splice.start <= item.first < after]
    if not kept or own != inside:
        raise BundleInvalid("the text would swallow what is around it: is a code fence open?")
    if _is_open(splice.lines, found) and not (below and _is_open(page.lines, page.blocks)):
        raise BundleInvalid("the text would end inside a code fence or comment that is left open")


def _is_open(lines: Sequence[str], found: Sequence[Block]) -> bool:
    """Tell whether a heading that followed these lines would be taken for something else."""
    last = next((block for block in reversed(found) if block.level == 0), None)
    if last is None or last.kind not in _OPEN_ENDED:
        return False
    return not headings(f"{''.join(lines[last.first :])}\n\n# end\n")


def _without_heading(text: str, heading: Heading) -> str:
    """Drop the section's own heading where the author repeated it above the text."""
    first = next(iter(headings(text)), None)
    lines = lines_of(text)
    if first is None or not all(map(is_blank, lines[: first.first])):
        return text
    same = (first.text, first.level) == (heading.text, heading.level)
    rest = "".join(lines[first.after :])
    if same and not rest.strip():
        raise BundleInvalid("text is empty below the heading")
    return rest if same else text


def _split(text: str) -> tuple[str, str]:
    head, body = parted(text)
    return (_MARK, text[1:]) if not head and text.startswith(_MARK) else (head, body)

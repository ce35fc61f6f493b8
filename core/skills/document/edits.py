"""Edits of a skill: what an edit does not name keeps its bytes (pure)."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher, get_close_matches
from itertools import islice

from core.domain.errors import BundleInvalid
from core.domain.messages import Message
from core.domain.models import SKILL_MD, Bundle, SkillEdit, SkillEdits, SkillFile
from core.domain.text import has_lone_surrogate, shorten
from core.skills.document.assembly import checked, text_file
from core.skills.document.frontmatter import parted, read_values, set_description, set_field
from core.skills.document.markdown import (
    Block,
    Heading,
    MarkdownList,
    blocks,
    headings,
    headings_in,
    is_blank,
    lines_of,
    lists_in,
    names_of,
    new_items,
    newline_of,
    outermost,
)

_SEPARATOR = " > "
_ORDINAL = re.compile(r"(?P<path>.*\S)\s*\[(?P<number>[1-9]\d{0,5})\]\s*", re.DOTALL)
_SHOWN = 20
_SHOWN_CHARS = 80


def find_heading(found: Sequence[Heading], asked: str) -> int:
    """Return the index of the heading that `asked` names.

    `asked` is the heading's text (plain, with `#` or with markup), or `Parent > Heading` with one
    or more of its ancestors, or either with ` [2]` for the second of several. Raises BundleInvalid,
    which lists the addresses of the candidates, or the nearest ones.
    """
    matches = _matches(found, asked)
    if len(matches) == 1:
        return matches[0]
    name = repr(shorten(asked, _SHOWN_CHARS))
    if matches:
        listed = ", ".join(repr(address(found, index)) for index in matches[:_SHOWN])
        raise BundleInvalid(
            Message("edit.heading_several", name=name, n=len(matches), listed=listed)
        )
    raise BundleInvalid(Message("edit.no_heading", name=name, nearest=_nearest(found, asked)))


def address(found: Sequence[Heading], index: int) -> str:
    """Return the address of this heading alone, by which `find_heading` finds it."""
    above = [found[ancestor] for ancestor in _ancestors(_parents(found), index)]
    path = _SEPARATOR.join(_short(heading) for heading in [*reversed(above), found[index]])
    matches = _matches(found, path)
    if matches == [index] or index not in matches:
        return path
    return f"{path} [{matches.index(index) + 1}]"


def _matches(found: Sequence[Heading], asked: str) -> list[int]:
    """Return the headings that `asked` may mean: read as a text, else as a path."""
    names = names_of(asked)
    by_text = [index for index, heading in enumerate(found) if heading.text in names]
    if by_text:
        return by_text
    by_path = _by_path(found, asked)
    ordinal = None if by_path else _ORDINAL.fullmatch(asked)
    if ordinal is None:
        return by_path
    several, number = _matches(found, ordinal["path"]), int(ordinal["number"])
    return several[number - 1 : number]


def _by_path(found: Sequence[Heading], asked: str) -> list[int]:
    """Return the headings with exactly this path, else those whose path ends in it."""
    parts = [names_of(part) for part in asked.split(_SEPARATOR)]
    if len(parts) < 2:
        return []
    ending, exact, parents = [], [], _parents(found)
    for index, heading in enumerate(found):
        if heading.text not in parts[-1]:
            continue
        above = _ancestors(parents, index)
        wanted = parts[-2::-1]
        if len(above) >= len(wanted) and all(
            found[ancestor].text in names for ancestor, names in zip(above, wanted, strict=False)
        ):
            ending.append(index)
            if len(above) == len(wanted):
                exact.append(index)
    return exact or ending


def _parents(found: Sequence[Heading]) -> list[int]:
    """Return the parent of each heading, -1 if it has none."""
    parents: list[int] = []
    for index, heading in enumerate(found):
        above = index - 1
        while above >= 0 and found[above].level >= heading.level:
            above = parents[above]
        parents.append(above)
    return parents


def _ancestors(parents: Sequence[int], index: int) -> list[int]:
    """Return the ancestors of a heading, the nearest first."""
    above = []
    while (index := parents[index]) >= 0:
        above.append(index)
    return above


def _nearest(found: Sequence[Heading], asked: str) -> str:
    texts = list(dict.fromkeys(_short(heading) for heading in found))
    if not texts:
        return Message("edit.no_headings")
    wanted = shorten(asked.strip("# \t"), _SHOWN_CHARS)
    close = get_close_matches(wanted, texts, n=3)
    meant = Message("edit.meant", close=" or ".join(map(repr, close))) if close else ""
    if len(texts) <= _SHOWN:
        return Message("edit.headings", meant=meant, listed=", ".join(map(repr, texts)))
    texts.sort(key=lambda text: -SequenceMatcher(None, wanted, text).quick_ratio())
    return Message(
        "edit.nearest_headings",
        meant=meant,
        n=len(found),
        listed=", ".join(map(repr, texts[:_SHOWN])),
    )


def _short(heading: Heading) -> str:
    return shorten(heading.text, _SHOWN_CHARS)


_MARK = "\ufeff"
_NAMED = 8
_OPEN_ENDED = frozenset(("fence", "html_block"))


def edit_text(text: str, edit: SkillEdit) -> str:
    """Carry out an edit that names a heading of the text. Raises BundleInvalid.

    New lines end as their neighbours do. A byte order mark and the frontmatter stay untouched.
    """
    if not edit.text.strip():
        raise BundleInvalid(Message("edit.empty"))
    head, body = _split(text)
    page = _Page.of(body, newline_of(text))
    splice = _EDITS[edit.op](page, edit)
    _check_structure(page, splice)
    return head + "".join(splice.lines)


@dataclass(frozen=True)
class _Page:
    """A Markdown text: its lines, its blocks, and the default line ending."""

    lines: list[str]
    blocks: tuple[Block, ...]
    found: list[Heading]
    newline: str

    @classmethod
    def of(cls, body: str, newline: str) -> _Page:
        found = blocks(body)
        return cls(lines_of(body), found, headings_in(found), newline)

    def end_of(self, index: int) -> int:
        """Return the line after a section, its subsections included."""
        level = self.found[index].level
        below = (item.first for item in self.found[index + 1 :] if item.level <= level)
        return next(below, len(self.lines))

    def last_text(self, start: int, end: int) -> int:
        """Return `end` less the blank lines before it; at least `start`."""
        while end > start and is_blank(self.lines[end - 1]):
            end -= 1
        return end

    def newline_at(self, line: int) -> str:
        """Return the line ending in use above a line."""
        above = self.lines[line - 1] if line else ""
        return above[len(above.rstrip("\r\n")) :] or self.newline


@dataclass(frozen=True)
class _Splice:
    """`block` replaces the lines `start` to `end`; `lines` is the whole result."""

    start: int
    end: int
    block: list[str]
    lines: list[str]

    @classmethod
    def of(cls, page: _Page, start: int, end: int, block: list[str], *, apart: bool) -> _Splice:
        """Place a block in a page, with a blank line after it, and before it if `apart`."""
        before, after = page.lines[:start], page.lines[end:]
        newline = page.newline_at(start)
        lead = [newline] if before and not before[-1].endswith(("\r", "\n")) else []
        if apart and before:  # which never ends with a blank line
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
    """Return the last list of a section itself, or of the whole text if no heading is named."""
    found = lists_in(page.blocks)
    if not asked.strip():
        if not found:
            raise BundleInvalid(Message("edit.no_list"))
        return found[-1]
    index = find_heading(page.found, asked)
    start = page.found[index].after
    below = page.found[index + 1].first if index + 1 < len(page.found) else len(page.lines)
    own = [item for item in found if start <= item.items[0] < below]
    if own:
        return own[-1]
    raise BundleInvalid(
        Message("edit.no_list_under", asked=asked, below=_lists_below(page, index, found))
    )


def _lists_below(page: _Page, index: int, found: Sequence[MarkdownList]) -> str:
    """Return which of the section's subsections have a list, the first few, in words."""
    firsts, end = [item.first for item in page.found], page.end_of(index)
    starts = (item.items[0] for item in found)
    having = dict.fromkeys(
        bisect_right(firsts, start) - 1 for start in starts if firsts[index] < start < end
    )
    named = [repr(address(page.found, below)) for below in islice(having, _NAMED)]
    more = Message("edit.and_more", n=len(having) - _NAMED) if len(having) > _NAMED else ""
    return Message("edit.lists_below", named=", ".join(named), more=more) if named else ""


def _block(text: str, newline: str) -> list[str]:
    lines = [line.rstrip("\r\n") + newline for line in lines_of(text)]
    while is_blank(lines[0]):
        lines.pop(0)
    while is_blank(lines[-1]):
        lines.pop()
    return lines


def _check_structure(page: _Page, splice: _Splice) -> None:
    """Check that the surroundings read as before, and that the text's own headings are headings.

    A code fence or a comment that the text leaves open would swallow what follows it.
    """
    found = blocks("".join(splice.lines))
    shift = len(splice.lines) - len(page.lines)
    old, new = list(outermost(page.blocks)), list(outermost(found))
    above = [item for item in old if item[1] < splice.start]
    below = [(kind, line + shift) for kind, line in old if line >= splice.end]
    preserved = new[: len(above)] == above and new[len(new) - len(below) :] == below
    own = [heading.level for heading in headings("".join(splice.block))]
    after = splice.start + len(splice.block)
    inside = [item.level for item in headings_in(found) if splice.start <= item.first < after]
    if not preserved or own != inside:
        raise BundleInvalid(Message("edit.swallows"))
    if _is_open(splice.lines, found) and not (below and _is_open(page.lines, page.blocks)):
        raise BundleInvalid(Message("edit.left_open"))


def _is_open(lines: Sequence[str], found: Sequence[Block]) -> bool:
    """Whether a heading that followed these lines would be read as something else."""
    last = next((block for block in reversed(found) if block.level == 0), None)
    if last is None or last.kind not in _OPEN_ENDED:
        return False
    return not headings(f"{''.join(lines[last.first :])}\n\n# end\n")


def _without_heading(text: str, heading: Heading) -> str:
    """Drop the section's own heading if the author repeated it above the text."""
    first = next(iter(headings(text)), None)
    lines = lines_of(text)
    if first is None or not all(map(is_blank, lines[: first.first])):
        return text
    same = (first.text, first.level) == (heading.text, heading.level)
    rest = "".join(lines[first.after :])
    if same and not rest.strip():
        raise BundleInvalid(Message("edit.empty_below"))
    return rest if same else text


def _split(text: str) -> tuple[str, str]:
    head, body = parted(text)
    return (_MARK, text[1:]) if not head and text.startswith(_MARK) else (head, body)


def apply_edits(bundle: Bundle, edits: SkillEdits) -> Bundle:
    """Apply the edits in order, each to the result of the one before.

    Raises ArtifactInvalid with the problems of all edits and of the resulting skill.
    """
    draft = _Draft(dict(bundle.files))
    for number, edit in enumerate(edits.edits, 1):
        try:
            draft.apply(edit)
        except BundleInvalid as error:
            draft.problems.append(Message("edit.at", number=number, op=edit.op, why=error.message))
    return checked(Bundle(name=bundle.name, files=draft.files), bundle, draft.problems)


def apart_from_fields(
    base: Bundle, edited: Bundle, edits: SkillEdits, *, kept: bool
) -> tuple[Bundle, Bundle]:
    """Return both without the fields of the frontmatter that the edits name.

    What is edited by name is no loss by accident. If they must be `kept`, only those that are
    still there count.
    """
    named = {edit.field.partition(".")[0] for edit in edits.edits if edit.field}
    if not named:
        return base, edited
    there = set(read_values(edited.document)) if kept else named
    fields = sorted(named & there)
    return _without(base, fields), _without(edited, fields)


def _without(bundle: Bundle, fields: Sequence[str]) -> Bundle:
    document = bundle.document
    for field_name in fields:
        if field_name in read_values(document):
            document = set_field(document, field_name, None)
    file = text_file(SKILL_MD, document, bundle.files)
    return Bundle(name=bundle.name, files={**bundle.files, SKILL_MD: file})


@dataclass
class _Draft:
    files: dict[str, SkillFile]
    problems: list[str] = field(default_factory=list)

    def apply(self, edit: SkillEdit) -> None:
        path = unicodedata.normalize("NFC", edit.path) or SKILL_MD
        if has_lone_surrogate(path + edit.heading + edit.text + edit.field):
            raise BundleInvalid(Message("edit.surrogate"))
        if edit.op == "delete_file":
            self._delete(path)
        elif edit.op == "put_file":
            self.files[path] = text_file(path, edit.text, self.files)
        elif edit.op == "set_description":
            self._rewrite(SKILL_MD, lambda text: set_description(text, edit.text.strip()))
        elif edit.op == "remove_field":
            self._rewrite(SKILL_MD, lambda text: set_field(text, edit.field, None))
        elif edit.op == "set_field":
            if not edit.text.strip():
                raise BundleInvalid(Message("edit.field_empty"))
            self._rewrite(SKILL_MD, lambda text: set_field(text, edit.field, edit.text))
        else:
            self._rewrite(path, lambda text: edit_text(text, edit))

    def _delete(self, path: str) -> None:
        if path.casefold() == SKILL_MD.casefold():
            raise BundleInvalid(Message("skill.document_stays", file=SKILL_MD))
        if path not in self.files:
            raise BundleInvalid(Message("edit.no_file", path=path, files=_there_are(self.files)))
        del self.files[path]

    def _rewrite(self, path: str, change: Callable[[str], str]) -> None:
        if path not in self.files:
            raise BundleInvalid(Message("edit.no_file", path=path, files=_there_are(self.files)))
        try:
            text = self.files[path].data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BundleInvalid(Message("file.not_text", path=path)) from error
        self.files[path] = text_file(path, change(text), self.files)


def _there_are(files: Mapping[str, SkillFile]) -> str:
    listed = ", ".join(sorted(files, key=_document_first))
    return Message("edit.files", listed=listed)


def _document_first(path: str) -> tuple[bool, str]:
    return path != SKILL_MD, path

"""Edits of a skill: what an edit does not name keeps its bytes (pure)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.errors import BundleInvalid
from core.models import SKILL_MD, Bundle, SkillEdit, SkillEdits, SkillFile
from core.safe_text import has_lone_surrogate
from core.skill_document.assembly import checked, text_file
from core.skill_document.frontmatter import set_description, split_document
from core.skill_document.markdown import Heading, headings, lines_of, newline_of, same_heading


def apply_edits(bundle: Bundle, edits: SkillEdits) -> Bundle:
    """Apply the edits in order, each on what the one before left.

    Raises ArtifactInvalid with the problems of all edits and of the skill they would make.
    """
    draft = _Draft(dict(bundle.files))
    for number, edit in enumerate(edits.edits, 1):
        try:
            draft.apply(edit)
        except BundleInvalid as error:
            draft.problems.append(f"edit {number} ({edit.op}): {error.message}")
    return checked(Bundle(name=bundle.name, files=draft.files), bundle, draft.problems)


def diff_bundles(before: Bundle, after: Bundle) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the paths to write, SKILL.md first, and those to delete, from one to the other."""
    changed = [path for path, file in after.files.items() if before.files.get(path) != file]
    deleted = [path for path in before.files if path not in after.files]
    return tuple(sorted(changed, key=_document_first)), tuple(sorted(deleted))


@dataclass
class _Draft:
    files: dict[str, SkillFile]
    problems: list[str] = field(default_factory=list)

    def apply(self, edit: SkillEdit) -> None:
        path = unicodedata.normalize("NFC", edit.path) or SKILL_MD
        if has_lone_surrogate(path + edit.heading + edit.text):
            raise BundleInvalid("has half a character (a lone surrogate)")
        if edit.op == "delete_file":
            self._delete(path)
        elif edit.op == "put_file":
            self.files[path] = text_file(path, edit.text, self.files)
        elif edit.op == "set_description":
            self._rewrite(SKILL_MD, lambda text: set_description(text, edit.text.strip()))
        else:
            change = _replace if edit.op == "replace_section" else _insert
            self._rewrite(path, lambda text: _edit_body(text, edit, change))

    def _delete(self, path: str) -> None:
        if path.casefold() == SKILL_MD.casefold():
            raise BundleInvalid(f"{SKILL_MD} cannot be deleted; delete the skill instead")
        if path not in self.files:
            raise BundleInvalid(f"there is no file {path!r}; {_there_are(self.files)}")
        del self.files[path]

    def _rewrite(self, path: str, change: Callable[[str], str]) -> None:
        if path not in self.files:
            raise BundleInvalid(f"there is no file {path!r}; {_there_are(self.files)}")
        try:
            text = self.files[path].data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise BundleInvalid(f"{path!r} is not UTF-8 text") from error
        self.files[path] = text_file(path, change(text), self.files)


_Change = Callable[[list[str], list[Heading], SkillEdit, str], list[str]]


def _edit_body(text: str, edit: SkillEdit, change: _Change) -> str:
    if not edit.text.strip():
        raise BundleInvalid("text is empty")
    head, body = _split(text)
    newline = newline_of(text)
    lines, found = lines_of(body), headings(body)
    return head + "".join(change(lines, found, edit, newline))


def _replace(lines: list[str], found: list[Heading], edit: SkillEdit, newline: str) -> list[str]:
    index = _find(found, edit.heading)
    heading, end = found[index], _end(found, index, len(lines))
    text = _without_heading(edit.text, heading)
    before, after = lines[: heading.after], lines[end:]
    edited = _joined(before, _block(text, newline), after, newline)
    below = [item for item in found if item.first >= end]
    _check_structure(lines, edited, [*found[: index + 1], *headings(text), *below])
    return edited


def _insert(lines: list[str], found: list[Heading], edit: SkillEdit, newline: str) -> list[str]:
    index = _find(found, edit.heading) if edit.heading.strip() else None
    end = len(lines) if index is None else _end(found, index, len(lines))
    start = end
    while start > 0 and not lines[start - 1].strip():
        start -= 1
    edited = _joined(lines[:start], _block(edit.text, newline), lines[start:], newline)
    above = [item for item in found if item.first < end]
    _check_structure(lines, edited, [*above, *headings(edit.text), *found[len(above) :]])
    return edited


def _joined(before: list[str], block: list[str], after: list[str], newline: str) -> list[str]:
    """Put a block between, with a blank line on both sides; the lines around keep their bytes."""
    lead = [newline] if before and not before[-1].endswith(("\r", "\n")) else []
    if before and before[-1].strip():
        lead.append(newline)
    tail = [newline] if after and after[0].strip() else []
    return [*before, *lead, *block, *tail, *after]


def _block(text: str, newline: str) -> list[str]:
    lines = [line.rstrip("\r\n") + newline for line in lines_of(text)]
    while not lines[0].strip():
        lines.pop(0)
    while not lines[-1].strip():
        lines.pop()
    return lines


def _check_structure(before: list[str], after: list[str], expected: list[Heading]) -> None:
    """See that no heading is swallowed, as by a fence or a comment that the text leaves open."""
    swallowed = _levels(after) != [heading.level for heading in expected]
    if swallowed or (_is_open(after) and not _is_open(before)):
        raise BundleInvalid("the text would swallow what is around it: is a code fence open?")


def _levels(lines: list[str]) -> list[int]:
    return [heading.level for heading in headings("".join(lines))]


def _is_open(lines: list[str]) -> bool:
    """Tell whether a heading that followed these lines would be taken for something else."""
    return len(_levels([*lines, "\n\n# end\n"])) == len(_levels(lines))


def _find(found: list[Heading], asked: str) -> int:
    matches = [index for index, heading in enumerate(found) if same_heading(heading, asked)]
    if len(matches) == 1:
        return matches[0]
    which = f"heading {asked!r} stands {len(matches)} times" if matches else f"no heading {asked!r}"
    there = ", ".join(repr(heading.text) for heading in found) or "none"
    raise BundleInvalid(f"{which}; the headings are: {there}")


def _end(found: list[Heading], index: int, end: int) -> int:
    level = found[index].level
    return next((item.first for item in found[index + 1 :] if item.level <= level), end)


def _without_heading(text: str, heading: Heading) -> str:
    """Drop the section's own heading where the author repeated it above the text."""
    first = next(iter(headings(text)), None)
    lines = lines_of(text)
    if first is None or "".join(lines[: first.first]).strip():
        return text
    same = (first.text, first.level) == (heading.text, heading.level)
    rest = "".join(lines[first.after :])
    if same and not rest.strip():
        raise BundleInvalid("text is empty below the heading")
    return rest if same else text


def _split(text: str) -> tuple[str, str]:
    try:
        return split_document(text)
    except BundleInvalid:
        return "", text


def _there_are(files: Mapping[str, SkillFile]) -> str:
    return "the files are: " + ", ".join(sorted(files, key=_document_first))


def _document_first(path: str) -> tuple[bool, str]:
    return path != SKILL_MD, path

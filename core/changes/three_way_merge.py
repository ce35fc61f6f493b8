"""An edit of a target, text and files, done to another state of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.domain.models import Kind, SkillFile


@dataclass(frozen=True)
class State:
    """A target as text, with the other files of a skill; `runs` is of its SKILL.md."""

    text: str
    name: str
    files: Mapping[str, SkillFile] | None = None
    runs: bool = False


_ROW = re.compile(
    r"[ \t]*<rule[\s>].*?</rule>[ \t]*\n?"
    r"|[ \t]*<([\w.-]+):rule[\s>].*?</\1:rule>[ \t]*\n?",
    re.DOTALL,
)


def units(kind: Kind, text: str) -> list[str]:
    """Cut a text into what is edited as one: lines, and the rows of a decision table."""
    if text and not text.endswith("\n"):
        text += "\n"  # the last line is the same line with another one behind it
    if kind is not Kind.DMN_RULE:
        return text.splitlines(keepends=True)
    cut: list[str] = []
    at = 0
    for row in _ROW.finditer(text):
        cut += [*text[at : row.start()].splitlines(keepends=True), row[0]]
        at = row.end()
    return cut + text[at:].splitlines(keepends=True)


def without_rows(text: str) -> str:
    """Give a DMN document without the rows of its tables."""
    return _ROW.sub("", text)


class Clash(Exception):
    """An edit is about what the other sequence does not have."""


@dataclass(frozen=True)
class _Span:
    """`old[start:end]` is, in the other sequence, `[to_start:to_end]`, and is not the same."""

    start: int
    end: int
    to_start: int
    to_end: int


def rebase(base: Sequence[str], edited: Sequence[str], onto: Sequence[str]) -> list[str]:
    """Do to `onto` what was done to `base` where it became `edited`, unit by unit.

    What was added goes where it stood, what was taken away goes where it is still there. Raises
    Clash where the edit rewrites, or stands in the midst of, units that `onto` has not.
    """
    elsewhere = _spans(base, onto)
    made = [*onto]
    for edit in reversed(_spans(base, edited)):
        new = edited[edit.to_start : edit.to_end]
        start, end = _place(edit, elsewhere)
        if [*onto[start:end]] == [*new] and edit.start < edit.end:
            continue
        _see_fits(edit, new, elsewhere)
        made[start:end] = new
    return made


def _spans(old: Sequence[str], new: Sequence[str]) -> list[_Span]:
    if old == new:
        return []
    found = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [_Span(*places) for tag, *places in found if tag != "equal"]


def _place(edit: _Span, elsewhere: Sequence[_Span]) -> tuple[int, int]:
    """Give where the units of an edit stand in the other sequence; of units gone, the gap.

    What both add at one place comes in turn: first what was there.
    """
    start = _moved(edit.start, elsewhere, behind_added=True)
    end = _moved(edit.end, elsewhere, behind_added=edit.start == edit.end)
    return start, max(start, end)


def _moved(at: int, elsewhere: Sequence[_Span], *, behind_added: bool) -> int:
    """Give a place of `base` in the other sequence."""
    shift = 0
    for span in elsewhere:
        is_added = span.start == span.end
        if at < span.start or (at == span.start and not (is_added and behind_added)):
            break
        if at < span.end:
            return span.to_start
        shift = span.to_end - span.end
    return at + shift


def _see_fits(edit: _Span, new: Sequence[str], elsewhere: Sequence[_Span]) -> None:
    for span in _met(edit, elsewhere):
        is_gone = span.to_start == span.to_end
        if edit.start == edit.end or new or not is_gone:
            raise Clash


def _met(edit: _Span, elsewhere: Sequence[_Span]) -> Iterator[_Span]:
    """Give the differences that an edit reaches into; one at its edge it does not."""
    for span in elsewhere:
        if edit.start == edit.end or span.start == span.end:
            inner, outer = (edit, span) if edit.start == edit.end else (span, edit)
            if outer.start < inner.start < outer.end:
                yield span
        elif span.start < edit.end and edit.start < span.end:
            yield span


def rebased(kind: Kind, before: State, after: State, onto: State) -> State:
    """Do to `onto` what was done to `before` where it became `after`.

    Raises Clash where the edit rewrites what `onto` has not.
    """
    name = after.name if after.name != before.name else onto.name
    if kind is Kind.AGENT_SKILLS:
        return State(_names(before.text, after.text, onto.text), name)
    text = _text(kind, before.text, after.text, onto.text)
    if after.files is None:
        return State(text, name)
    files = _files(before.files or {}, after.files, onto.files or {})
    return State(text, name, files, after.runs)


def _text(kind: Kind, before: str, after: str, onto: str) -> str:
    made = "".join(rebase(units(kind, before), units(kind, after), units(kind, onto)))
    return made if after.endswith("\n") or not after else made.removesuffix("\n")


def _files(
    before: Mapping[str, SkillFile], after: Mapping[str, SkillFile], onto: Mapping[str, SkillFile]
) -> Mapping[str, SkillFile]:
    made = dict(onto)
    for path in before.keys() | after.keys():
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if onto.get(path) == old or onto.get(path) == new:
            done = new
        else:
            done = _file(old, new, onto.get(path))
        if done is None:
            made.pop(path, None)
        else:
            made[path] = done
    return made


def _file(old: SkillFile | None, new: SkillFile | None, onto: SkillFile | None) -> SkillFile | None:
    """Do an edit of a file to another version of it. Raises Clash, as of what is no text."""
    if old is None or new is None:
        return new if old is None else None
    if onto is None:
        raise Clash
    try:
        before, after, there = (file.data.decode("utf-8") for file in (old, new, onto))
        made = _text(Kind.SKILL, before, after, there).encode("utf-8")
    except UnicodeDecodeError:
        raise Clash from None
    runs = new.executable if new.executable != old.executable else onto.executable
    return SkillFile(data=made, executable=runs)


def _names(before: str, after: str, onto: str) -> str:
    """Put on and take off a list of names what a change did; their order means nothing."""
    old, new, there = (set(text.splitlines()) for text in (before, after, onto))
    return "\n".join(sorted((there | (new - old)) - (old - new)))

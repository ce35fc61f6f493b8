"""Three-way merge: apply an edit of a target, text and files, to another state of it (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from core.domain.models import UNBOUNDED, Kind, Reach, SkillFile


@dataclass(frozen=True)
class State:
    """A target as text, with a skill's other files; `runs`: its SKILL.md is executable.

    `reach` is that of a memory.
    """

    text: str
    name: str
    files: Mapping[str, SkillFile] | None = None
    runs: bool = False
    reach: Reach = UNBOUNDED


_ROW = re.compile(
    r"[ \t]*<rule[\s>].*?</rule>[ \t]*\n?"
    r"|[ \t]*<([\w.-]+):rule[\s>].*?</\1:rule>[ \t]*\n?",
    re.DOTALL,
)


def units(kind: Kind, text: str) -> list[str]:
    """Split a text into its units of merging: lines, and whole rows of a decision table.

    A row spans several lines of XML; merging its lines could combine two rows into one that
    nobody wrote. An item of a package's kind is one unit: only its package knows what fits.
    """
    if not kind.is_built_in:
        return [text] if text else []
    if text and not text.endswith("\n"):
        text += "\n"  # so that the last line equals itself once another follows it
    if kind is not Kind.DMN_RULE:
        return text.splitlines(keepends=True)
    cut: list[str] = []
    at = 0
    for row in _ROW.finditer(text):
        cut += [*text[at : row.start()].splitlines(keepends=True), row[0]]
        at = row.end()
    return cut + text[at:].splitlines(keepends=True)


def without_rows(text: str) -> str:
    """Return a DMN document without the rows of its tables."""
    return _ROW.sub("", text)


class Clash(Exception):
    """An edit touches units that the other sequence has changed too."""


@dataclass(frozen=True)
class Span:
    """`old[start:end]` became `new[to_start:to_end]`, which differs."""

    start: int
    end: int
    to_start: int
    to_end: int


def rebase(base: Sequence[str], edited: Sequence[str], onto: Sequence[str]) -> list[str]:
    """Apply to `onto` the edit that turned `base` into `edited`, unit by unit.

    Additions keep their position; a deletion of units already gone succeeds, and so does an edit
    already made. Raises Clash if the edit rewrites, or inserts amidst, units `onto` has changed.
    """
    elsewhere = spans(base, onto)
    made = [*onto]
    for edit in reversed(spans(base, edited)):  # from the end: earlier positions stay valid
        new = edited[edit.to_start : edit.to_end]
        start, end = _range_in(edit, elsewhere)
        if [*onto[start:end]] == [*new] and edit.start < edit.end:
            continue
        _require_fit(edit, new, elsewhere)
        made[start:end] = new
    return made


def spans(old: Sequence[str], new: Sequence[str]) -> list[Span]:
    """Return where two sequences differ, in order."""
    at = _shared(old, new)
    tail = _shared(old[at:][::-1], new[at:][::-1])
    # Without the shared ends: the matcher takes 10 s for 10,000 equal lines and one that is new.
    old, new = old[at : len(old) - tail], new[at : len(new) - tail]
    # autojunk would treat units frequent in long texts (blank lines, rules) as noise and misalign.
    found = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return [Span(*(at + bound for bound in bounds)) for tag, *bounds in found if tag != "equal"]


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many units two sequences begin with alike."""
    pairs = enumerate(zip(old, new, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(old), len(new)))


def _range_in(edit: Span, elsewhere: Sequence[Span]) -> tuple[int, int]:
    """Return the range of an edit in the other sequence; for deleted units, the gap.

    If both insert at one position, the insertion already in `onto` comes first.
    """
    start = _moved(edit.start, elsewhere, behind_added=True)
    end = _moved(edit.end, elsewhere, behind_added=edit.start == edit.end)
    return start, max(start, end)


def _moved(at: int, elsewhere: Sequence[Span], *, behind_added: bool) -> int:
    """Return the index in the other sequence of an index in `base`."""
    shift = 0
    for span in elsewhere:
        is_added = span.start == span.end
        if at < span.start or (at == span.start and not (is_added and behind_added)):
            break
        if at < span.end:
            return span.to_start
        shift = span.to_end - span.end
    return at + shift


def _require_fit(edit: Span, new: Sequence[str], elsewhere: Sequence[Span]) -> None:
    for span in _met(edit, elsewhere):
        is_gone = span.to_start == span.to_end
        if edit.start == edit.end or new or not is_gone:
            raise Clash


def _met(edit: Span, elsewhere: Sequence[Span]) -> Iterator[Span]:
    """Yield the differences an edit overlaps; one that merely adjoins it is no conflict."""
    for span in elsewhere:
        if edit.start == edit.end or span.start == span.end:
            inner, outer = (edit, span) if edit.start == edit.end else (span, edit)
            if outer.start < inner.start < outer.end:
                yield span
        elif span.start < edit.end and edit.start < span.end:
            yield span


def rebased(kind: Kind, before: State, after: State, onto: State) -> State:
    """Apply to `onto` the edit that turned `before` into `after`.

    Raises Clash if the edit rewrites what `onto` has changed.
    """
    name = after.name if after.name != before.name else onto.name
    if kind is Kind.AGENT_SKILLS:
        return State(_names(before.text, after.text, onto.text), name)
    text = _text(kind, before.text, after.text, onto.text)
    if after.files is None:
        reach = after.reach if after.reach != before.reach else onto.reach
        return State(text, name, reach=reach)
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
    """Merge an edit of a file into another version of it. Raises Clash, also for binary files."""
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
    """Merge a list of names as a set: added and removed names, in any order."""
    old, new, there = (set(text.splitlines()) for text in (before, after, onto))
    return "\n".join(sorted((there | (new - old)) - (old - new)))

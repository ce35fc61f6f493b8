"""An edit of one sequence done to another, if it still fits there (pure)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


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

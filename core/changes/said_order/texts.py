"""What of an edit of a text stands, where others said later have changed the text before it (pure).

A text is its lines, in sections. A line belongs to the step that brought it in. What an edit adds
is kept; what it rewrites or deletes is kept unless a step said later did so in the same section, or
brought these lines in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from core.changes.three_way_merge import Span, spans

Origin = Literal["", "added", "rewritten"]
Sections = Callable[[Sequence[str]], Sequence[str]]
"""Return the key of the section of each line."""


@dataclass
class Later:
    """What steps said later did to the present lines: which they brought in, which sections set.

    `theirs` says of each line whether they added it, wrote it in the place of others, or neither.
    `replaced` are sections of which they left no line: nothing said earlier can be added there.
    """

    theirs: list[Origin] = field(default_factory=list)
    rewritten: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)

    def follow(
        self, before: Sequence[str], after: Sequence[str], sections: Sections, *, is_later: bool
    ) -> None:
        """Go on by the step from one state to the next; the first begins with no lines."""
        changed = spans(before, after)
        flags: list[Origin] = []
        at = 0
        for span in changed:
            is_new = span.start == span.end
            origin: Origin = "" if not is_later else "added" if is_new else "rewritten"
            flags += self.theirs[at : span.start]
            flags += [origin] * (span.to_end - span.to_start)
            at = span.end
        self.theirs = flags + self.theirs[at:]
        if is_later and not before:
            self.rewritten.update(sections(after))
        elif is_later:
            self._note(before, changed, sections)

    def _note(self, before: Sequence[str], changed: Sequence[Span], sections: Sections) -> None:
        keys = sections(before)
        gone = {at for span in changed for at in range(span.start, span.end)}
        said = [at for at, line in enumerate(before) if line.strip()]
        for key in {keys[at] for at in gone}:
            self.rewritten.add(key)
            if all(at in gone for at in said if keys[at] == key):
                self.replaced.add(key)


def plain(lines: Sequence[str]) -> Sequence[str]:
    """Return the sections of a text that has none."""
    return [""] * len(lines)


def settled(
    before: Sequence[str], after: Sequence[str], later: Later, sections: Sections
) -> tuple[list[str], list[str]]:
    """Return what becomes of `before` by as much of the edit as stands, and sections left as is."""
    keys = sections(before)
    made = [*before]
    left: list[str] = []
    edits = spans(before, after)
    for number in reversed(range(len(edits))):
        start, end = edits[number].start, edits[number].end
        new = [*after[edits[number].to_start : edits[number].to_end]]
        mine = {keys[at] for at in range(start, end)} or {_key_at(keys, start)}
        barred = later.replaced if start == end else later.rewritten
        if mine & barred:
            left += sorted(mine & barred)
            continue
        theirs = [before[at] for at in range(start, end) if later.theirs[at]]
        if start == end:
            start = end = _before_theirs(start, later, edits[number - 1].end if number else 0)
        if not new and len(theirs) == end - start:
            left += sorted(mine)
        made[start:end] = [*new, *theirs]
    return made, list(dict.fromkeys(reversed(left)))


def _before_theirs(at: int, later: Later, lowest: int) -> int:
    """Return the place of an addition: what was said earlier stands before what was added later."""
    while at > lowest and later.theirs[at - 1] == "added":
        at -= 1
    return at


def _key_at(keys: Sequence[str], at: int) -> str:
    """Return the section that an insertion goes into: that of the line before it."""
    return keys[at - 1] if 0 < at <= len(keys) else keys[0] if keys else ""

"""What of an edit of a skill stands, file by file and section by section (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.changes.said_order.texts import Later, Sections, plain, settled
from core.changes.steps import Step, files_of
from core.changes.three_way_merge import State
from core.domain.models import SKILL_MD, SkillFile
from core.skills.document.markdown import has_too_many_lines, headings, lines_of

Files = Mapping[str, SkillFile]


@dataclass
class LaterFiles:
    """What steps said later did, by path: texts by their lines; `set_whole` all other files."""

    texts: dict[str, Later] = field(default_factory=dict)
    set_whole: set[str] = field(default_factory=set)

    def follow(self, step: Step, *, is_later: bool) -> None:
        """Go on by one step."""
        before, after = _files(step.before), _files(step.after)
        for path in before.keys() | after.keys():
            old, new = _lines(before.get(path)), _lines(after.get(path))
            is_gone = path not in after or old is None or new is None
            if is_later and is_gone and before.get(path) != after.get(path):
                self.set_whole.add(path)
            if old is None or new is None:
                self.texts.pop(path, None)  # what follows is a text of its own
            else:
                known = self.texts.setdefault(path, Later(theirs=[""] * len(old)))
                known.follow(old, new, sections_of(path), is_later=is_later)
                if is_later and not old:  # what is added goes where it belongs, not to the top
                    known.theirs = ["rewritten"] * len(new)


def sections_of(path: str) -> Sections:
    """Return how a file is divided: a Markdown text into what stands under its headings."""
    return _sections if path.endswith(".md") else plain


def _sections(lines: Sequence[str]) -> Sequence[str]:
    """Return the path of headings above each line; what precedes the first is frontmatter."""
    text = "".join(lines)
    if has_too_many_lines(text):
        return plain(lines)
    found = {heading.first: heading for heading in headings(text)}
    keys: list[str] = []
    above: list[tuple[int, str]] = []
    for at in range(len(lines)):
        if at in found:
            heading = found[at]
            above = [
                *(one for one in above if one[0] < heading.level),
                (heading.level, heading.text),
            ]
        keys.append(" > ".join(name for _, name in above))
    return keys


def _files(state: State | None) -> Files:
    return {} if state is None else files_of(state)


def _lines(file: SkillFile | None) -> list[str] | None:
    """Return the lines of a text file, [] of one that is not there.

    None of what stands or falls as a whole: a binary file, or one too long to be compared by lines.
    """
    if file is None:
        return []
    try:
        text = file.data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if has_too_many_lines(text) else lines_of(text)


def settled_folder(before: State, after: State, later: LaterFiles) -> tuple[State, list[str]]:
    """Return the skill after as much of the edit as stands, and the places that it left as is."""
    old, new = files_of(before), files_of(after)
    made, left = dict(old), list[str]()
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) == new.get(path):
            continue
        file, places = _settled_file(path, old.get(path), new.get(path), later)
        left += places
        if file is None:
            made.pop(path, None)
        else:
            made[path] = file
    document = made.pop(SKILL_MD)
    text = document.data.decode("utf-8")
    return State(text, after.name, made, document.executable), left


def _settled_file(
    path: str, old: SkillFile | None, new: SkillFile | None, later: LaterFiles
) -> tuple[SkillFile | None, list[str]]:
    if path in later.set_whole:
        return old, [path]
    known = later.texts.get(path)
    before, after = _lines(old), _lines(new)
    if known is None or old is None or before is None:
        return new, []
    if new is None or after is None:
        touched = known.rewritten or known.replaced or any(known.theirs)
        return (old, [path]) if touched else (new, [])
    lines, sections = settled(before, after, known, sections_of(path))
    places = [f"{path} > {section}" if section else path for section in sections]
    return SkillFile(data="".join(lines).encode("utf-8"), executable=new.executable), places

"""What an update would drop of a skill: an addition loses nothing, a refinement little (pure)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from core.errors import BundleInvalid
from core.models import SKILL_MD, Bundle, MergeMode, SkillFile
from core.prompt_data import shorten
from core.skill_document.assembly import is_placeholder
from core.skill_document.extension import grows, missing_lines, turned_lines
from core.skill_document.frontmatter import parted, read_frontmatter, read_values
from core.skill_document.likeness import held, passages
from core.skill_document.markdown import blocks, headings_in

_CODE = frozenset(("fence", "code_block"))
_NAMED = 8
_NAME_CHARS = 60
_REPLACE = "only merge_mode REPLACE may drop what the skill says"


def losses(before: Bundle, after: Bundle, mode: MergeMode, percent: float) -> list[str]:
    """Say what `after` drops of `before` that an update in this mode may not drop; [] is well.

    EXTEND keeps every line of every file, in order and as what it is read; the description may
    grow. REFINE keeps all headings and frontmatter keys, of each code block and of the description
    at least half, and drops at most `percent` of the text of SKILL.md and of all text together.
    What stands elsewhere in the skill now is not dropped, nor is what a changed sentence shares
    with one like it; other new text makes up for nothing. Raises BundleInvalid for a changed text
    of too many lines.
    """
    same = {path for path, file in before.files.items() if after.files.get(path) == file}
    old, new = _Folder.of(before, same), _Folder.of(after, same)
    found = [] if mode is not MergeMode.EXTEND else list(_not_extended(before, after, old, new))
    found += [*_lost_structure(old, new), *_lost_text(old, new, percent), *_lost_keys(old, new)]
    found += _gutted(_description(before), _description(after))
    lost_binary = [path for path, file in old.binary.items() if after.files.get(path) != file]
    if lost_binary:
        found.append(f"binary files would be lost: {_named(lost_binary)}")
    return list(dict.fromkeys(found))


def refusals(before: Bundle, after: Bundle, mode: MergeMode, percent: float) -> list[str]:
    """Give the losses as problems for the author: what to do instead, and what would permit it."""
    return [
        f"{mode}: {loss}; answer with edits that keep it ({_REPLACE})"
        for loss in losses(before, after, mode, percent)
    ]


@dataclass(frozen=True)
class _Folder:
    """A skill as far as it is compared: text files, binary files, headings, code blocks."""

    texts: Mapping[str, str]
    binary: Mapping[str, SkillFile]
    headings: Counter[str]
    code: Counter[str]

    @property
    def document(self) -> str:
        """The text of SKILL.md."""
        return self.texts.get(SKILL_MD, "")

    @property
    def said(self) -> list[str]:
        """What SKILL.md says but for its description, and then the other texts."""
        own = "\n".join([*_keys(self).values(), parted(self.document)[1]])
        return [own, *(text for path, text in self.texts.items() if path != SKILL_MD)]

    @classmethod
    def of(cls, bundle: Bundle, same: Collection[str]) -> _Folder:
        """Look into a skill; what both have the same needs no look at its structure."""
        texts, binary = _sorted_out(bundle)
        headings: Counter[str] = Counter()
        code: Counter[str] = Counter()
        for path, text in texts.items():
            if _is_markdown(path) and path not in same:
                found = blocks(parted(text)[1])
                headings.update(heading.text for heading in headings_in(found))
                code.update(block.content for block in found if block.kind in _CODE)
        return cls(texts, binary, headings, code)


def _sorted_out(bundle: Bundle) -> tuple[dict[str, str], dict[str, SkillFile]]:
    texts: dict[str, str] = {}
    binary: dict[str, SkillFile] = {}
    for path, file in bundle.files.items():
        try:
            texts[path] = file.data.decode("utf-8")
        except UnicodeDecodeError:
            binary[path] = file
    return texts, binary


def _lost_structure(old: _Folder, new: _Folder) -> Iterator[str]:
    gone = (old.headings - new.headings).elements()
    if names := list(gone):
        yield f"headings would be gone: {_named(names)}"
    blocks_gone = [block for block in _lost_code(old, new) if block.strip()]
    if blocks_gone or old.code.total() > new.code.total():
        yield (
            f"code blocks would be gone ({old.code.total()} → {new.code.total()}): "
            f"{_named(blocks_gone or (old.code - new.code).elements())}"
        )


def _lost_code(old: _Folder, new: _Folder) -> Iterator[str]:
    """Give the code blocks of which less than half stands in blocks that are new."""
    gone = [*(old.code - new.code).elements()]
    parts = [passages(block) for block in gone]
    fresh = [part for block in (new.code - old.code).elements() for part in passages(block)]
    kept = iter(held([part for block in parts for part in block], fresh))
    for block, own in zip(gone, parts, strict=True):
        if 2 * sum(islice(kept, len(own))) < _chars(own):
            yield block


def _lost_text(old: _Folder, new: _Folder, percent: float) -> Iterator[str]:
    """Compare SKILL.md, then all text; a skill without text has none to lose."""
    parts = [passages(text) for text in old.said]
    every = [part for text in parts for part in text]
    kept = held(every, [part for text in new.said for part in passages(text)])
    for label, count, was, now in (
        (SKILL_MD, len(parts[0]), [old.document], [new.document]),
        ("all its text", len(every), [*old.texts.values()], [*new.texts.values()]),
    ):
        total = _chars(every[:count])
        dropped = total - sum(kept[:count])
        if dropped * 100 > percent * total:
            yield (
                f"{math.ceil(dropped * 100 / total)} % of {label} would be gone, and {percent:g} %"
                f" may be: {_size(was)} → {_size(now)}"
            )


def _gutted(old: str, new: str) -> Iterator[str]:
    """A description may be written anew, but it is what the skill is found by."""
    placeholder = is_placeholder(new, markdown=False) and not is_placeholder(old, markdown=False)
    if placeholder or 2 * len(new.strip()) < len(old.strip()):
        yield f"the description would lose more than half: {_named([old])} → {_named([new])}"


def _lost_keys(old: _Folder, new: _Folder) -> Iterator[str]:
    gone = [key for key in _keys(old) if key not in _keys(new)]
    if gone:
        yield f"frontmatter keys would be gone: {_named(gone)}"


def _not_extended(before: Bundle, after: Bundle, old: _Folder, new: _Folder) -> Iterator[str]:
    deleted = [path for path in before.files if path not in after.files]
    if deleted:
        yield f"files would be deleted: {_named(deleted)}"
    for path, text in old.texts.items():
        if path in new.texts and new.texts[path] != text:
            yield from _not_kept(path, parted(text)[1], parted(new.texts[path])[1])
    if changed := [key for key, value in _keys(old).items() if _keys(new).get(key) != value]:
        yield f"frontmatter keys would be changed: {_named(changed)}"
    if not grows(_description(before), _description(after)):
        yield "the description would lose words; it may only grow"


def _not_kept(path: str, old: str, new: str) -> Iterator[str]:
    if gone := missing_lines(old, new):
        yield f"lines of {path} would be changed or gone: {_named(gone)}"
    elif _is_markdown(path) and (turned := turned_lines(old, new)):
        yield f"lines of {path} would be read as another kind of block: {_named(turned)}"


def _description(bundle: Bundle) -> str:
    try:
        return read_frontmatter(bundle.document).description
    except (BundleInvalid, UnicodeDecodeError):
        return ""


def _keys(folder: _Folder) -> dict[str, str]:
    """Give the frontmatter's keys with the text of their values, the description's left out."""
    try:
        values = read_values(folder.document)
    except BundleInvalid:
        return {}
    start = folder.document.index("\n") + 1
    return {
        key: folder.document[start + node.start : start + node.end].strip()
        for key, node in values.items()
        if key != "description"
    }


def _is_markdown(path: str) -> bool:
    return path.lower().endswith((".md", ".markdown"))


def _chars(parts: Iterable[str]) -> int:
    return sum(map(len, parts))


def _size(texts: Iterable[str]) -> str:
    kept = [*texts]
    count = sum(len(text.splitlines()) for text in kept)
    return f"{count} lines, {_chars(part for text in kept for part in passages(text))} characters"


def _named(names: Iterable[str]) -> str:
    """Name the first few, and say how many more there are."""
    listed = list(names)
    shown = ", ".join(
        repr(shorten(" ".join(name.split()), _NAME_CHARS)) for name in listed[:_NAMED]
    )
    return f"{shown} and {len(listed) - _NAMED} more" if len(listed) > _NAMED else shown

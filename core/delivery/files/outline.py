"""What is to stand in a folder: blocks within files, and whole files, each part of one item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.domain.models import Kind, SkillFile


@dataclass(frozen=True, order=True)
class Key:
    """Which item a part is of."""

    kind: Kind
    id: str

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"

    @classmethod
    def read(cls, text: str) -> Key:
        """Return the key that was written so. Raises ValueError."""
        kind, _, item_id = text.partition(" ")
        return cls(Kind(kind), item_id)


@dataclass(frozen=True)
class Block:
    """A managed block: what introduces it, and an entry for each item.

    `head` is the frontmatter of a file that has no other text of its own.
    """

    lead: str
    entries: Mapping[Key, str]
    head: str = ""

    @property
    def body(self) -> str:
        """The text between the two marks: entries by kind and id."""
        parts = [self.lead]
        last: Kind | None = None
        for key in sorted(self.entries, key=lambda key: (_ORDER.index(key.kind), key.id)):
            if key.kind is not last:
                parts.append(f"\n{_HEADS[key.kind]}\n\n")
                last = key.kind
            parts.append(self.entries[key])
        return "".join(parts)


@dataclass(frozen=True)
class Whole:
    """A file that is an item's, all of it."""

    key: Key
    file: SkillFile


Outline = Mapping[str, Block | Whole]

_ORDER = (Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL)
_HEADS = {
    Kind.MEMORY: "### Memories",
    Kind.DMN_RULE: "### Decision tables",
    Kind.SKILL: "### Skills",
}
HEADINGS = frozenset(_HEADS.values())


def keys_of(part: Block | Whole) -> frozenset[Key]:
    """Return the items that have a share in a part."""
    return frozenset((part.key,)) if isinstance(part, Whole) else frozenset(part.entries)


def mixed(old: Outline, new: Outline, done: frozenset[Key]) -> Outline:
    """Return the outline in which these items are as in `new`, and all others as in `old`."""
    found: dict[str, Block | Whole] = {}
    for path in sorted({*old, *new}):
        before, after = old.get(path), new.get(path)
        if isinstance(before, Whole) or isinstance(after, Whole):
            part = _whole(before, after, done)
        else:
            part = _block(before, after, done)
        if part is not None:
            found[path] = part
    return found


def _whole(
    before: Block | Whole | None, after: Block | Whole | None, done: frozenset[Key]
) -> Block | Whole | None:
    keys = {part.key for part in (before, after) if isinstance(part, Whole)}
    return after if keys & done else before


def _block(before: Block | None, after: Block | None, done: frozenset[Key]) -> Block | None:
    frame = after or before
    assert frame is not None
    entries = {key: text for key, text in _entries(before).items() if key not in done}
    entries |= {key: text for key, text in _entries(after).items() if key in done}
    return Block(frame.lead, entries, frame.head) if entries else None


def _entries(block: Block | None) -> Mapping[Key, str]:
    return block.entries if block else {}


def changed(old: Outline, new: Outline) -> frozenset[Key]:
    """Return the items of which something differs."""
    found: set[Key] = set()
    for path in {*old, *new}:
        before, after = old.get(path), new.get(path)
        if before == after:
            continue
        if isinstance(before, Block) and isinstance(after, Block):
            keys = keys_of(before) | keys_of(after)
            found |= {key for key in keys if before.entries.get(key) != after.entries.get(key)}
        else:
            found |= {key for part in (before, after) if part for key in keys_of(part)}
    return frozenset(found)

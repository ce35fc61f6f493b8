"""Whether a text still says all it said, as it said it, once something was added (pure)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from math import ceil
from typing import TypeVar

from core.skill_document.markdown import blocks, is_blank, lines_of

_KINDS = {
    "fence": "code",
    "code_block": "code",
    "html_block": "html",
    "heading_open": "heading",
    "blockquote_open": "quotation",
}
_WORD = re.compile(r"[^\W_]+")
_Item = TypeVar("_Item", bound=Hashable)


def missing_lines(old: str, new: str) -> list[str]:
    """Give the lines of `old` that are not in `new` in this order."""
    return _missing(_exact(old), _exact(new))


def turned_lines(old: str, new: str) -> list[str]:
    """Give the lines of a Markdown text that would be read as something else than they were.

    As code, a comment or other HTML, a quotation or a heading, or no longer as such.
    """
    return [line for line, _ in _missing(_read(old), _read(new))]


def grows(old: str, new: str) -> bool:
    """Tell whether all words of `old` are in `new`, in order; a word may change its ending."""
    rest = iter(_words(new))
    return all(any(_same_word(word, other) for other in rest) for word in _words(old))


def _missing(old: Sequence[_Item], new: Sequence[_Item]) -> list[_Item]:
    gone: list[_Item] = []
    rest, places = iter(new), Counter(new)
    for item in old:
        if places[item] == 0:
            gone.append(item)
        elif not any(item == found for found in rest):
            return [*gone, item]
    return gone


def _exact(text: str) -> list[str]:
    """Give the lines that say something, as they are but for their endings."""
    return [line.rstrip("\r\n") for line in lines_of(text) if not is_blank(line)]


def _read(text: str) -> list[tuple[str, frozenset[str]]]:
    """Give the lines that say something, each with the kinds of block that it stands in."""
    lines = lines_of(text)
    kinds: list[frozenset[str]] = [frozenset()] * len(lines)
    for block in blocks(text):
        kind = _KINDS.get(block.kind)
        if kind:
            for at in range(block.first, min(block.after, len(lines))):
                kinds[at] |= {kind}
    return [
        (line.rstrip("\r\n"), kind)
        for line, kind in zip(lines, kinds, strict=True)
        if not is_blank(line)
    ]


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _same_word(word: str, other: str) -> bool:
    return other.startswith(word[: ceil(len(word) / 2)])

"""Which heading an edit means: by its text, or by its path where the text stands twice (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher, get_close_matches

from core.errors import BundleInvalid
from core.prompt_data import shorten
from core.skill_document.markdown import Heading, names_of

_SEPARATOR = " > "
_ORDINAL = re.compile(r"(?P<path>.*\S)\s*\[(?P<number>[1-9]\d{0,5})\]\s*", re.DOTALL)
_SHOWN = 20
_SHOWN_CHARS = 80


def find_heading(found: Sequence[Heading], asked: str) -> int:
    """Give the index of the heading that `asked` names.

    `asked` is the heading's text (plain, with `#` or with markup), or `Parent > Heading` with one
    or more of those above it, or either with ` [2]` for the second of several. Raises
    BundleInvalid, which tells the addresses of those it may be, or the nearest ones.
    """
    matches = _matches(found, asked)
    if len(matches) == 1:
        return matches[0]
    name = repr(shorten(asked, _SHOWN_CHARS))
    if matches:
        listed = ", ".join(repr(address(found, index)) for index in matches[:_SHOWN])
        raise BundleInvalid(f"heading {name} stands {len(matches)} times; say which: {listed}")
    raise BundleInvalid(f"there is no heading {name}; {_nearest(found, asked)}")


def address(found: Sequence[Heading], index: int) -> str:
    """Give the address that only this heading has, by which `find_heading` finds it."""
    above = [found[place] for place in _ancestors(_parents(found), index)]
    path = _SEPARATOR.join(_short(heading) for heading in [*reversed(above), found[index]])
    matches = _matches(found, path)
    if matches == [index] or index not in matches:
        return path
    return f"{path} [{matches.index(index) + 1}]"


def _matches(found: Sequence[Heading], asked: str) -> list[int]:
    """Give the headings that `asked` may mean: read as a text, else as a path."""
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
    """Give the headings with this path; where one has exactly it, not those that end in it."""
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
            found[place].text in names for place, names in zip(above, wanted, strict=False)
        ):
            ending.append(index)
            if len(above) == len(wanted):
                exact.append(index)
    return exact or ending


def _parents(found: Sequence[Heading]) -> list[int]:
    """Give of each heading the one that it stands under, -1 where there is none."""
    parents: list[int] = []
    for index, heading in enumerate(found):
        above = index - 1
        while above >= 0 and found[above].level >= heading.level:
            above = parents[above]
        parents.append(above)
    return parents


def _ancestors(parents: Sequence[int], index: int) -> list[int]:
    """Give the headings above one, the nearest first."""
    above = []
    while (index := parents[index]) >= 0:
        above.append(index)
    return above


def _nearest(found: Sequence[Heading], asked: str) -> str:
    texts = list(dict.fromkeys(_short(heading) for heading in found))
    if not texts:
        return "the text has no headings"
    wanted = shorten(asked.strip("# \t"), _SHOWN_CHARS)
    close = get_close_matches(wanted, texts, n=3)
    meant = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
    if len(texts) <= _SHOWN:
        return f"{meant}the headings are: {', '.join(map(repr, texts))}"
    texts.sort(key=lambda text: -SequenceMatcher(None, wanted, text).quick_ratio())
    return (
        f"{meant}of {len(found)} headings the nearest are: {', '.join(map(repr, texts[:_SHOWN]))}"
    )


def _short(heading: Heading) -> str:
    return shorten(heading.text, _SHOWN_CHARS)

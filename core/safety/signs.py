"""Which rules a text may match at all, by letters that each of their matches must contain.

To try every rule on every text took three quarters of the screen's time; most rules speak of words
that are not there. The letters are read off the patterns, so no list of them can be forgotten.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from re import _constants as codes
from re import _parser as parser
from typing import Generic, TypeVar

_HANGUL = re.compile("[\uac00-\ud7a3]{1,2}")
_LENGTH = 3  # of other letters; of Hangul two say as much, and one is better than none
_MOST = 400
_Signs = frozenset[str]


_Rule = TypeVar("_Rule")


class Index(Generic[_Rule]):
    """Rules, found by what a text contains: letters of each part that a match cannot do without."""

    def __init__(
        self, rules: Sequence[_Rule], asked_of: Callable[[_Rule], Sequence[re.Pattern[str] | None]]
    ) -> None:
        """Read the letters off the patterns that a text has to match for a rule."""
        self._rules = tuple(rules)
        self._always: set[int] = set()
        self._ways: list[tuple[int, int]] = []  # the parts that are asked for, and whose way it is
        parts: dict[str, int] = defaultdict(int)
        first: dict[str, set[int]] = defaultdict(set)
        number = 0
        for at, rule in enumerate(rules):
            patterns = [one for one in asked_of(rule) if one is not None]
            needed = [signs for other in patterns[1:] for signs in parts_of(other)]
            for way in ways_of(patterns[0]) if patterns else [[]]:
                rarest = _best([*way, *needed])
                asked = 0
                for signs in (*way, *needed):
                    for sign in signs:
                        parts[sign] |= 1 << number
                    asked |= 1 << number
                    number += 1
                if rarest is None:
                    self._always.add(at)
                for sign in rarest or ():
                    first[sign].add(len(self._ways))
                self._ways.append((asked, at))
        self._parts, self._first = dict(parts), dict(first)

    def rules_for(self, letters: set[str]) -> list[_Rule]:
        """Return the rules that may match a text with such letters, in their order."""
        parts, there = self._parts, 0
        for sign in parts.keys() & letters:
            there |= parts[sign]
        absent = ~there
        found = self._first
        begun: set[int] = set()
        for sign in found.keys() & letters:
            begun |= found[sign]
        ways = (self._ways[way] for way in begun)
        may = {at for asked, at in ways if not asked & absent} | self._always
        return [self._rules[at] for at in sorted(may)]


def letters_of(text: str) -> set[str]:
    """Return all rows of letters of a text by which rules are found."""
    found = {text[at : at + _LENGTH] for at in range(len(text) - _LENGTH + 1)}
    if not text.isascii():
        found |= {text[at : at + 2] for at in range(len(text) - 1)}
        found |= set(text)
    return found


def ways_of(pattern: re.Pattern[str]) -> list[list[_Signs]]:
    """Return the parts of each of the ways in which a pattern may match."""
    if pattern.flags & re.IGNORECASE:
        return [[]]
    row = list(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))
    at = [number for number, (code, _) in enumerate(row) if code is codes.BRANCH]
    if len(at) != 1:
        return [_parts(row)]
    common = [*_parts(row[: at[0]]), *_parts(row[at[0] + 1 :])]
    return [[*common, *_parts(branch)] for branch in row[at[0]][1][1]]


def parts_of(pattern: re.Pattern[str]) -> list[_Signs]:
    """Return letters by parts of a pattern; each match contains some of each part's."""
    if pattern.flags & re.IGNORECASE:
        return []
    return _parts(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


def _parts(row: Iterable[tuple[object, object]]) -> list[_Signs]:
    parts: list[_Signs] = []
    run = ""
    for code, value in [*row, (None, None)]:
        if code is codes.LITERAL:
            assert isinstance(value, int)
            run += chr(value)
            continue
        parts += _of_run(run)
        run = ""
        parts += _of_part(code, value)
    return parts


def _best(parts: Sequence[_Signs]) -> _Signs | None:
    return min(parts, key=_weight, default=None)


def _weight(signs: _Signs) -> int:
    """Return how often some of the letters may stand in a text that says something else."""
    return sum(1 if len(sign) > 1 else 8 for sign in signs)


def _of_run(run: str) -> Iterator[_Signs]:
    hangul = _HANGUL.search(run)
    if hangul:
        yield frozenset({hangul[0]})
    elif len(run) >= _LENGTH:
        yield frozenset({run[:_LENGTH]})


def _of_part(code: object, value: object) -> list[_Signs]:
    if code is codes.SUBPATTERN:
        assert isinstance(value, tuple)
        return _parts(value[-1])
    if code is codes.ASSERT:
        assert isinstance(value, tuple)
        return _parts(value[1]) if value[0] > 0 else []
    if code in (codes.MAX_REPEAT, codes.MIN_REPEAT):
        assert isinstance(value, tuple)
        return _parts(value[2]) if value[0] else []
    if code is codes.IN:
        assert isinstance(value, list)
        chars = [chr(one) for kind, one in value if kind is codes.LITERAL]
        hangul = len(chars) == len(value) and all(map(_HANGUL.match, chars))
        return [frozenset(chars)] if hangul else []
    if code is codes.BRANCH:
        assert isinstance(value, tuple)
        together: set[str] = set()
        for branch in value[1]:
            best = _best(_parts(branch))
            if best is None or len(together) > _MOST:
                return []
            together |= best
        return [frozenset(together)]
    return []

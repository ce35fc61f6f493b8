"""How much of its words and values a text finds in another."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TypeAlias

from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.duplicates.words import Word, Words

OTHER_VALUE = 0.5  # credit for the same measure with another value: the subject is the same
SUBJECT_ONLY = 0.65  # discount where the texts share no more than their first word or a value
LEAST_COVERED = 0.5  # a smaller part of a Korean compound is chance, not the same word


Covered: TypeAlias = "list[tuple[Word, float]]"


# The odds that two texts are of one matter, by logistic regression on pairs judged by people
# (docs/explanation/duplicates.md): near from 0 on. Shared values and words weigh most; two values
# or two subjects apart are mostly two facts, however much else is shared.
_BIAS, _SHARE, _SHARED = -2.0, 2.0, 2.9
_VALUES, _VALUES_APART, _VALUE_ALONE = 2.3, -2.05, -1.05
_SUBJECTS_APART, _WORDS_APART = -1.5, -0.5
# The same with closeness in meaning, for the model `local`: what words say counts on, and across
# languages, where they say nothing, closeness alone decides, from a lower one on.
_MEANING_BIAS, _OF_WORDS, _OF_MEANING = -3.85, 0.83, 5.87
_ACROSS, _ACROSS_MEANING = 2.05, 1.18
_LEAST_ODDS, _MOST_ODDS = -4.0, 6.0


class Match:
    """Two texts compared word by word."""

    def __init__(self, one: Words, other: Words) -> None:
        self.one, self.other = one, other
        self._there, self._back = covered(one, other), covered(other, one)

    @cached_property
    def contained(self) -> float:
        """The share of the content of `one` that `other` has too, 0 to 1."""
        return _contained(self.one, self.other, self._there)

    @cached_property
    def mean(self) -> float:
        """The mean share of its content that each text finds in the other, 0 to 1."""
        return (self.contained + _contained(self.other, self.one, self._back)) / 2

    @cached_property
    def alike(self) -> float:
        """The mean share, discounted if they share only their first word, or a quantity.

        Many facts concern one subject, and many things cost 3,000 won.
        """
        if self.mean <= 0 or not _is_subject_only(self.one, self.other, self._there, self._back):
            return self.mean
        return self.mean * SUBJECT_ONLY

    @cached_property
    def odds(self) -> float:
        """The logarithm of the odds that both are of one matter: the same, or one of them changed.

        The words that tell little count in the mean alone.
        """
        mine, theirs = self._shares
        shared = sum(map(bool, mine)) + sum(map(bool, theirs))
        apart = min(mine.count(0.0), theirs.count(0.0), 3)
        has_subject = any(mine[:1]) or any(theirs[:1])
        return (
            _BIAS
            + _SHARE * self.mean
            + _SHARED * math.log(1 + shared / 2)
            + _WORDS_APART * apart
            + (0.0 if has_subject else _SUBJECTS_APART)
            + self._of_values()
        )

    @property
    def is_near(self) -> bool:
        """Whether both are of one matter; surely if only a single word or the values differ."""
        return self.odds >= 0 or self._differs_once

    def is_near_at(self, closeness: float, across: bool) -> bool:
        """Whether both are of one matter, with their closeness in meaning, 0 to 1.

        `across`: one of them is Korean and the other is not.
        """
        of_words = _OF_WORDS * min(max(self.odds, _LEAST_ODDS), _MOST_ODDS)
        odds = _MEANING_BIAS + of_words + _OF_MEANING * closeness
        if across:
            odds += _ACROSS + _ACROSS_MEANING * closeness
        return odds >= 0 or self._differs_once

    @property
    def _differs_once(self) -> bool:
        words, values = tuple(side.count(0.0) for side in self._shares), self._unmet
        is_word = words == (1, 1) and values == (0, 0)
        is_value = words == (0, 0) and values[0] == values[1] > 0
        is_shared = any(self._shares[0]) and bool(self.one.denies) == bool(self.other.denies)
        return is_shared and (is_word or is_value)

    @cached_property
    def _shares(self) -> tuple[list[float], list[float]]:
        """The share that is found of each word that tells something, on both sides."""
        one, other = (
            [share for word, share in side if word.weight >= 1]
            for side in (self._there, self._back)
        )
        return one, other

    @cached_property
    def _unmet(self) -> tuple[int, int]:
        return _unmet(self.one, self.other), _unmet(self.other, self.one)

    def _of_values(self) -> float:
        mine, theirs = self._unmet
        shared = min(len(self.one.quantities) - mine, len(self.other.quantities) - theirs, 2)
        apart = min(mine, theirs, 2)
        is_alone = bool(mine) != bool(theirs)
        return _VALUES * shared + _VALUES_APART * apart + (_VALUE_ALONE if is_alone else 0.0)


def alike(one: Words, other: Words) -> float:
    """Return the likeness of two texts, 0 to 1; see `Match.alike`."""
    return Match(one, other).alike


def _unmet(one: Words, other: Words) -> int:
    return sum(not other.holds(quantity) for quantity in one.quantities)


def contained(one: Words, other: Words) -> float:
    """Return the share of the content of `one` that `other` has too, 0 to 1.

    A quantity of the same measure with another value counts half.
    """
    return _contained(one, other, covered(one, other))


def covered(one: Words, other: Words) -> Covered:
    """Return each word of `one` with the share of it found in `other`.

    A Korean word may occur inside a compound, or split in two (`배송비`, `배송 비용`): its share is
    the part whose syllable pairs occur in the other's words, if that is at least half and has the
    head of the word, or is a whole word (`월요일` and `수요일` share neither).
    """
    stems, bases, pairs = other.stems, other.bases, other.pairs
    return [
        (word, 1.0 if word.stem in stems else _in_part(own, base, bases, pairs) if own else 0.0)
        for word, base, own in one.parts
    ]


def _contained(one: Words, other: Words, there: Covered) -> float:
    if not one.weight:
        return 0.0
    words = sum(word.weight * share for word, share in there if share)
    return (words + sum(_met(q, other) for q in one.quantities)) / one.weight


def _is_subject_only(one: Words, other: Words, there: Covered, back: Covered) -> bool:
    mine, theirs = (
        [word for word, share in side if share and word.weight >= 1] for side in (there, back)
    )
    if max(len(mine), len(theirs)) > 1:
        return False
    if not mine or not theirs:
        return not mine and not theirs
    values = any(other.holds(quantity) for quantity in one.quantities)
    return mine[0].leads and theirs[0].leads and not values


def _in_part(
    own: tuple[str, ...], base: str, bases: frozenset[str], pairs: frozenset[str]
) -> float:
    if pairs.isdisjoint(own):
        return 0.0
    if own[0] not in pairs and not any(base[at:] in bases for at in range(1, len(base) - 1)):
        return 0.0
    hits = [pair in pairs for pair in own]
    inside = sum(left or right for left, right in zip([False, *hits], [*hits, False], strict=True))
    share = inside / len(base)
    return share if share >= LEAST_COVERED else 0.0


def _met(quantity: Quantity, other: Words) -> float:
    if other.holds(quantity):
        return 1.0
    return OTHER_VALUE if quantity.what and quantity.what in other.measures else 0.0

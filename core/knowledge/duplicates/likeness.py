"""How much of its words and values a text finds in another."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.duplicates.words import Word, Words

OTHER_VALUE = 0.5  # credit for the same measure with another value: the subject is the same
SUBJECT_ONLY = 0.65  # discount where the texts share no more than their first word or a value
LEAST_COVERED = 0.5  # a smaller part of a Korean compound is chance, not the same word


Covered: TypeAlias = "list[tuple[Word, float]]"


def alike(one: Words, other: Words) -> float:
    """Return the mean share of its words that each text finds in the other, 0 to 1.

    If they share only their first word, or a quantity, it is discounted: many facts concern one
    subject, and many things cost 3,000 won.
    """
    there, back = covered(one, other), covered(other, one)
    mean = (_contained(one, other, there) + _contained(other, one, back)) / 2
    is_subject_only = mean > 0 and _is_subject_only(one, other, there, back)
    return mean * SUBJECT_ONLY if is_subject_only else mean


def contained(one: Words, other: Words) -> float:
    """Return the share of the content of `one` that `other` has too, 0 to 1.

    A quantity of the same measure with another value counts half.
    """
    return _contained(one, other, covered(one, other))


def covered(one: Words, other: Words) -> Covered:
    """Return each word of `one` with the share of it found in `other`.

    A Korean word may occur inside a compound, or split in two (`배송비`, `배송 비용`): its share is
    the part whose syllable pairs occur in the other's words, if that is at least half.
    """
    stems, pairs = other.stems, other.pairs
    return [
        (word, 1.0 if word.stem in stems else _in_part(word.base or word.stem, pairs))
        for word in one.words
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


def _in_part(stem: str, pairs: frozenset[str]) -> float:
    own = _pairs(stem)
    if pairs.isdisjoint(own):
        return 0.0
    hits = [pair in pairs for pair in own]
    inside = sum(left or right for left, right in zip([False, *hits], [*hits, False], strict=True))
    share = inside / len(stem)
    return share if share >= LEAST_COVERED else 0.0


@lru_cache(maxsize=4_000)
def _pairs(stem: str) -> tuple[str, ...]:
    """Return the pairs of adjacent syllables of a Korean word, none for another script."""
    if not "가" <= stem[:1] <= "힣":
        return ()
    return tuple(stem[at : at + 2] for at in range(len(stem) - 1))


def _met(quantity: Quantity, other: Words) -> float:
    if other.holds(quantity):
        return 1.0
    return OTHER_VALUE if quantity.what and quantity.what in other.measures else 0.0

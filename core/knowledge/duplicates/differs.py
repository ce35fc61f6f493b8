"""Differences between two texts: values, negation, names, other words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.knowledge.duplicates.measure import covered
from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.duplicates.words import Words

SHOWN = 8
What = Literal["number", "negation", "name", "words"]


@dataclass(frozen=True)
class Difference:
    """What only one of two texts says, as written there; () for a side without any."""

    what: What
    new: tuple[str, ...]
    known: tuple[str, ...]


def differences(new: Words, known: Words) -> list[Difference]:
    """Return the differences of two texts; none if every word and value is in both."""
    names, words = _unshared(new, known)
    other_names, other_words = _unshared(known, new)
    found = [
        Difference("number", _values(new, known), _values(known, new)),
        Difference("negation", new.denies, known.denies),
        Difference("name", names, other_names),
        Difference("words", words, other_words),
    ]
    return [difference for difference in found if _tells(difference)]


def _tells(difference: Difference) -> bool:
    if difference.what == "negation":
        return bool(difference.new) != bool(difference.known)
    return bool(difference.new or difference.known)


def _unshared(one: Words, other: Words) -> tuple[tuple[str, ...], tuple[str, ...]]:
    alone = [word for word, share in covered(one, other) if not share and word.weight >= 1]
    names = [word.text for word in alone if word.names]
    return tuple(names[:SHOWN]), tuple(w.text for w in alone if not w.names)[:SHOWN]


def _values(one: Words, other: Words) -> tuple[str, ...]:
    alone: Sequence[Quantity] = [
        quantity for quantity in one.quantities if not other.holds(quantity)
    ]
    return tuple(dict.fromkeys(quantity.text for quantity in alone))[:SHOWN]

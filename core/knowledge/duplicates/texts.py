"""What code can prove of how a text relates to known ones: the same, nearly the same, or not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, TypeAlias

from pydantic import JsonValue

from core.domain.messages import Message, joined
from core.domain.text import normal_form
from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.duplicates.words import REMEMBERED_CHARS, Word, Words, words_of

OTHER_VALUE = 0.5
SUBJECT_ONLY = 0.65
LEAST_COVERED = 0.5


Covered: TypeAlias = "list[tuple[Word, float]]"


def alike(one: Words, other: Words) -> float:
    """Give the mean of what each text holds of the other's informative words, 0 to 1.

    Where all that both say is the word they begin with, or a quantity, it counts for less: many
    things are said of one subject, and many things cost 3,000 won.
    """
    there, back = covered(one, other), covered(other, one)
    mean = (_held(one, other, there) + _held(other, one, back)) / 2
    is_subject_only = mean > 0 and _is_subject_only(one, other, there, back)
    return mean * SUBJECT_ONLY if is_subject_only else mean


def held(one: Words, other: Words) -> float:
    """Give the part of what `one` tells that `other` holds too, 0 to 1.

    A quantity of the same measure and another value counts half: the subject is the same.
    """
    return _held(one, other, covered(one, other))


def covered(one: Words, other: Words) -> Covered:
    """Give each word of `one` with the part of it that `other` holds.

    A Korean word may stand in a compound, or apart in two (`배송비`, `배송 비용`): the part of it
    whose syllable pairs the other's words hold, if that is half of it.
    """
    stems, pairs = other.stems, other.pairs
    return [
        (word, 1.0 if word.stem in stems else _in_part(word.base or word.stem, pairs))
        for word in one.words
    ]


def _held(one: Words, other: Words, there: Covered) -> float:
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
    """Give the pairs of neighbouring syllables of a Korean word, none of another."""
    if not "가" <= stem[:1] <= "힣":
        return ()
    return tuple(stem[at : at + 2] for at in range(len(stem) - 1))


def _met(quantity: Quantity, other: Words) -> float:
    if other.holds(quantity):
        return 1.0
    return OTHER_VALUE if quantity.what and quantity.what in other.measures else 0.0


SHOWN = 8
What = Literal["number", "negation", "name", "words"]


@dataclass(frozen=True)
class Difference:
    """What stands in only one of two texts, as each writes it; () where a side has nothing."""

    what: What
    new: tuple[str, ...]
    known: tuple[str, ...]


def differences(new: Words, known: Words) -> list[Difference]:
    """Compare two texts; an empty list says that no word or value stands in only one of them."""
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


# Measured on ordinary wordings, see docs/explanation/duplicates.md: one that is called near and
# is not costs the model a sentence, one that is missed costs a duplicate.
NEAR = 0.34
SHINGLE = 3
NEAR_SHINGLES = 0.5
_PARTS = 40
_SHINGLED_CHARS = 20_000
_KEPT = 512  # texts of the last comparisons: one is compared with a dozen, and the next with most
_LEAST_WORDS = 2.0
_LONGER, _MUCH_LONGER = 1.5, 3
_PART = re.compile(r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bNo\.)(?<=[.!?。])\s+|\n+")


@dataclass(frozen=True)
class Known:
    """A known item as text."""

    id: str
    name: str
    text: str
    kind: str = ""


@dataclass(frozen=True)
class Evidence:
    """How a new text relates to a known item.

    `similarity` is 0 to 1; `held` the part of what the new text tells that the item holds.
    What is compared, `words`, is the new text and the known one; of one that is much longer the
    part that is nearest, a sentence or a line.
    """

    known: Known
    is_exact: bool
    is_near: bool
    similarity: float
    held: float
    words: tuple[Words, Words] | None = None
    name_collision: bool = False
    trigger_collision: bool = False
    more: dict[str, JsonValue] = field(default_factory=dict)

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The words that both have, as the new text writes them."""
        held_words = covered(*self.words) if self.words else []
        return tuple(word.text for word, share in held_words if share and word.weight >= 1)[:SHOWN]

    @cached_property
    def differs(self) -> tuple[Difference, ...]:
        """What stands in only one of them."""
        return tuple(differences(*self.words)) if self.words else ()

    def data(self) -> dict[str, JsonValue]:
        """Give the evidence as the model reads it."""
        return {
            "id": self.known.id,
            "name": self.known.name,
            **({"kind": self.known.kind} if self.known.kind else {}),
            "exact_duplicate": self.is_exact,
            "near_duplicate": self.is_near,
            "similarity": round(self.similarity, 3),
            "held": round(self.held, 3),
            "name_collision": self.name_collision,
            "trigger_collision": self.trigger_collision,
            "shared": [*self.shared],
            "differs": [
                {"what": d.what, "new": [*d.new], "known": [*d.known]} for d in self.differs
            ],
            **self.more,
        }

    @property
    def is_neighbour(self) -> bool:
        """Tell whether one who adds this has to say how it relates to the item."""
        return self.is_near or self.name_collision or self.trigger_collision

    @property
    def is_about_another(self) -> bool:
        """Tell whether each names somebody or something that the other does not."""
        return any(d.what == "name" and d.new and d.known for d in self.differs)

    @property
    def is_of_one_form(self) -> bool:
        """Tell whether both say one thing of two, and differ in nothing but names and numbers."""
        return self.is_about_another and all(d.what in {"name", "number"} for d in self.differs)

    @property
    def why(self) -> str:
        """Say in one line what the two have in common and what not."""
        if self.is_exact:
            return Message("near.same_but_for_form", "the same but for its form")
        parts: list[str] = [
            Message("near.similarity", "similarity {score:.2f}", score=self.similarity)
        ]
        if self.name_collision:
            parts.append(Message("near.same_name", "the same name but for its form"))
        if self.trigger_collision:
            parts.append(Message("near.same_request", "both would be read for the same request"))
        if self.shared:
            parts.append(Message("near.both_say", "both say {words}", words=", ".join(self.shared)))
        parts += [_said(difference) for difference in self.differs if difference.what != "words"]
        return joined(parts)


def compare(content: str, known: Iterable[Known]) -> list[Evidence]:
    """Compare a text with known items, the most similar first."""
    found = [evidence(content, item) for item in known]
    return sorted(found, key=lambda e: (not e.is_exact, -e.similarity, e.known.id))


def is_repeated(content: str, known: str, *, unrelated: bool = False) -> bool:
    """Tell whether a text is an exact or a near duplicate of a known one.

    What is said to be `unrelated` to the like of it repeats none that is about another.
    """
    found = evidence(content, Known("", "", known))
    if found.is_near and unrelated:
        return not found.is_about_another
    return found.is_exact or found.is_near


def evidence(content: str, item: Known) -> Evidence:
    """Compare a text with one known item."""
    if normal_form(content) == normal_form(item.text):
        return Evidence(item, is_exact=True, is_near=False, similarity=1.0, held=1.0)
    new, known = _nearest(words_of(content), words_of(item.text), content, item.text)
    shingled = shingle_similarity(content, item.text)
    score = alike(new, known)
    return Evidence(
        item,
        is_exact=False,
        is_near=score >= NEAR or shingled >= NEAR_SHINGLES,
        similarity=max(score, shingled),
        held=held(new, known),
        words=(new, known),
    )


def held_part(text: str, by: str) -> float:
    """Give the part of what a text tells that another tells too, 0 to 1; 1 where it tells none."""
    words = words_of(text)
    return held(words, words_of(by)) if words.weight else 1.0


def shingle_similarity(one: str, other: str) -> float:
    """Give the Jaccard similarity of two texts' character shingles, 0 to 1.

    It serves what no word is known of: other scripts, typing errors, code.
    """
    a, b = _shingles(one), _shingles(other)
    return len(a & b) / len(a | b)


def _nearest(new: Words, known: Words, text: str, known_text: str) -> tuple[Words, Words]:
    """Give the texts, or in the place of one that is much longer its nearest part."""
    pairs = []
    if new.weight <= _MUCH_LONGER * known.weight and known.weight <= _MUCH_LONGER * new.weight:
        pairs.append((new, known))
    if known.weight > _LONGER * new.weight:
        pairs += [(new, part) for part in _parts(known_text)]
    if new.weight > _LONGER * known.weight:
        pairs += [(part, known) for part in _parts(text)]
    return max(pairs, key=lambda pair: alike(*pair), default=(new, known))


def _parts(text: str) -> list[Words]:
    parts = [words_of(part) for part in _PART.split(text, _PARTS)[:_PARTS] if part.strip()]
    return [part for part in parts if part.weight >= _LEAST_WORDS]


def _shingles(text: str) -> frozenset[str]:
    return _remembered(text) if len(text) <= REMEMBERED_CHARS else _shingled(text)


@lru_cache(maxsize=_KEPT)
def _remembered(text: str) -> frozenset[str]:
    return _shingled(text)


def _shingled(text: str) -> frozenset[str]:
    plain = normal_form(text[:_SHINGLED_CHARS]).replace(" ", "")
    return frozenset(plain[i : i + SHINGLE] for i in range(max(1, len(plain) - SHINGLE + 1)))


_NOTHING = Message("near.nothing", "nothing")
_CALLED = {
    "number": Message("near.number", "number"),
    "negation": Message("near.negation", "negation"),
    "name": Message("near.name", "name"),
}


def _said(difference: Difference) -> str:
    sides = (difference.new, difference.known)
    new, known = (", ".join(side) or _NOTHING for side in sides)
    return Message(
        "near.differ",
        "{what}: new says {new}, known says {old}",
        what=_CALLED[difference.what],
        new=new,
        old=known,
    )

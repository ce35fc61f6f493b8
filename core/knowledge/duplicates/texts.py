"""What code can prove about how a text relates to known ones: equal, near, or neither."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from pydantic import JsonValue

from core.domain.messages import Message, joined
from core.domain.models.base import UNBOUNDED, Reach
from core.domain.text import normal_form
from core.knowledge.duplicates.contrasts import (
    CLASHES,
    SHOWN,
    Difference,
    Pair,
    differences,
    have_two_subjects,
    name_others,
)
from core.knowledge.duplicates.quantities import Quantity
from core.knowledge.duplicates.words import (
    REMEMBERED_CHARS,
    Covered,
    Words,
    covered,
    words_of,
)
from core.knowledge.how_long import without_span
from core.knowledge.search.vectors import KOREAN_SHARE, hangul_share

OTHER_VALUE = 0.5  # credit for the same measure with another value: the subject is the same
SUBJECT_ONLY = 0.65  # discount where the texts share no more than their first word or a value

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
SHINGLE = 3
NEAR_SHINGLES = 0.5
EXCHANGED = 2  # words that stand in the place of one
_PARTS = 40
_SHINGLED_CHARS = 20_000
_CACHED = 512  # recent texts: one is compared with a dozen, the next one with most of the same
_LEAST_WORDS = 2.0
# Ratios of content: above the first, parts of the longer text are compared as well, above the
# second only parts: whole against part, the longer text would dilute any match.
_LONGER, _MUCH_LONGER = 1.5, 3
_PART = re.compile(r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bNo\.)(?<=[.!?。])\s+|\n+")


class Match(Pair):
    """Two texts compared word by word."""

    @cached_property
    def contained(self) -> float:
        """The share of the content of `one` that `other` has too, 0 to 1."""
        return _contained(self.one, self.other, self.there)

    @cached_property
    def mean(self) -> float:
        """The mean share of its content that each text finds in the other, 0 to 1."""
        return (self.contained + _contained(self.other, self.one, self.back)) / 2

    @cached_property
    def alike(self) -> float:
        """The mean share, discounted if they share only their first word, or a quantity.

        Many facts concern one subject, and many things cost 3,000 won.
        """
        if self.mean <= 0 or not _is_subject_only(self.one, self.other, self.there, self.back):
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
            [share for word, share in side if word.weight >= 1] for side in (self.there, self.back)
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


def _met(quantity: Quantity, other: Words) -> float:
    if other.holds(quantity):
        return 1.0
    return OTHER_VALUE if quantity.what and quantity.what in other.measures else 0.0


@dataclass(frozen=True)
class Known:
    """A known item as text; `closeness` is its likeness in meaning, 0 to 1, where it is known.

    `reach` is how long and for whom a memory holds. `of` is the agent that it is of, where that is
    another than the one that writes; `is_shared` says that it is for the whole tenant.
    """

    id: str
    name: str
    text: str
    kind: str = ""
    closeness: float | None = None
    reach: Reach = UNBOUNDED
    of: str = ""
    is_shared: bool = False


@dataclass(frozen=True)
class Evidence:
    """How a new text relates to a known item.

    `similarity` is 0 to 1; `contained` the share of the new text's content that the item has too.
    `pair` are the compared texts, new and known; for a much longer one its nearest part, a
    sentence or a line.
    """

    known: Known
    is_exact: bool
    is_near: bool
    similarity: float
    contained: float
    pair: Pair | None = None
    name_collision: bool = False
    trigger_collision: bool = False
    more: dict[str, JsonValue] = field(default_factory=dict)

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The words that both have, as the new text writes them."""
        shares = self.pair.there if self.pair else []
        return tuple(word.text for word, share in shares if share and word.weight >= 1)[:SHOWN]

    @cached_property
    def differs(self) -> tuple[Difference, ...]:
        """What only one of them says."""
        return tuple(differences(self.pair)) if self.pair else ()

    @property
    def told(self) -> tuple[Difference, ...]:
        """The differences that are told to whoever decides about the two."""
        return self.differs

    @cached_property
    def clashes(self) -> tuple[Difference, ...]:
        """The differences by which both may not hold, for a warning.

        What excludes each other, what denies or restricts, and a word in whose place the other
        text has another, if they differ in nothing else.
        """
        is_one = len(self.told) == 1
        return tuple(d for d in self.told if _is_clash(d, is_one=is_one))

    def data(self) -> dict[str, JsonValue]:
        """Return the evidence as data for the model."""
        close = self.known.closeness
        return {
            "id": self.known.id,
            "name": self.known.name,
            **({"kind": self.known.kind} if self.known.kind else {}),
            "exact_duplicate": self.is_exact,
            "near_duplicate": self.is_near,
            "similarity": round(self.similarity, 3),
            "held": round(self.contained, 3),
            **({"close_in_meaning": round(close, 3)} if close is not None else {}),
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
        """Whether a request that adds this must say how it relates to the item."""
        return self.is_near or self.name_collision or self.trigger_collision

    @property
    def is_about_another(self) -> bool:
        """Whether each names someone or something that the other does not."""
        # Not by `differs`: names are quick to tell, and an import asks of every near line.
        return self.pair is not None and name_others(self.pair)

    @property
    def is_of_one_form(self) -> bool:
        """Whether both state one fact about two subjects, differing only in names and numbers.

        `승인은 김 부장이 한다` and `승인은 박 부장이 한다` are about one subject and contradict.
        """
        if not self.is_about_another or self.pair is None:
            return False
        is_form = all(d.what in {"name", "number"} for d in self.differs)
        return is_form and have_two_subjects(self.pair)

    @property
    def why(self) -> str:
        """One line on what the two have in common and what not."""
        if self.is_exact:
            return Message("near.same_but_for_form")
        parts: list[str] = [Message("near.similarity", score=self.similarity)]
        if self.name_collision:
            parts.append(Message("near.same_name"))
        if self.trigger_collision:
            parts.append(Message("near.same_request"))
        if self.is_near and not self.shared and self.known.closeness is not None:
            parts.append(Message("search.by_meaning"))
        if self.shared:
            parts.append(Message("near.both_say", words=", ".join(self.shared)))
        parts += [_said(difference) for difference in self.told]
        return joined(parts)


def _is_clash(found: Difference, *, is_one: bool) -> bool:
    if found.what not in CLASHES:
        sizes = sorted((len(found.new), len(found.known)))
        return is_one and sizes[0] == 1 and sizes[1] <= EXCHANGED
    is_both = bool(found.new and found.known)
    return is_both or found.what == "negation" or (is_one and found.what != "number")


def compare(content: str, known: Iterable[Known]) -> list[Evidence]:
    """Compare a text with known items, the most similar first."""
    found = [evidence(content, item) for item in known]
    return sorted(found, key=lambda e: (not e.is_exact, -e.similarity, e.known.id))


def is_repeated(content: str, known: str, *, unrelated: bool = False) -> bool:
    """Whether a text is an exact or near duplicate of a known one.

    A text declared `unrelated` does not repeat a near one that names someone else.
    """
    found = evidence(content, Known("", "", known))
    if found.is_near and unrelated:
        return not found.is_about_another
    return found.is_exact or found.is_near


def evidence(content: str, item: Known) -> Evidence:
    """Compare a text with one known item.

    Spans that say until when they hold tell of no likeness, since unlike things may end alike; they
    count in what differs.
    """
    if normal_form(content) == normal_form(item.text):
        return Evidence(item, is_exact=True, is_near=False, similarity=1.0, contained=1.0)
    new_text, known_text = without_span(content), without_span(item.text)
    new, known = words_of(new_text), words_of(known_text)
    match = _nearest(new, known, new_text, known_text)
    shingled = shingle_similarity(new_text, known_text)
    is_near = match.is_near
    if item.closeness is not None:
        across = (hangul_share(content) >= KOREAN_SHARE) != (
            hangul_share(item.text) >= KOREAN_SHARE
        )
        is_of_part = match.one is not new or match.other is not known
        # The closeness is that of the whole texts: it takes nothing from what a part says.
        is_near = match.is_near_at(item.closeness, across) or (is_near and is_of_part)
    is_bare = new_text is not content or known_text is not item.text
    return Evidence(
        item,
        is_exact=False,
        is_near=is_near or shingled >= NEAR_SHINGLES,
        similarity=max(match.alike, shingled),
        contained=match.contained,
        pair=_of_whole(content, item.text) if is_bare else match,
    )


def _of_whole(content: str, known: str) -> Match:
    return _nearest(words_of(content), words_of(known), content, known)


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text that say something, else the text as one.

    A short one that denies, restricts or names a value goes with the one before it.
    """
    found: list[str] = []
    for part in filter(None, map(str.strip, _PART.split(text, _PARTS))):
        words = words_of(part)
        turns = words.denies or words.quantities or any(words.turned.values())
        if words.weight >= _LEAST_WORDS or (turns and not found):
            found.append(part)
        elif turns:
            found[-1] += f" {part}"
    return found or [text]


def contained_part(text: str, by: str) -> float:
    """Return the share of a text's content that another has too, 0 to 1; 1 if it has none."""
    words = words_of(text)
    return contained(words, words_of(by)) if words.weight else 1.0


def shingle_similarity(one: str, other: str) -> float:
    """Return the Jaccard similarity of two texts' character shingles, 0 to 1.

    It covers what word comparison cannot: other scripts, typing errors, code.
    """
    a, b = _shingles(one), _shingles(other)
    return len(a & b) / len(a | b)


def _nearest(new: Words, known: Words, text: str, known_text: str) -> Match:
    """Return the match of two texts, a much longer one replaced by its nearest part."""
    pairs = []
    if new.weight <= _MUCH_LONGER * known.weight and known.weight <= _MUCH_LONGER * new.weight:
        pairs.append((new, known))
    if known.weight > _LONGER * new.weight:
        pairs += [(new, part) for part in _parts(known_text)]
    if new.weight > _LONGER * known.weight:
        pairs += [(part, known) for part in _parts(text)]
    if len(pairs) <= 1:
        return Match(*(pairs[0] if pairs else (new, known)))
    return max((Match(*pair) for pair in pairs), key=lambda match: match.alike)


def _parts(text: str) -> Sequence[Words]:
    """Return the sentences and lines that say something; none of a text that is one itself."""
    return _remembered_parts(text) if len(text) <= REMEMBERED_CHARS else _parted(text)


@lru_cache(maxsize=_CACHED)
def _remembered_parts(text: str) -> Sequence[Words]:
    return _parted(text)


def _parted(text: str) -> Sequence[Words]:
    if _PART.search(text) is None:
        return ()
    parts = [words_of(part) for part in _PART.split(text, _PARTS)[:_PARTS] if part.strip()]
    return tuple(part for part in parts if part.weight >= _LEAST_WORDS)


def _shingles(text: str) -> frozenset[str]:
    return _remembered(text) if len(text) <= REMEMBERED_CHARS else _shingled(text)


@lru_cache(maxsize=_CACHED)
def _remembered(text: str) -> frozenset[str]:
    return _shingled(text)


def _shingled(text: str) -> frozenset[str]:
    plain = normal_form(text[:_SHINGLED_CHARS]).replace(" ", "")
    return frozenset(plain[i : i + SHINGLE] for i in range(max(1, len(plain) - SHINGLE + 1)))


_NOTHING = Message("near.nothing")
_CALLED = {
    "number": Message("near.number"),
    "negation": Message("near.negation"),
    "name": Message("near.name"),
    "order": Message("near.order"),
    "scope": Message("near.scope"),
    "limit": Message("near.limit"),
    "duty": Message("near.duty"),
    "words": Message("near.words"),
}


def _said(difference: Difference) -> str:
    sides = (difference.new, difference.known)
    new, known = (", ".join(side) or _NOTHING for side in sides)
    return Message("near.differ", what=_CALLED[difference.what], new=new, old=known)

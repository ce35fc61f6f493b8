"""What code can prove about how a text relates to known ones: equal, near, or neither."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from pydantic import JsonValue

from core.domain.messages import Message, joined
from core.domain.text import normal_form
from core.knowledge.duplicates.contrasts import (
    SHOWN,
    Difference,
    differences,
    have_two_subjects,
    name_others,
)
from core.knowledge.duplicates.likeness import Match, contained, covered
from core.knowledge.duplicates.words import REMEMBERED_CHARS, Words, words_of
from core.knowledge.search.vectors import KOREAN_SHARE, hangul_share

SHINGLE = 3
NEAR_SHINGLES = 0.5
_PARTS = 40
_SHINGLED_CHARS = 20_000
_CACHED = 512  # recent texts: one is compared with a dozen, the next one with most of the same
_LEAST_WORDS = 2.0
# Ratios of content: above the first, parts of the longer text are compared as well, above the
# second only parts: whole against part, the longer text would dilute any match.
_LONGER, _MUCH_LONGER = 1.5, 3
_PART = re.compile(r"(?<!\bMr\.)(?<!\bMs\.)(?<!\bDr\.)(?<!\bNo\.)(?<=[.!?。])\s+|\n+")


@dataclass(frozen=True)
class Known:
    """A known item as text; `closeness` is its likeness in meaning, 0 to 1, where it is known."""

    id: str
    name: str
    text: str
    kind: str = ""
    closeness: float | None = None


@dataclass(frozen=True)
class Evidence:
    """How a new text relates to a known item.

    `similarity` is 0 to 1; `contained` the share of the new text's content that the item has too.
    `words` are the compared texts, new and known; for a much longer one its nearest part, a
    sentence or a line.
    """

    known: Known
    is_exact: bool
    is_near: bool
    similarity: float
    contained: float
    words: tuple[Words, Words] | None = None
    name_collision: bool = False
    trigger_collision: bool = False
    more: dict[str, JsonValue] = field(default_factory=dict)

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The words that both have, as the new text writes them."""
        shares = covered(*self.words) if self.words else []
        return tuple(word.text for word, share in shares if share and word.weight >= 1)[:SHOWN]

    @cached_property
    def differs(self) -> tuple[Difference, ...]:
        """What only one of them says."""
        return tuple(differences(*self.words)) if self.words else ()

    @property
    def told(self) -> tuple[Difference, ...]:
        """The differences that are told to whoever decides about the two."""
        return self.differs

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
        return self.words is not None and name_others(*self.words)

    @property
    def is_of_one_form(self) -> bool:
        """Whether both state one fact about two subjects, differing only in names and numbers.

        `승인은 김 부장이 한다` and `승인은 박 부장이 한다` are about one subject and contradict.
        """
        if not self.is_about_another or self.words is None:
            return False
        return all(d.what in {"name", "number"} for d in self.differs) and have_two_subjects(
            *self.words
        )

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
    """Compare a text with one known item."""
    if normal_form(content) == normal_form(item.text):
        return Evidence(item, is_exact=True, is_near=False, similarity=1.0, contained=1.0)
    new, known = words_of(content), words_of(item.text)
    match = _nearest(new, known, content, item.text)
    shingled = shingle_similarity(content, item.text)
    is_near = match.is_near
    if item.closeness is not None:
        across = (hangul_share(content) >= KOREAN_SHARE) != (
            hangul_share(item.text) >= KOREAN_SHARE
        )
        is_of_part = match.one is not new or match.other is not known
        # The closeness is that of the whole texts: it takes nothing from what a part says.
        is_near = match.is_near_at(item.closeness, across) or (is_near and is_of_part)
    return Evidence(
        item,
        is_exact=False,
        is_near=is_near or shingled >= NEAR_SHINGLES,
        similarity=max(match.alike, shingled),
        contained=match.contained,
        words=(match.one, match.other),
    )


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a text that say something, else the text as one."""
    parts = [part.strip() for part in _PART.split(text, _PARTS) if part.strip()]
    return [part for part in parts if words_of(part).weight >= _LEAST_WORDS] or [text]


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
    matches = [Match(*pair) for pair in pairs] or [Match(new, known)]
    return max(matches, key=lambda match: match.alike)


def _parts(text: str) -> list[Words]:
    """Return the sentences and lines that say something; none of a text that is one itself."""
    if _PART.search(text) is None:
        return []
    parts = [words_of(part) for part in _PART.split(text, _PARTS)[:_PARTS] if part.strip()]
    return [part for part in parts if part.weight >= _LEAST_WORDS]


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

"""How a query weighs documents: BM25 (Robertson and Zaragoza 2009), comparable across queries."""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Protocol

from core.knowledge.search.names import names_in
from core.knowledge.search.spelling import guesses, keys, likely, synonyms
from core.knowledge.search.tokens import (
    IN_SENTENCES,
    LITTLE_MARK,
    WRITTEN,
    Question,
    read_question,
    stem,
)

K1 = 1.2  # term saturation and length normalisation: the usual values of the paper
B = 0.75
MAX_WEIGHED = 256  # terms of a long query that are scored
FINDING_TERMS = 32  # terms and postings read to find candidates: they bound the time of a query
FINDING_POSTINGS = 20_000
# A hit has a fifth of the query's weight, or for a whole feedback text one and a half unique words:
# one shared syllable or common word must not bring up an item. Of a question most words are often
# nobody's, so that somewhat less than a unique word is enough if it was typed and not guessed; of
# a long text it is more.
SHARE = 0.2
MOST_NEEDED = 1.5
ENOUGH = 0.6
LEAST_SHARE = 0.03
_NAMED_WEIGHT = 10.0  # in ideal scores: above any sum of words, so that a full name comes first
_LONGER_NAME = 0.01  # of that a character more: `refund-policy` before `refund`


@dataclass(frozen=True)
class Corpus:
    """Statistics of a tenant's documents: number, mean length, and document frequencies by term.

    `frequencies` has only terms that occur.
    """

    documents: int
    frequencies: Mapping[str, int]
    mean: float = 1.0

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term; never negative.

        That of a function word is among the texts that have any: beside many Korean texts each
        English one is rare for its `the`.
        """
        frequency = self.frequencies.get(term, 0)
        if not term.startswith(LITTLE_MARK):
            return _idf(frequency, self.documents)
        return _idf(frequency, max(frequency, self.frequencies.get(IN_SENTENCES, 0)))

    def idf_of(self, frequency: int) -> float:
        """Return the inverse document frequency for a document frequency."""
        return _idf(frequency, self.documents)


@lru_cache(maxsize=1_000)  # most words of a question are in few documents, or in all
def _idf(frequency: int, documents: int) -> float:
    frequency = min(frequency, documents)
    return math.log(1 + (documents - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True)
class Weighing:
    """The weights of a query.

    `weights` has its terms that occur, `floors` what each counts for being a hit, `frequencies` in
    how many documents each is; `ideal` is the BM25 of the query itself as a document. `named` has
    the keys of items that the query names, with their weights. A hit has floors of `needed` or,
    without the `guessed` terms, of `enough`.
    """

    weights: Mapping[str, float]
    floors: Mapping[str, float]
    frequencies: Mapping[str, int]
    ideal: float
    mean: float
    needed: float = 0.0
    enough: float = 0.0
    guessed: frozenset[str] = frozenset()
    named: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def asked(self) -> Mapping[str, float]:
        """The weights with those of the names, each of which exceeds any sum of words."""
        return {**self.weights, **self.named}

    @cached_property
    def finding(self) -> tuple[str, ...]:
        """The terms that suffice to find every document worth scoring."""
        return (*self.named, *_finding(self.frequencies, self.floors, self.enough))

    def score(self, counts: Mapping[str, int], length: int) -> float:
        """Return a text's similarity to the query, 0 to 1 (see `normalised`)."""
        return self.normalised(self.bm25({t: shape(n, length) for t, n in counts.items()}))

    def bm25(self, shapes: Mapping[str, int]) -> float:
        """Return the BM25 of a document with these postings (term -> shape)."""
        return sum(
            weight * impact(shapes[term], self.mean)
            for term, weight in self.asked.items()
            if term in shapes
        )

    def is_hit(self, terms: Container[str]) -> bool:
        """Whether a document with these terms matches enough of the query to be shown."""
        held = [term for term in self.asked if term in terms]
        is_much = sum(map(self.floor, held)) >= self.needed
        return is_much or sum(map(self.typed, held)) >= self.enough

    def floor(self, term: str) -> float:
        """Return what a term counts for being a hit; a name suffices."""
        return self.named.get(term, 0.0) or self.floors.get(term, 0.0)

    def typed(self, term: str) -> float:
        """Return the same for a term that was typed, 0 for a guess."""
        return 0.0 if term in self.guessed else self.floor(term)

    def normalised(self, bm25: float) -> float:
        """Return a BM25 sum as a fraction of the ideal document's, at most 1.

        The ideal document is the query itself: 1 means that a document has all of the query in
        as few words. Terms that occur nowhere count against every document.
        """
        return min(1.0, bm25 / self.ideal) if self.ideal > 0 else 0.0


def shown(weights: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of the terms that can be shown in a text, those of both forms of a word
    together; function words say nothing.
    """
    found: dict[str, float] = {}
    for term, weight in weights.items():
        if not term.startswith(LITTLE_MARK):
            key = stem(term.removeprefix(WRITTEN)) if term.startswith(WRITTEN) else term
            found[key] = found.get(key, 0.0) + weight
    return found


def weigh(
    query: Question,
    corpus: Corpus,
    meant: Mapping[str, tuple[float, int]] | None = None,
    names: Sequence[str] = (),
    *,
    alike: Mapping[str, tuple[float, int]] | None = None,
    has_floor: bool = True,
) -> Weighing:
    """Weigh the terms of a query.

    `meant` adds corrections of misspelt terms (term -> factor and document frequency), `alike`
    synonyms, which make a hit like the word itself, and `names` are keys of items that the query
    may name. Without a floor a document that shares any term is a hit.
    """
    idfs = {term: corpus.idf(term) for term in query.counts}
    asked = {
        term: idfs[term] * query.factors.get(term, 1.0) * count
        for term, count in query.counts.items()
    }
    floor = {term: idf * query.floors.get(term, 1.0) for term, idf in idfs.items()}
    known = {term: corpus.frequencies[term] for term in _heaviest(asked, corpus.frequencies)}
    meant = {**(meant or {}), **(alike or {})}
    guessed = {term: found for term, found in meant.items() if term not in known}
    weights = {term: asked[term] for term in known}
    for term, (factor, number) in guessed.items():
        weights[term] = factor * corpus.idf_of(number)
    unique = corpus.idf_of(1) if has_floor else 0.0
    whole = sum(floor.values())
    floor |= {term: corpus.idf_of(number) for term, (_, number) in (alike or {}).items()}
    floors = {term: floor.get(term, weights[term]) for term in weights}
    needed = min(SHARE * whole, MOST_NEEDED * unique)
    enough = min(needed, max(ENOUGH * unique, LEAST_SHARE * whole))
    frequencies = known | {term: number for term, (_, number) in guessed.items()}
    shapes = {term: shape(number, query.length) for term, number in query.counts.items()}
    ideal = sum(asked[term] * impact(shaped, corpus.mean) for term, shaped in shapes.items())
    named = {
        name: _NAMED_WEIGHT * max(ideal, 1.0) * (1 + _LONGER_NAME * len(name))
        for name in names
        if corpus.frequencies.get(name)
    }
    return Weighing(
        weights=weights,
        floors=floors,
        frequencies=frequencies,
        ideal=ideal,
        mean=corpus.mean,
        needed=needed,
        enough=enough,
        guessed=frozenset(guessed),
        named=named,
    )


def _heaviest(asked: Mapping[str, float], frequencies: Mapping[str, int]) -> list[str]:
    """Return the terms that occur, for a long query those of most weight."""
    terms = [term for term in asked if frequencies.get(term)]
    if len(terms) <= MAX_WEIGHED:
        return terms
    return sorted(terms, key=lambda term: (-asked[term], term))[:MAX_WEIGHED]


def _finding(
    frequencies: Mapping[str, int], floors: Mapping[str, float], needed: float
) -> tuple[str, ...]:
    """Choose the rarest terms, up to 20,000 postings together, at least one.

    Common terms cost most and tell least: once those left could not make a hit even together,
    they need not be read to find candidates.
    """
    chosen: list[str] = []
    postings, left = 0, sum(floors.values())
    for term, frequency in sorted(frequencies.items(), key=lambda pair: (pair[1], pair[0])):
        postings += frequency
        is_enough = postings > FINDING_POSTINGS or len(chosen) == FINDING_TERMS or left < needed
        if chosen and is_enough:
            break
        chosen.append(term)
        left -= floors[term]
    return tuple(chosen)


def extrapolate(seen: int, sample: int, *, oldest: int, last: int, newest: int) -> int:
    """Estimate a total when counting stopped at `sample`.

    Ids grow with time, so the density of `seen` up to id `last` extends from the `oldest` to the
    `newest` document. Exact if counting did not stop.
    """
    if seen < sample or last >= newest:
        return seen
    return max(seen, round(seen * (newest - oldest + 1) / (last - oldest + 1)))


# A posting has count and length in 16 bits: a search reads many thousands of them. Counts are exact
# to 16, lengths to within 0.3 %.
_LENGTHS = 2_048
_LENGTH_STEP = math.log(2**17) / (_LENGTHS - 1)
_EXACT_COUNTS = 16
_COUNT_STEP = math.log(1.3)
_COUNTS = 32


@lru_cache(maxsize=10_000)  # those of one text have one length, and few counts
def shape(count: int, length: int) -> int:
    """Return count and length of a document as they stand in a posting: 16 bits with a sign."""
    over = math.log(max(count, _EXACT_COUNTS) / _EXACT_COUNTS) / _COUNT_STEP
    counted = min(count, _EXACT_COUNTS) - 1 + round(over)
    measured = round(math.log(max(1, length)) / _LENGTH_STEP)
    return min(counted, _COUNTS - 1) * _LENGTHS + min(measured, _LENGTHS - 1) - 2**15


@lru_cache(maxsize=10_000)
def unshape(shaped: int) -> tuple[float, float]:
    """Return the count and the length that a posting stands for."""
    counted, measured = divmod(shaped + 2**15, _LENGTHS)
    over = max(0, counted - _EXACT_COUNTS + 1)
    count = min(counted + 1, _EXACT_COUNTS) * math.exp(over * _COUNT_STEP)
    return count, math.exp(measured * _LENGTH_STEP)


def impact(shaped: int, mean: float) -> float:
    """Return a term's part of BM25 before its weight: it grows with the count up to K1 + 1."""
    count, length = unshape(shaped)
    return count * (K1 + 1) / (count + K1 * (1 - B + B * length / mean))


class Index(Protocol):
    """The statistics of a tenant's index that a query needs."""

    async def describe(self, terms: Sequence[str], rough: Sequence[str] = ()) -> Corpus:
        """Return the corpus with the frequencies of these terms, and of the `rough` ones those that
        fewer documents tell.
        """

    async def count(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return the frequencies of further terms that occur."""

    async def known(self, keys: Sequence[str]) -> set[str]:
        """Return which of these terms and marked words have ever occurred."""


async def ask(text: str, index: Index, *, for_name: bool = True) -> Weighing | None:
    """Weigh a query against an index; None if it has no words.

    Spelling corrections are looked up only for words that occur nowhere, synonyms always. With
    `for_name`, items that the query names come first, and items that match too little of it are no
    hits.
    """
    (weighing,) = await ask_all([text], index, for_name=for_name)
    return weighing


async def ask_all(
    texts: Sequence[str], index: Index, *, for_name: bool = True, rough: Collection[str] = ()
) -> list[Weighing | None]:
    """Weigh queries as `ask` does, in as few looks at the index as for one.

    Of those that are `rough` the items that they name get nothing for that, and the frequencies of
    words that only they have are told by fewer documents.
    """
    read = _read if len(texts) == 1 else _read_again
    asked = [read(text, has_names=for_name and text not in rough) for text in texts]
    pairs = zip(texts, asked, strict=True)
    terms = [(term, text in rough) for text, one in pairs for term in one.terms]
    closely = dict.fromkeys(term for term, is_rough in terms if not is_rough)
    roughly = dict.fromkeys(term for term, _ in terms if term not in closely)
    if not terms:
        return [None] * len(asked)
    corpus = await index.describe([*closely], [*roughly])
    is_known = corpus.frequencies.__contains__
    found = [guesses(one.question, is_known) if corpus.documents else {} for one in asked]
    spelt = dict.fromkeys(key for one in found if one for key in keys(one))
    known = await index.known([*spelt]) if spelt else set()
    meant = [likely(one, known) if one else {} for one in found]
    guessed = dict.fromkeys(term for one in meant for term in one)
    counted = await index.count([*guessed]) if guessed else {}
    return [
        one.weighed(corpus, {t: (f, counted[t]) for t, f in own.items() if t in counted}, for_name)
        for one, own in zip(asked, meant, strict=True)
    ]


@dataclass(frozen=True)
class _Asked:
    """A query with the names that it may mention, and the synonyms of its words."""

    question: Question
    names: tuple[str, ...]
    alike: Mapping[str, tuple[str, float]]

    @property
    def terms(self) -> list[str]:
        """What must be known of the index to weigh it."""
        counts = self.question.counts
        return [*counts, IN_SENTENCES, *self.names, *self.alike] if counts else []

    def weighed(
        self, corpus: Corpus, meant: Mapping[str, tuple[float, int]], for_name: bool
    ) -> Weighing | None:
        if not self.question.counts:
            return None
        frequencies = corpus.frequencies
        known = {
            term: (
                factor,
                max(frequencies[term], frequencies.get(own, 0)),
            )  # no rarer than its word
            for term, (own, factor) in self.alike.items()
            if term in frequencies
        }
        return weigh(self.question, corpus, meant, self.names, alike=known, has_floor=for_name)


def _read(text: str, *, has_names: bool) -> _Asked:
    question = read_question(text)
    if not question.counts:
        return _Asked(question, (), {})
    return _Asked(question, names_in(text) if has_names else (), synonyms(question))


_read_again = lru_cache(maxsize=1_000)(_read)  # the questions of cases come with many changes

"""How a query weighs documents: BM25 (Robertson and Zaragoza 2009), comparable across queries."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.knowledge.search.spelling import guesses, keys, likely
from core.knowledge.search.tokens import name_term, read_question

K1 = 1.2  # term saturation and length normalisation: the usual values of the paper
B = 0.75
# A constant, not the corpus mean: impacts are stored in the index, and must not go stale with it.
MEAN_LENGTH = 100
MAX_WEIGHED = 256  # terms of a long query that are scored
FINDING_TERMS = 32  # terms and postings read to find candidates: they bound the time of a query
FINDING_POSTINGS = 20_000
# A hit has a fifth of the query's weight, or for a whole feedback text one and a half unique words:
# one shared syllable or common word must not bring up an item.
SHARE = 0.2
ENOUGH = 1.5
BESIDE_LENGTH = 200  # the longest length that counts against a match in name or file paths
NAMED = 1.0
_NAMED_WEIGHT = 10.0  # in ideal scores: above any sum of words, so that a full name comes first


@dataclass(frozen=True)
class Corpus:
    """Statistics of a tenant's documents: their number, and document frequencies by term.

    `frequencies` has only terms that occur.
    """

    documents: int
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """Return the inverse document frequency of a term; never negative."""
        return self.idf_of(self.frequencies.get(term, 0))

    def idf_of(self, frequency: int) -> float:
        """Return the inverse document frequency for a document frequency."""
        frequency = min(frequency, self.documents)
        return math.log(1 + (self.documents - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True)
class Weighing:
    """The weights of a query.

    `weights` has its terms that occur; the terms `finding` suffice to find every document worth
    scoring; `ideal` is the BM25 of the query itself as a document. `name` is the key of items
    named like the query, empty if there are none.
    """

    weights: Mapping[str, float]
    finding: tuple[str, ...]
    ideal: float
    needed: float = 0.0
    name: str = ""

    @property
    def asked(self) -> Mapping[str, float]:
        """The weights with that of the name, which exceeds any sum of words."""
        return (
            {**self.weights, self.name: _NAMED_WEIGHT * self.ideal} if self.name else self.weights
        )

    def score(self, counts: Mapping[str, int], length: int) -> float:
        """Return a document's similarity to the query, 0 to 1 (see `normalised`)."""
        terms = {term: tf for term in self.weights if (tf := counts.get(term, 0))}
        return self.normalised(_bm25(self.weights, terms, length))

    def bm25(self, impacts: Mapping[str, float]) -> float:
        """Return the BM25 of a document with these impacts by term."""
        return sum(weight * impacts.get(term, 0.0) for term, weight in self.asked.items())

    def is_hit(self, terms: Container[str]) -> bool:
        """Whether a document with these terms matches enough of the query to be shown."""
        return sum(w for term, w in self.asked.items() if term in terms) >= self.needed

    def normalised(self, bm25: float) -> float:
        """Return a BM25 sum as a fraction of the ideal document's, at most 1.

        The ideal document is the query itself: 1 means that a document has all of the query in
        as few words. Terms that occur nowhere count against every document.
        """
        return min(1.0, bm25 / self.ideal) if self.ideal > 0 else 0.0


def weigh(
    query: Mapping[str, int],
    corpus: Corpus,
    factors: Mapping[str, float] | None = None,
    meant: Mapping[str, tuple[float, int]] | None = None,
    name: str = "",
    *,
    has_floor: bool = True,
) -> Weighing:
    """Weigh the terms of a query (term -> count).

    `factors` reduces the weight of some, `meant` adds corrections of misspelt terms (term ->
    factor and document frequency), `name` is the key of items named like the query. Without a
    floor a document that shares any term is a hit.
    """
    worth = factors or {}
    asked = {term: corpus.idf(term) * worth.get(term, 1.0) for term in query}
    known = {term: corpus.frequencies[term] for term in _heaviest(asked, corpus.frequencies)}
    guessed = {term: found for term, found in (meant or {}).items() if term not in known}
    weights = {term: asked[term] for term in known}
    named = (name,) if corpus.frequencies.get(name) else ()
    for term, (factor, number) in guessed.items():
        weights[term] = factor * corpus.idf_of(number)
    needed = min(SHARE * sum(asked.values()), ENOUGH * corpus.idf_of(1)) if has_floor else 0.0
    frequencies = known | {term: number for term, (_, number) in guessed.items()}
    return Weighing(
        weights=weights,
        finding=(*named, *_finding(frequencies, weights, needed)),
        ideal=_bm25(asked, query, sum(query.values())),
        needed=needed,
        name="".join(named),
    )


def _heaviest(asked: Mapping[str, float], frequencies: Mapping[str, int]) -> list[str]:
    """Return the terms that occur, for a long query those of most weight."""
    terms = [term for term in asked if frequencies.get(term)]
    if len(terms) <= MAX_WEIGHED:
        return terms
    return sorted(terms, key=lambda term: (-asked[term], term))[:MAX_WEIGHED]


def _finding(
    frequencies: Mapping[str, int], weights: Mapping[str, float], needed: float
) -> tuple[str, ...]:
    """Choose the rarest terms, up to 20,000 postings together, at least one.

    Common terms cost most and tell least: once those left could not make a hit even together,
    they need not be read to find candidates.
    """
    chosen: list[str] = []
    postings, left = 0, sum(weights.values())
    for term, frequency in sorted(frequencies.items(), key=lambda pair: (pair[1], pair[0])):
        postings += frequency
        is_enough = postings > FINDING_POSTINGS or len(chosen) == FINDING_TERMS or left < needed
        if chosen and is_enough:
            break
        chosen.append(term)
        left -= weights[term]
    return tuple(chosen)


def extrapolate(seen: int, sample: int, *, oldest: int, last: int, newest: int) -> int:
    """Estimate a total when counting stopped at `sample`.

    Ids grow with time, so the density of `seen` up to id `last` extends from the `oldest` to the
    `newest` document. Exact if counting did not stop.
    """
    if seen < sample or last >= newest:
        return seen
    return max(seen, round(seen * (newest - oldest + 1) / (last - oldest + 1)))


def impact(count: int, length: int, *, beside: int = 0) -> float:
    """Return a term's unweighted part of BM25: it grows with the count up to K1 + 1, rounded to
    four digits.

    The mean document length is a constant, so that stored impacts stay valid and scores are
    stable over time. `beside` is the part of the count from name and files: a long content
    reduces it only up to a length of 200 (fields have lengths of their own in BM25F, Zaragoza
    and others 2004).
    """
    told = (count - beside) / _norm(length) + beside / _norm(min(length, BESIDE_LENGTH))
    return round(told * (K1 + 1) / (told + K1), 4)


def _norm(length: int) -> float:
    return 1 - B + B * length / MEAN_LENGTH


def _bm25(weights: Mapping[str, float], counts: Mapping[str, int], length: int) -> float:
    return sum(weights[term] * impact(count, length) for term, count in counts.items())


class Index(Protocol):
    """The statistics of a tenant's index that a query needs."""

    async def describe(self, terms: Sequence[str]) -> Corpus:
        """Return the corpus with the frequencies of these terms."""

    async def count(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Return the frequencies of further terms that occur."""

    async def known(self, keys: Sequence[str]) -> set[str]:
        """Return which of these terms and marked words have ever occurred."""


async def ask(text: str, index: Index, *, for_name: bool = True) -> Weighing | None:
    """Weigh a query against an index; None if it has no words.

    Spelling corrections are looked up only for words that occur nowhere. With `for_name`, items
    named like the query come first, and items that match too little of it are no hits.
    """
    question = read_question(text)
    if not question.counts:
        return None
    name = name_term(text) if for_name else ""
    corpus = await index.describe([*question.counts, *filter(None, [name])])
    found = guesses(question, corpus.frequencies.__contains__) if corpus.documents else {}
    terms = likely(found, await index.known(keys(found))) if found else {}
    counted = await index.count(list(terms)) if terms else {}
    meant = {term: (terms[term], number) for term, number in counted.items()}
    return weigh(question.counts, corpus, question.factors, meant, name, has_floor=for_name)

"""How a query weighs documents: BM25 (Robertson and Zaragoza 2009), comparable across queries."""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.knowledge.search.spelling import guesses, keys, likely
from core.knowledge.search.tokens import name_term, read_question

K1 = 1.2
B = 0.75
MEAN_LENGTH = 100
MAX_WEIGHED = 256
FINDING_TERMS = 32
SHARE = 0.2
ENOUGH = 1.5
FINDING_POSTINGS = 20_000
BESIDE_LENGTH = 200
NAMED = 1.0
_NAMED_WEIGHT = 10.0


@dataclass(frozen=True)
class Corpus:
    """A tenant's documents: how many there are, and in how many of them a term stands.

    `frequencies` holds only terms that stand somewhere.
    """

    documents: int
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """Give the weight of a term: the rarer, the heavier; never negative."""
        return self.idf_of(self.frequencies.get(term, 0))

    def idf_of(self, frequency: int) -> float:
        """Give the weight of a term that stands in so many documents."""
        frequency = min(frequency, self.documents)
        return math.log(1 + (self.documents - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True)
class Weighing:
    """What a query asks of a document.

    `weights` are those of its terms that stand somewhere; the terms `finding` are enough to find
    the documents worth scoring; `ideal` is the BM25 of the query taken as a document. `name` is
    the key of items that bear the query as their name, empty where there are none.
    """

    weights: Mapping[str, float]
    finding: tuple[str, ...]
    ideal: float
    needed: float = 0.0
    name: str = ""

    @property
    def asked(self) -> Mapping[str, float]:
        """The weights with that of the name: more than all words of a document can bring."""
        return (
            {**self.weights, self.name: _NAMED_WEIGHT * self.ideal} if self.name else self.weights
        )

    def score(self, counts: Mapping[str, int], length: int) -> float:
        """Give a document's similarity to the query, 0 to 1 (see `normalised`)."""
        terms = {term: tf for term in self.weights if (tf := counts.get(term, 0))}
        return self.normalised(_bm25(self.weights, terms, length))

    def bm25(self, impacts: Mapping[str, float]) -> float:
        """Give the BM25 of a document with these parts of it a term."""
        return sum(weight * impacts.get(term, 0.0) for term, weight in self.asked.items())

    def is_hit(self, held: Container[str]) -> bool:
        """Tell whether a document holds enough of the query to be shown."""
        return sum(w for term, w in self.asked.items() if term in held) >= self.needed

    def normalised(self, bm25: float) -> float:
        """Give a BM25 sum as a part of the ideal document's, at most 1.

        The ideal document is the query itself: 1 says that a document holds all of the query
        in as few words. Terms that stand nowhere count against every document.
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
    """Weigh the terms of a query (term -> how often it stands there).

    `factors` says which tell less, `meant` which terms it may mean beside its own (term ->
    factor and in how many documents), `name` is the key of what bears the query as its name.
    Without a floor a document that shares any term is a hit.
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
    """Give the terms that stand somewhere, of a long query those that tell most."""
    terms = [term for term in asked if frequencies.get(term)]
    if len(terms) <= MAX_WEIGHED:
        return terms
    return sorted(terms, key=lambda term: (-asked[term], term))[:MAX_WEIGHED]


def _finding(
    frequencies: Mapping[str, int], weights: Mapping[str, float], needed: float
) -> tuple[str, ...]:
    """Choose the rarest terms, as far as they stand in 20,000 documents together.

    Common terms cost most and tell least: those that make no hit by themselves, all together,
    need not find. The rarest is always there.
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
    """Estimate how many there are in all, when counting stopped at `sample`.

    Ids grow with time, so `seen` of them up to id `last` say how many there are between the
    `oldest` and the `newest` document. Exact where counting did not stop.
    """
    if seen < sample or last >= newest:
        return seen
    return max(seen, round(seen * (newest - oldest + 1) / (last - oldest + 1)))


def impact(count: int, length: int, *, beside: int = 0) -> float:
    """Give a term's part of BM25 before its weight: it grows with the count up to K1 + 1,
    in steps of a ten thousandth.

    The mean length of documents is taken as a constant, so that what is in the index stays true
    and a score means the same today and tomorrow. `beside` is the part of the count that comes
    from the name and the files: a long content makes it tell less, but only up to a length of
    200 (as fields have lengths of their own in BM25F, Zaragoza and others 2004).
    """
    told = (count - beside) / _norm(length) + beside / _norm(min(length, BESIDE_LENGTH))
    return round(told * (K1 + 1) / (told + K1), 4)


def _norm(length: int) -> float:
    return 1 - B + B * length / MEAN_LENGTH


def _bm25(weights: Mapping[str, float], counts: Mapping[str, int], length: int) -> float:
    return sum(weights[term] * impact(count, length) for term, count in counts.items())


class Index(Protocol):
    """What a query has to know of a tenant's index."""

    async def describe(self, terms: Sequence[str]) -> Corpus:
        """Give the corpus with the frequencies of these terms."""

    async def count(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Give the frequencies of further terms, of those that stand somewhere."""

    async def known(self, keys: Sequence[str]) -> set[str]:
        """Give which of these terms and marked words have ever stood somewhere."""


async def ask(text: str, index: Index, *, for_name: bool = True) -> Weighing | None:
    """Weigh a query against an index, or give None where it holds no words.

    What may be meant by words that stand nowhere is looked up only where there are such words.
    With `for_name`, what bears the query as its name comes before all else, and what holds too
    little of it is no hit.
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

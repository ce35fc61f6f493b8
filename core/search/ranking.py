"""BM25 (Robertson and Zaragoza 2009), with scores that mean the same for every query."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

K1 = 1.2
B = 0.75
MAX_QUERY_TERMS = 512
FINDING_TERMS = 32
FINDING_POSTINGS = 6_000


@dataclass(frozen=True)
class Corpus:
    """A tenant's documents: how many, their mean length in terms, in how many a term stands.

    `frequencies` holds only terms that stand somewhere.
    """

    documents: int
    mean_length: float
    frequencies: Mapping[str, int]

    def idf(self, term: str) -> float:
        """Give the weight of a term: the rarer, the heavier; never negative."""
        frequency = min(self.frequencies.get(term, 0), self.documents)
        return math.log(1 + (self.documents - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True)
class Weighing:
    """What a query asks of a document.

    `weights` are those of its terms that stand somewhere; the terms `finding` are enough to find
    the documents worth scoring; `ideal` is the BM25 of the query taken as a document.
    """

    weights: Mapping[str, float]
    finding: tuple[str, ...]
    ideal: float
    mean_length: float

    def score(self, counts: Mapping[str, int], length: int) -> float:
        """Give a document's similarity to the query, 0 to 1 (see `normalised`)."""
        terms = {term: tf for term in self.weights if (tf := counts.get(term, 0))}
        return self.normalised(_bm25(self.weights, terms, length, self.mean_length))

    def normalised(self, bm25: float) -> float:
        """Give a BM25 sum as a part of the ideal document's, at most 1.

        The ideal document is the query itself: 1 says that a document holds all of the query
        in as few words. Terms that stand nowhere count against every document.
        """
        return min(1.0, bm25 / self.ideal) if self.ideal > 0 else 0.0


def weigh(query: Mapping[str, int], corpus: Corpus) -> Weighing:
    """Weigh the terms of a query (term -> how often it stands there)."""
    weights = {term: corpus.idf(term) for term in query}
    mean = max(corpus.mean_length, 1.0)
    return Weighing(
        weights={term: weights[term] for term in query if corpus.frequencies.get(term)},
        finding=_finding(corpus.frequencies),
        ideal=_bm25(weights, query, sum(query.values()), mean),
        mean_length=mean,
    )


def _finding(frequencies: Mapping[str, int]) -> tuple[str, ...]:
    """Choose the rarest terms, as far as they stand in 6,000 documents together.

    Common terms cost most and tell least; the rarest is always there.
    """
    chosen: list[str] = []
    postings = 0
    for term, frequency in sorted(frequencies.items(), key=lambda pair: (pair[1], pair[0])):
        postings += frequency
        if chosen and (postings > FINDING_POSTINGS or len(chosen) == FINDING_TERMS):
            break
        chosen.append(term)
    return tuple(chosen)


def extrapolate(seen: int, sample: int, *, oldest: int, last: int, newest: int) -> int:
    """Estimate how many there are in all, when counting stopped at `sample`.

    Ids grow with time, so `seen` of them up to id `last` say how many there are between the
    `oldest` and the `newest` document. Exact where counting did not stop.
    """
    if seen < sample or last >= newest:
        return seen
    return max(seen, round(seen * (newest - oldest + 1) / (last - oldest + 1)))


def _bm25(
    weights: Mapping[str, float], counts: Mapping[str, int], length: int, mean: float
) -> float:
    norm = K1 * (1 - B + B * length / mean)
    return sum(weights[term] * tf * (K1 + 1) / (tf + norm) for term, tf in counts.items())

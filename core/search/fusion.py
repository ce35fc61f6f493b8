"""Two rankings of the same things as one: by words and by meaning (pure)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import accumulate
from typing import TypeVar

from core.models import Hit, Kind, KnownText
from core.search.documents import name_term
from core.search.hits import make_hit

# Cormack, Clarke and Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet and individual
# rank learning methods": fixed there in a pilot, and near the best for all collections tried.
RRF_K = 60
BY_MEANING = "close in meaning"

T = TypeVar("T", bound=Hashable)


def reciprocal_rank(rankings: Iterable[Sequence[T]]) -> list[T]:
    """Fuse rankings, each best first: what stands high in several comes first.

    Ties go to what stands higher in an earlier ranking. What is twice in one counts once.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda item: -scores[item])


def fuse_hits(
    by_words: Sequence[Hit], by_meaning: Sequence[KnownText], limit: int, *, query: str = ""
) -> list[Hit]:
    """Fuse hits with neighbours in meaning, and give the first `limit`.

    What bears the query as its name comes first. A score is the greater of the two, and at least
    that of every hit further down.
    """
    worded = {_key(hit): hit for hit in by_words}
    meant = {_key(known): known for known in by_meaning}
    order = reciprocal_rank([[*worded], [*meant]])
    fused = [_hit(worded.get(key), meant.get(key)) for key in order]
    fused.sort(key=lambda hit: not _is_named(hit, query))
    scores = _falling([hit.score for hit in fused])
    return [
        hit.model_copy(update={"score": score})
        for hit, score in zip(fused[:limit], scores, strict=False)
    ]


def fuse_texts(by_words: Sequence[KnownText], by_meaning: Sequence[KnownText]) -> list[KnownText]:
    """Fuse texts that share words with neighbours in meaning; none is left out.

    The score stays that by words: 0 for what was found by meaning alone.
    """
    found = {_key(known): known.model_copy(update={"score": 0.0}) for known in by_meaning}
    found |= {_key(known): known for known in by_words}
    order = reciprocal_rank([[_key(k) for k in by_words], [_key(k) for k in by_meaning]])
    return [found[key] for key in order]


def _key(found: Hit | KnownText) -> tuple[Kind, str]:
    return found.kind, found.id


def _is_named(hit: Hit, query: str) -> bool:
    name = "" if hit.kind is Kind.MEMORY else name_term(query)
    return name != "" and name == name_term(hit.name)


def _hit(worded: Hit | None, meant: KnownText | None) -> Hit:
    if meant is None:
        assert worded is not None
        return worded
    hit = worded or make_hit(
        kind=meant.kind,
        item_id=meant.id,
        name=meant.name,
        agent_id=meant.agent_id,
        content=meant.content,
        score=0.0,
        weights={},
    )
    why = f"{worded.why}; {BY_MEANING}" if worded and worded.why else BY_MEANING
    return hit.model_copy(update={"score": max(hit.score, round(meant.score, 4)), "why": why})


def _falling(values: Sequence[float]) -> list[float]:
    """Raise each value to the greatest of those after it."""
    return [*accumulate(reversed(values), max)][::-1]

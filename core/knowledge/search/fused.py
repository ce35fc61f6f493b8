"""Hybrid search by words and embeddings, falling back to words if the model fails."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from itertools import accumulate
from typing import TypeVar

import structlog

from core.domain.errors import ConfigurationError, InvalidInput, ModelDown
from core.domain.messages import Message, joined
from core.domain.models import Hit, Kind, KnownText, Nearby
from core.domain.models.vectors import Vector
from core.domain.ports import Embeddings, Ranking, Vectors
from core.knowledge.search.hits import make_hit
from core.knowledge.search.names import names_in
from core.knowledge.search.tokens import name_term, scan

# Cormack, Clarke and Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet and individual
# rank learning methods": 60 was fixed there in a pilot, and near the best on every collection.
RRF_K = 60
BY_MEANING = Message("search.by_meaning")

T = TypeVar("T", bound=Hashable)


def reciprocal_rank(rankings: Iterable[Sequence[T]]) -> list[T]:
    """Fuse rankings, each best first, by reciprocal rank.

    Ties go to the better rank in an earlier ranking. Duplicates within one count once.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda item: -scores[item])


def fuse_hits(
    by_words: Sequence[Hit], by_meaning: Sequence[KnownText], limit: int, *, query: str = ""
) -> list[Hit]:
    """Fuse hits by words with neighbours by embedding, and return the first `limit`.

    Items that the query names come first. A score is the greater of the two, and at least that
    of every later hit.
    """
    worded = {_key(hit): hit for hit in by_words}
    meant = {_key(known): known for known in by_meaning}
    order = reciprocal_rank([[*worded], [*meant]])
    fused = [_hit(worded.get(key), meant.get(key)) for key in order]
    names = frozenset(names_in(query))
    fused.sort(key=lambda hit: not _is_named(hit, names))
    scores = _falling([hit.score for hit in fused])
    return [
        hit.model_copy(update={"score": score})
        for hit, score in zip(fused[:limit], scores, strict=False)
    ]


def fuse_texts(by_words: Sequence[KnownText], by_meaning: Sequence[KnownText]) -> list[KnownText]:
    """Fuse texts found by words with those found by embedding; all are returned.

    The score stays that by words, 0 for texts found by embedding alone.
    """
    found = {_key(known): known.model_copy(update={"score": 0.0}) for known in by_meaning}
    found |= {_key(known): known for known in by_words}
    order = reciprocal_rank([[_key(k) for k in by_words], [_key(k) for k in by_meaning]])
    return [found[key] for key in order]


def _key(found: Hit | KnownText) -> tuple[Kind, str]:
    return found.kind, found.id


def _is_named(hit: Hit, names: Container[str]) -> bool:
    name = "" if hit.kind is Kind.MEMORY else name_term(hit.name)
    return name in names or name_term(hit.id) in names


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
    why = joined([worded.why, BY_MEANING]) if worded and worded.why else BY_MEANING
    return hit.model_copy(update={"score": max(hit.score, round(meant.score, 4)), "why": why})


def _falling(values: Sequence[float]) -> list[float]:
    """Return the values, each raised to the greatest after it, so that scores never rise."""
    return [*accumulate(reversed(values), max)][::-1]


log = structlog.get_logger(__name__)

QUERY_CHARS = 4_000
DEPTH = 10
CACHED_QUERIES = 256
LONGEST_PAUSE = 60.0


class FusedSearch:
    """The `Ranking` port over a search by words, the vectors of its documents, and their model.

    `embeddings` is called before the first query; its errors propagate. After a failed query the
    model is not asked for a pause that grows to a minute: a search must not wait for it.
    """

    def __init__(
        self,
        words: Ranking,
        vectors: Vectors,
        embeddings: Callable[[], Embeddings],
        *,
        timeout: float,
        clock: Callable[[], float],
    ) -> None:
        self._words = words
        self._vectors = vectors
        self._embeddings = embeddings
        self._timeout = timeout
        self._clock = clock
        self._cached: OrderedDict[str, Vector] = OrderedDict()
        self._failures = 0
        self._again_at = float("-inf")

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Return the items most similar to `query` by both rankings, best first."""
        vector = await self._vector(query) if limit > 0 else None
        if vector is None:
            return await self._words.search(
                query, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=limit
            )
        depth = limit + DEPTH  # a hit below the limit in both rankings may be above it fused
        worded = await self._words.search(
            query, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=depth
        )
        meant = await self._vectors.nearest(
            vector, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=depth
        )
        return fuse_hits(worded, meant, limit, query=query)

    async def near(
        self, text: str, *, tenant_id: str, agent_id: str | None, kind: Kind, limit: int
    ) -> Nearby:
        """Return the items of a kind most similar by words, and as many again by embedding."""
        worded = await self._words.near(
            text, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=limit
        )
        vector = await self._vector(text) if limit > 0 else None
        meant: Sequence[KnownText] = ()
        if vector is not None:
            meant = await self._vectors.nearest(
                vector, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=limit
            )
        return worded.model_copy(update={"items": tuple(fuse_texts(worded.items, meant))})

    async def refresh(self, tenant_id: str) -> None:
        await self._words.refresh(tenant_id)

    async def _vector(self, query: str) -> Vector | None:
        """Return the vector of a query, None if the model does not provide one in time."""
        text = query[:QUERY_CHARS]
        if text in self._cached:
            self._cached.move_to_end(text)
            return self._cached[text]
        model = self._embeddings()
        if self._clock() < self._again_at or next(scan(text), None) is None:
            return None
        vector = await self._asked(model, text)
        if vector is not None:
            self._cache(text, vector)
        return vector

    async def _asked(self, model: Embeddings, text: str) -> Vector | None:
        try:
            async with asyncio.timeout(self._timeout):
                vector = await model.embed_query(text)
        except InvalidInput:
            return None
        except TimeoutError:
            self._note_failure(Message("dependency.no_answer", seconds=self._timeout))
            return None
        except (ModelDown, ConfigurationError) as error:
            self._note_failure(error.message)
            return None
        if self._failures:
            log.info("embeddings.recovered")
        self._failures = 0
        return vector

    def _note_failure(self, reason: str) -> None:
        pause = min(LONGEST_PAUSE, 2.0 ** min(self._failures, 10))  # capped: floats overflow
        self._failures += 1
        self._again_at = self._clock() + pause
        log.warning("embeddings.missed", error=reason, next_in=pause)

    def _cache(self, text: str, vector: Vector) -> None:
        self._cached[text] = vector
        if len(self._cached) > CACHED_QUERIES:
            self._cached.popitem(last=False)

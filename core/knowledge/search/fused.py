"""Hybrid search by words and embeddings, falling back to words if the model fails."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TypeVar

import structlog

from core.domain.errors import ConfigurationError, InvalidInput, ModelDown
from core.domain.messages import Message, joined
from core.domain.models import Hit, Kind, KnownText, Nearby
from core.domain.models.context import TaskMeaning
from core.domain.models.vectors import Vector
from core.domain.ports import Embeddings, Ranking, Vectors
from core.knowledge.search.hits import make_hit
from core.knowledge.search.names import is_among, names_in
from core.knowledge.search.tokens import scan

# Cormack, Clarke and Büttcher 2009, "Reciprocal rank fusion outperforms Condorcet and individual
# rank learning methods": 60 was fixed there in a pilot, and near the best on every collection.
RRF_K = 60
# Where both rankings put an item in one place, the better match goes first: else the best by words
# stood before the best by meaning however few of the words it has. What is right reaches half
# again as much by meaning as by words.
_OF_MEANING = 0.7
BY_MEANING = Message("search.by_meaning")

T = TypeVar("T", bound=Hashable)


def reciprocal_rank(
    rankings: Iterable[Sequence[T]], worth: Callable[[T], float] = lambda _: 0.0
) -> list[T]:
    """Fuse rankings, each best first, by reciprocal rank.

    Ties go to what is worth more, then to the better rank in an earlier ranking. Duplicates within
    one count once.
    """
    scores: dict[T, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(dict.fromkeys(ranking), start=1):
            scores[item] = scores.get(item, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda item: (-scores[item], -worth(item)))


def fuse_hits(
    by_words: Sequence[Hit], by_meaning: Sequence[KnownText], limit: int, *, query: str = ""
) -> list[Hit]:
    """Fuse hits by words with neighbours by embedding, and return the first `limit`.

    Items that the query names come first. A score is the greater of the two, and at least that
    of every later hit.
    """
    worded = {_key(hit): hit for hit in by_words}
    meant = {_key(known): known for known in by_meaning}

    def worth(key: tuple[Kind, str]) -> float:
        by_word = worded[key].score if key in worded else 0.0
        return max(by_word, _OF_MEANING * meant[key].score if key in meant else 0.0)

    order = reciprocal_rank([[*worded], [*meant]], worth)
    fused = [_hit(worded.get(key), meant.get(key)) for key in order]
    names = frozenset(names_in(query))
    fused.sort(key=lambda hit: not _is_named(hit, names))
    scores = _falling([hit.score for hit in fused])
    return [
        hit.model_copy(update={"score": score})
        for hit, score in zip(fused[:limit], scores, strict=False)
    ]


def fuse_texts(
    by_words: Sequence[KnownText], by_meaning: Sequence[KnownText], *, tells_near: bool = False
) -> list[KnownText]:
    """Fuse texts found by words with those found by embedding; all are returned.

    The score stays that by words, 0 for texts found by embedding alone. Where the embedding
    `tells_near`, its score is the closeness.
    """
    found = {_key(known): known.model_copy(update={"score": 0.0}) for known in by_meaning}
    found |= {_key(known): known for known in by_words}
    for known in by_meaning if tells_near else ():
        close = {"closeness": known.score}
        found[_key(known)] = found[_key(known)].model_copy(update=close)
    order = reciprocal_rank([[_key(k) for k in by_words], [_key(k) for k in by_meaning]])
    return [found[key] for key in order]


def _key(found: Hit | KnownText) -> tuple[Kind, str]:
    return found.kind, found.id


def _is_named(hit: Hit, names: Container[str]) -> bool:
    return is_among(hit.kind, hit.name, hit.id, names)


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
        taught_at=meant.taught_at,
        valid_until=meant.valid_until,
        scope=meant.scope,
        user=meant.user,
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


@dataclass(frozen=True)
class _Scope:
    tenant_id: str
    agent_id: str | None
    kind: Kind | None


async def _nothing() -> None:
    """Find nothing."""


class FusedSearch:
    """The `Ranking` port over a search by words, the vectors of its documents, and their model.

    `embeddings` is called before the first query; its errors propagate. After a failed query the
    model is not asked for a pause that grows to a minute: a search must not wait for it.
    `tells_near`: its closeness is comparable with that of the model that duplicates were tuned on.
    `small_talk` measures how near the vector of a query is to what people ask anybody.
    """

    def __init__(
        self,
        words: Ranking,
        vectors: Vectors,
        embeddings: Callable[[], Embeddings],
        *,
        timeout: float,
        clock: Callable[[], float],
        tells_near: bool = False,
        small_talk: Callable[[Vector], float | None] | None = None,
    ) -> None:
        self._words = words
        self._vectors = vectors
        self._embeddings = embeddings
        self._timeout = timeout
        self._clock = clock
        self._tells_near = tells_near
        self._small_talk = small_talk
        self._cached: OrderedDict[tuple[str, bool], Vector] = OrderedDict()
        self._failures = 0
        self._again_at = float("-inf")

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Return the items most similar to `query` by both rankings, best first."""
        scope = _Scope(tenant_id, agent_id, kind)
        depth = limit + DEPTH  # a hit below the limit in both rankings may be above it fused
        meaning = self._meaning(query, scope, depth) if limit > 0 else _nothing()
        worded, meant = await asyncio.gather(
            self._words.search(query, **vars(scope), limit=depth if limit > 0 else limit), meaning
        )
        return [*worded][:limit] if meant is None else fuse_hits(worded, meant, limit, query=query)

    async def near(
        self, text: str, *, tenant_id: str, agent_id: str | None, kind: Kind, limit: int
    ) -> Nearby:
        """Return the items of a kind most similar by words, and as many again by embedding.

        With `tells_near`, those found by embedding have their closeness in meaning.
        """
        scope = _Scope(tenant_id, agent_id, kind)
        meaning = self._meaning(text, scope, limit, is_query=False) if limit > 0 else _nothing()
        worded, meant = await asyncio.gather(
            self._words.near(text, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=limit),
            meaning,
        )
        texts = fuse_texts(worded.items, meant or (), tells_near=self._tells_near)
        return worded.model_copy(update={"items": tuple(texts)})

    async def refresh(self, tenant_id: str) -> None:
        await self._words.refresh(tenant_id)

    async def meant(
        self,
        text: str,
        *,
        tenant_id: str,
        agent_id: str | None,
        limits: Mapping[Kind, int],
        skills: Sequence[str],
    ) -> TaskMeaning | None:
        """Return the items of each kind nearest in meaning; None if no model answers in time.

        Of skills only those on the agent's list, `skills`, are looked at.
        """
        vector = await self._vector(text[:QUERY_CHARS], is_query=True)
        if vector is None:
            return None
        found = await asyncio.gather(
            *(
                self._vectors.nearest(
                    vector,
                    tenant_id=tenant_id,
                    agent_id=agent_id,
                    kind=kind,
                    limit=limit,
                    among=skills if kind is Kind.SKILL else None,
                )
                for kind, limit in limits.items()
            )
        )
        return TaskMeaning(
            items=tuple(known for near in found for known in near),
            small_talk=self._small_talk(vector) if self._small_talk else None,
        )

    async def _meaning(
        self, text: str, scope: _Scope, limit: int, *, is_query: bool = True
    ) -> Sequence[KnownText] | None:
        """Return the items nearest in meaning, None if the model does not answer in time."""
        vector = await self._vector(text[:QUERY_CHARS], is_query)
        if vector is None:
            return None
        return await self._vectors.nearest(vector, **vars(scope), limit=limit)

    async def _vector(self, text: str, is_query: bool) -> Vector | None:
        if (text, is_query) in self._cached:
            self._cached.move_to_end((text, is_query))
            return self._cached[text, is_query]
        model = self._embeddings()
        if self._clock() < self._again_at or next(scan(text), None) is None:
            return None
        vector = await self._asked(model, text, is_query)
        if vector is not None:
            self._cached[text, is_query] = vector
            if len(self._cached) > CACHED_QUERIES:
                self._cached.popitem(last=False)
        return vector

    async def _asked(self, model: Embeddings, text: str, is_query: bool) -> Vector | None:
        try:
            async with asyncio.timeout(self._timeout):
                if is_query:
                    vector = await model.embed_query(text)
                else:  # as the known texts were embedded: models may tell a question from a text
                    (vector,) = await model.embed_documents([text])
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

"""Search by words and by meaning at once; where the embedding model fails, words alone decide."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence

import structlog

from core.errors import ConfigurationError, InvalidInput, ModelDown
from core.models import Hit, Kind, KnownText, Nearby
from core.models.vectors import Vector
from core.ports import Embeddings, Search, Vectors
from core.search.fusion import fuse_hits, fuse_texts
from core.search.tokens import scan

log = structlog.get_logger(__name__)

QUERY_CHARS = 4_000
DEPTH = 10
KEPT_QUERIES = 256
LONGEST_PAUSE = 60.0


class FusedSearch:
    """The `Search` port over one by words, the vectors of the same documents, and their model.

    `embeddings` is called before the first query; what it raises is raised. After a failed query
    the model is not asked for a while, which grows to a minute: a search is not to wait for it.
    """

    def __init__(
        self,
        words: Search,
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
        self._kept: OrderedDict[str, Vector] = OrderedDict()
        self._failures = 0
        self._again_at = float("-inf")

    async def search(
        self, query: str, *, tenant_id: str, agent_id: str | None, kind: Kind | None, limit: int
    ) -> Sequence[Hit]:
        """Give the items most similar to `query` by both rankings, best first."""
        vector = await self._vector(query) if limit > 0 else None
        if vector is None:
            return await self._words.search(
                query, tenant_id=tenant_id, agent_id=agent_id, kind=kind, limit=limit
            )
        depth = limit + DEPTH
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
        """Give the items of one kind most similar by words, and as many again by meaning."""
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
        """Bring the index up to what the skill store holds."""
        await self._words.refresh(tenant_id)

    async def _vector(self, query: str) -> Vector | None:
        """Give the vector of a query, None where there is none to be had, or in time."""
        text = query[:QUERY_CHARS]
        if text in self._kept:
            self._kept.move_to_end(text)
            return self._kept[text]
        model = self._embeddings()
        if self._clock() < self._again_at or next(scan(text), None) is None:
            return None
        vector = await self._asked(model, text)
        if vector is not None:
            self._keep(text, vector)
        return vector

    async def _asked(self, model: Embeddings, text: str) -> Vector | None:
        try:
            async with asyncio.timeout(self._timeout):
                vector = await model.embed_query(text)
        except InvalidInput:
            return None
        except TimeoutError:
            self._note_failure(f"no answer within {self._timeout:g} s")
            return None
        except (ModelDown, ConfigurationError) as error:
            self._note_failure(error.message)
            return None
        if self._failures:
            log.info("embeddings.recovered")
        self._failures = 0
        return vector

    def _note_failure(self, reason: str) -> None:
        pause = min(LONGEST_PAUSE, 2.0 ** min(self._failures, 10))
        self._failures += 1
        self._again_at = self._clock() + pause
        log.warning("embeddings.missed", error=reason, next_in=pause)

    def _keep(self, text: str, vector: Vector) -> None:
        self._kept[text] = vector
        if len(self._kept) > KEPT_QUERIES:
            self._kept.popitem(last=False)

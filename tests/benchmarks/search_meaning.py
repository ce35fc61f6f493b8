"""The search by words and by meaning together, with the model that needs no key."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.search import PostgresSearch
from core.adapters.postgres.vectors import PostgresVectors
from core.agent.local_embeddings import (
    BOTH_VECTORS,
    LocalEmbeddings,
    build_local,
    local_vectors,
)
from core.domain.errors import ConfigurationError
from core.knowledge.embedding_backfill import Backfill
from core.knowledge.search.fused import FusedSearch

WITH_MEANING = "with meaning"
PATIENCE = 60.0  # a busy machine must not turn a question by meaning into one by words


@asynccontextmanager
async def local_model() -> AsyncIterator[LocalEmbeddings | None]:
    """Yield the model; None, and why, where it cannot run."""
    if local_vectors() != BOTH_VECTORS:
        print("  without meaning: one of the two models cannot run here", file=sys.stderr)
        yield None
        return
    try:
        model = build_local()
    except ConfigurationError as error:
        print(f"  without meaning: {error.message}", file=sys.stderr)
        yield None
        return
    try:
        yield model
    finally:
        await model.close()


@asynccontextmanager
async def by_meaning(pool: Pool) -> AsyncIterator[FusedSearch | None]:
    """Embed all that is indexed, as a worker does, and yield the search over both."""
    async with local_model() as model:
        if model is None:
            yield None
            return
        vectors = PostgresVectors(pool, local_vectors())
        done = await Backfill(vectors, model, clock=time.monotonic).work()
        print(f"  {done} texts have a vector", file=sys.stderr, flush=True)
        yield fused(pool, vectors, model)


def fused(pool: Pool, vectors: PostgresVectors, model: LocalEmbeddings) -> FusedSearch:
    """Return the search over both, as the program builds it."""
    words = PostgresSearch(pool, None)
    return FusedSearch(
        words,
        vectors,
        lambda: model,
        timeout=PATIENCE,
        clock=time.monotonic,
        small_talk=model.small_talk,
    )

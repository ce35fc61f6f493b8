"""Search by meaning, where EMBEDDING_MODEL asks for it: the model, its vectors, the back-fill."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from core.bootstrap.stores import Stores, by_meaning, database
from core.embedding_backfill import CALL_SECONDS, Backfill
from core.fused_search import FusedSearch
from core.models.vectors import VectorBacklog
from core.ports import Embeddings
from core.postgres import migrations
from core.postgres.pool import open_pool
from core.postgres.vectors import PostgresVectors
from core.settings import Settings

if TYPE_CHECKING:
    from core.embeddings import LangChainEmbeddings


class Meaning:
    """An embedding model that is built when first used: its library takes a second to import."""

    def __init__(self, settings: Settings, model: str) -> None:
        self._settings = settings
        self._name = model
        self._built: LangChainEmbeddings | None = None

    def model(self) -> Embeddings:
        """Give the model. Raises ConfigurationError."""
        if self._built is None:
            from core.embeddings import build_embeddings

            key = self._settings.llm_proxy_api_key
            self._built = build_embeddings(
                self._name,
                proxy_url=self._settings.llm_proxy_url,
                proxy_api_key=key.get_secret_value() if key else None,
                timeout=CALL_SECONDS,
            )
        return self._built

    def beside_words(self, stores: Stores) -> Stores:
        """Give the stores with a search that goes by words and by meaning."""
        search = FusedSearch(
            stores.search,
            PostgresVectors(stores.pool, self._name),
            self.model,
            timeout=self._settings.embedding_timeout_seconds,
            clock=time.monotonic,
        )
        return replace(stores, search=search)

    def backfill(self, stores: Stores) -> Backfill:
        """Give the job that makes vectors. Raises ConfigurationError."""
        vectors = PostgresVectors(stores.pool, self._name)
        return Backfill(vectors, self.model(), clock=time.monotonic)

    async def close(self) -> None:
        """Close the model's connections, where it was built."""
        if self._built is not None:
            await self._built.close()


@asynccontextmanager
async def open_meaning(
    settings: Settings, *, offline: bool = False
) -> AsyncIterator[Meaning | None]:
    """Give search by meaning, None where it is off; a process that is `offline` asks no model."""
    if settings.embedding_model is None or offline:
        yield None
        return
    meaning = Meaning(settings, settings.embedding_model)
    try:
        yield meaning
    finally:
        await meaning.close()


async def vector_backlog(settings: Settings) -> VectorBacklog:
    """Count the documents that wait for a vector. Raises DatabaseDown, ConfigurationError."""
    with database(settings) as conninfo:
        async with open_pool(conninfo) as pool:
            await migrations.require_current(pool, vectors=by_meaning(settings))
            return await PostgresVectors(pool, settings.embedding_model or "").backlog()

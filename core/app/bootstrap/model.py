"""The configured model with its circuit breaker, and the embedding model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.adapters.postgres import migrations
from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.circuit_breaker import PostgresCircuitBreaker
from core.adapters.postgres.inbox import PostgresIntake
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import bound_by, open_pool, probe_writes
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.scoped_search import PostgresTaskMatches, ScopedSearch
from core.adapters.postgres.vectors import PostgresVectors
from core.agent.budgets import Meter
from core.agent.circuit_breaker import BreakerOptions
from core.agent.local_embeddings import BOTH_VECTORS, LOCAL, LocalEmbeddings, local_vectors
from core.app.bootstrap.stores import Stores, by_meaning, database, new_id, utc_now
from core.app.settings import OFFLINE_MODEL, Settings
from core.domain.models import Pause
from core.domain.models.feedback import is_reserved
from core.domain.models.vectors import Vector, VectorBacklog
from core.domain.ports import CircuitBreaker, Embeddings
from core.domain.tasks import over_all_tenants
from core.knowledge.embedding_backfill import CALL_SECONDS, Backfill
from core.knowledge.search.fused import FusedSearch

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from core.agent.embeddings import LangChainEmbeddings

# The longest that provider SDKs wait between two tries when the server asks them to.
_CLIENT_PAUSE = 120.0
_WRITE_SECONDS = 10.0


@dataclass(frozen=True)
class GuardedModel:
    """A chat model, the circuit breaker for all its calls, and their price.

    `is_own` if it is the one of the settings, not one that the caller of `open_app` gave.
    """

    chat: BaseChatModel
    breaker: CircuitBreaker
    meter: Meter
    is_own: bool = False

    async def probe(self) -> None:
        """Ask whether it answers, bypassing the breaker. Raises ModelDown, ConfigurationError."""
        from core.agent.model.chat_model import probe

        await probe(self.chat)


def circuit_breaker(settings: Settings, pool: Pool, *, offline: bool = False) -> CircuitBreaker:
    """Build one worker's circuit breaker for the configured model."""
    name = OFFLINE_MODEL if offline else _name(settings)
    options = BreakerOptions() if offline else _options(settings)
    return PostgresCircuitBreaker(pool, name, options, new_id=new_id, sleep=asyncio.sleep)


async def model_pause(settings: Settings) -> Pause | None:
    """Return why the circuit is open, or None. Raises DatabaseDown, ConfigurationError."""
    async with _migrated(settings) as pool:
        return await circuit_breaker(settings, pool).current_pause()


async def intake_pause(settings: Settings) -> Pause | None:
    """Return why a person paused the intake, or None. Raises DatabaseDown, ConfigurationError."""
    async with _migrated(settings) as pool:
        return await PostgresIntake(pool, Jobs(pool)).paused()


async def tenant_wall(settings: Settings) -> str:
    """Return what keeps workers to one tenant: `role`, `owner` if they own the tables, `nothing`.

    Raises DatabaseDown, ConfigurationError.
    """
    async with _migrated(settings) as pool:
        return await bound_by(pool)


async def in_the_workers_name(settings: Settings) -> Sequence[str]:
    """Return the tenants that have an agent with the worker's own id, from before it was reserved.

    Raises DatabaseDown, ConfigurationError.
    """
    async with _migrated(settings) as pool:
        with over_all_tenants():
            agents = await PostgresAgents(pool).list()
    return [agent.tenant_id for agent in agents if is_reserved(agent.id)]


async def try_writing(settings: Settings) -> None:
    """Write a row and read it again. Raises DatabaseDown, ConfigurationError."""
    async with _migrated(settings) as pool:
        await probe_writes(pool, _WRITE_SECONDS)


@asynccontextmanager
async def _migrated(settings: Settings) -> AsyncIterator[Pool]:
    with database(settings) as urls:
        async with open_pool(urls.worker) as pool:
            await migrations.require_current(pool)
            yield pool


def _name(settings: Settings) -> str:
    """Return the breaker's name: one model behind two proxies counts as two."""
    model = settings.llm_model or OFFLINE_MODEL
    proxy = urlsplit(settings.llm_proxy_url or "").netloc.rpartition("@")[2]
    return f"{model} at {proxy}" if proxy else model


def _options(settings: Settings) -> BreakerOptions:
    timeout, repeats = settings.llm_timeout_seconds, settings.llm_max_retries
    return BreakerOptions(
        failures=settings.llm_breaker_failures,
        probe_every=settings.llm_probe_seconds,
        max_concurrency=settings.llm_max_concurrency,
        requests_per_minute=settings.llm_requests_per_minute,
        longest_wait=timeout,
        longest_call=(repeats + 1) * timeout + repeats * _CLIENT_PAUSE,
    )


def vectors_of(settings: Settings) -> str:
    """Return what the database calls the vectors of the embedding model."""
    name = settings.embedding_model or ""
    return local_vectors() if name == LOCAL else name


class Meaning:
    """An embedding model, built when first used: its library takes a second to import."""

    def __init__(self, settings: Settings, model: str) -> None:
        self._settings = settings
        self._name = model
        self._built: LangChainEmbeddings | LocalEmbeddings | None = None
        self._vectors_of = vectors_of(settings)
        self._is_measured = self._vectors_of == BOTH_VECTORS

    def model(self) -> Embeddings:
        """Return the model. Raises ConfigurationError."""
        if self._built is None:
            from core.agent.embeddings import build_embeddings

            key = self._settings.llm_proxy_api_key
            self._built = build_embeddings(
                self._name,
                proxy_url=self._settings.llm_proxy_url,
                proxy_api_key=key.get_secret_value() if key else None,
                timeout=CALL_SECONDS,
            )
        return self._built

    def beside_words(self, stores: Stores) -> Stores:
        """Return the stores with a search that combines words and meaning."""
        made = copy(stores)
        fused = FusedSearch(
            stores.ranking,
            self.vectors(stores),
            self.model,
            timeout=self._settings.embedding_timeout_seconds,
            clock=time.monotonic,
            tells_near=self._is_measured,
            small_talk=self._small_talk if self._is_measured else None,
        )
        made.ranking = fused
        made.task_matches = PostgresTaskMatches(stores.pool, utc_now, fused.meant)
        made.search = ScopedSearch(made.ranking, utc_now)
        return made

    def _small_talk(self, query: Vector) -> float | None:
        built = self._built
        return built.small_talk(query) if isinstance(built, LocalEmbeddings) else None

    def backfill(self, stores: Stores) -> Backfill:
        """Return the job that makes vectors. Raises ConfigurationError."""
        return Backfill(self.vectors(stores), self.model(), clock=time.monotonic)

    def vectors(self, stores: Stores) -> PostgresVectors:
        """Return the vectors that this model made."""
        return PostgresVectors(stores.pool, self._vectors_of)

    async def close(self) -> None:
        """Close the model's connections, if it was built."""
        if self._built is not None:
            await self._built.close()


@asynccontextmanager
async def open_meaning(
    settings: Settings, *, offline: bool = False
) -> AsyncIterator[Meaning | None]:
    """Yield semantic search, None if it is off; an `offline` process uses no model of a server."""
    if settings.embedding_model is None or (offline and settings.embedding_model != LOCAL):
        yield None
        return
    meaning = Meaning(settings, settings.embedding_model)
    try:
        yield meaning
    finally:
        await meaning.close()


async def vector_backlog(settings: Settings) -> VectorBacklog:
    """Count the documents that lack a vector. Raises DatabaseDown, ConfigurationError."""
    with database(settings) as urls, over_all_tenants():
        async with open_pool(urls.worker) as pool:
            await migrations.require_current(pool, vectors=by_meaning(settings))
            return await PostgresVectors(pool, vectors_of(settings)).backlog()

"""The vectors in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.migrations import migrate
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.vectors import PostgresVectors
from core.domain.models import Kind
from core.domain.ports import Vectors
from core.knowledge.search.documents import SearchDocument
from core.testing.contracts.search import SearchIndex, memory
from core.testing.contracts.vectors import VectorsContract
from core.testing.vectors import MemoryVectors
from tests.support.search_index import PostgresIndex


class MemoryIndex:
    def __init__(self, vectors: MemoryVectors) -> None:
        self._vectors = vectors

    async def put(self, document: SearchDocument) -> None:
        self._vectors.put_document(document)

    async def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        self._vectors.drop_document(tenant_id, kind, item_id)


class TestMemory(VectorsContract):
    @pytest.fixture
    def vectors(self) -> Vectors:
        return MemoryVectors()

    @pytest.fixture
    def index(self, vectors: MemoryVectors) -> SearchIndex:
        return MemoryIndex(vectors)


class TestPostgres(VectorsContract):
    @pytest.fixture
    async def vectors(self, database: str, pool: Pool) -> Vectors:
        await migrate(database, vectors=True)
        return PostgresVectors(pool, "openai:m")

    @pytest.fixture
    def index(self, pool: Pool) -> SearchIndex:
        return PostgresIndex(pool)

    async def test_what_vectors_look_like_is_each_models_own(
        self, vectors: Vectors, index: SearchIndex, pool: Pool
    ) -> None:
        other = PostgresVectors(pool, "openai:other")
        await other.enlist()
        await index.put(memory("m", "text"))
        await vectors.begin(3, 0.5)
        for model, dimension in ((vectors, 3), (other, None)):
            batch = await model.take(9, 60)
            assert batch is not None
            assert batch.dimension == dimension

"""The vectors in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.vectors import PostgresVectors
from core.domain.ports import Vectors
from tests.contracts.suites.search import SearchIndex, memory
from tests.contracts.suites.vectors import VectorsContract
from tests.support.search_index import PostgresIndex


class TestPostgres(VectorsContract):
    @pytest.fixture
    def vectors(self, vector_pool: Pool) -> Vectors:
        return PostgresVectors(vector_pool, "openai:m")

    @pytest.fixture
    def index(self, vector_pool: Pool) -> SearchIndex:
        return PostgresIndex(vector_pool)

    async def test_what_vectors_look_like_is_each_models_own(
        self, vectors: Vectors, index: SearchIndex, vector_pool: Pool
    ) -> None:
        other = PostgresVectors(vector_pool, "openai:other")
        await other.enlist()
        await index.put(memory("m", "text"))
        await vectors.begin(3, 0.5)
        for model, dimension in ((vectors, 3), (other, None)):
            batch = await model.take(9, 60)
            assert batch is not None
            assert batch.dimension == dimension

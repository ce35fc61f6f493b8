"""The vectors in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.vectors import PostgresVectors
from core.domain.models.vectors import Embedded
from core.domain.ports import Vectors
from tests.contracts.suites.search import SearchIndex, memory
from tests.contracts.suites.vectors import EAST, VectorsContract, embed, nearest, texts
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

    async def test_of_two_models_neither_undoes_what_the_other_has_done(
        self, vectors: Vectors, index: SearchIndex, vector_pool: Pool
    ) -> None:
        other = PostgresVectors(vector_pool, "openai:other")
        await other.enlist()
        await index.put(memory("m", "text"))
        await embed(vectors, {"text": EAST})
        assert (await vectors.backlog()).waiting == 0
        assert (await other.backlog()).waiting == 1
        batch = await other.take(9, 60)
        assert texts(batch) == ["text"]
        assert batch is not None
        (pending,) = batch.documents
        await other.begin(2, 0.0)
        await other.put([Embedded(pending.document_id, pending.revision, (0.0, 1.0))])
        assert await nearest(vectors) == [("m", 1.0)]
        assert await nearest(other, (0.0, 1.0)) == [("m", 1.0)]
        assert await other.put_off("it is down", None) == 1
        await vectors.put([])
        assert await other.put_off("it is down", None) == 2
        assert await vectors.put_off("no", None) == 1
        assert (await other.backlog()).error == "it is down"
        await vectors.begin(4, 0.0)
        assert await nearest(other, (0.0, 1.0)) == [("m", 1.0)]

    async def test_a_model_that_nobody_used_for_a_day_is_forgotten(
        self, vectors: Vectors, index: SearchIndex, vector_pool: Pool
    ) -> None:
        await index.put(memory("m", "text"))
        other = PostgresVectors(vector_pool, "openai:other")
        await other.enlist()
        for hours, kept in ((23, True), (25, False)):
            async with connection(vector_pool) as conn:
                await conn.execute(
                    "UPDATE search_models SET used_at = now() - make_interval(hours => %s)"
                    " WHERE name = 'openai:other'",
                    [hours],
                )
            await vectors.enlist()
            assert (await other.take(9, 0) is not None) is kept
        assert await vectors.take(9, 0) is not None

    async def test_while_a_model_has_nothing_to_do_nothing_is_leased_to_it(
        self, vectors: Vectors, index: SearchIndex, vector_pool: Pool
    ) -> None:
        await PostgresVectors(vector_pool, "openai:other").enlist()
        await index.put(memory("m", "text"))
        await embed(vectors, {"text": EAST})
        assert await vectors.take(9, 60) is None
        await index.put(memory("n", "later"))
        assert texts(await vectors.take(9, 60)) == ["later"]

"""Contract of every embedding model; a test class supplies `embeddings`."""

from __future__ import annotations

import pytest

from core.domain.errors import InvalidInput
from core.domain.ports import Embeddings
from core.knowledge.search.vectors import cosine

TEXTS = ("환불은 결제 후 7일 안에만 승인합니다", "Invoices over 1,000,000 KRW need two approvals")


class EmbeddingsContract:
    """Inherit in a test class that defines the fixture `embeddings`."""

    async def test_vectors_have_one_dimension_and_length_1(self, embeddings: Embeddings) -> None:
        made = [*await embeddings.embed_documents(TEXTS), await embeddings.embed_query("환불")]
        assert len({len(vector) for vector in made}) == 1
        assert [cosine(vector, vector) for vector in made] == pytest.approx([1.0] * 3)

    async def test_vectors_come_in_the_order_of_the_texts(self, embeddings: Embeddings) -> None:
        one, other = await embeddings.embed_documents(TEXTS)
        again, first = await embeddings.embed_documents(TEXTS[::-1])
        assert [*first, *again] == pytest.approx([*one, *other])

    async def test_a_text_is_closest_to_itself(self, embeddings: Embeddings) -> None:
        one, other = await embeddings.embed_documents(TEXTS)
        query = await embeddings.embed_query(TEXTS[0])
        assert cosine(query, one) > 0.99
        assert cosine(query, other) < cosine(query, one)

    async def test_no_text_gives_no_vector(self, embeddings: Embeddings) -> None:
        assert list(await embeddings.embed_documents([])) == []

    async def test_text_that_json_cannot_hold_is_embedded_without_it(
        self, embeddings: Embeddings
    ) -> None:
        vectors = await embeddings.embed_documents(["환불\0규정\ud800"])
        assert len(vectors) == 1

    async def test_a_text_that_says_nothing_is_refused(self, embeddings: Embeddings) -> None:
        with pytest.raises(InvalidInput):
            await embeddings.embed_documents([TEXTS[0], ""])

"""The embedding model: a deterministic one, LangChain's over HTTP, and the one in a wheel."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.agent.embeddings import build_embeddings
from core.domain.ports import Embeddings
from core.knowledge.search.vectors import cosine
from core.testing.contracts.embeddings import TEXTS, EmbeddingsContract
from core.testing.embeddings import HashedEmbeddings
from tests.support.embedding_server import embedding_server
from tests.support.meaning import needs_the_model
from tests.support.waiting import SOON


class TestHashed(EmbeddingsContract):
    @pytest.fixture
    def embeddings(self) -> Embeddings:
        return HashedEmbeddings()


class TestProxied(EmbeddingsContract):
    @pytest.fixture
    async def embeddings(self) -> AsyncIterator[Embeddings]:
        async with embedding_server() as server:
            model = build_embeddings("my-model", proxy_url=server.url, timeout=SOON)
            yield model
            await model.close()


class TestOpenAI(EmbeddingsContract):
    @pytest.fixture
    async def embeddings(self, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Embeddings]:
        async with embedding_server() as server:
            monkeypatch.setenv("OPENAI_API_KEY", "k")
            monkeypatch.setenv("OPENAI_BASE_URL", server.url)
            model = build_embeddings("openai:text-embedding-3-small", timeout=SOON)
            yield model
            await model.close()


@needs_the_model
class TestLocal(EmbeddingsContract):
    @pytest.fixture
    async def embeddings(self) -> AsyncIterator[Embeddings]:
        model = build_embeddings("local")
        yield model
        await model.close()

    async def test_a_text_is_closest_to_itself(self, embeddings: Embeddings) -> None:
        """It embeds a question otherwise than a text, so the two are close and not equal."""
        one, other = await embeddings.embed_documents(TEXTS)
        for text, own, another in ((TEXTS[0], one, other), (TEXTS[1], other, one)):
            query = await embeddings.embed_query(text)
            assert cosine(query, own) > 0.5 + cosine(query, another)

"""The embedding model: a deterministic one, and LangChain's over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from core.agent.embeddings import build_embeddings
from core.domain.ports import Embeddings
from core.testing.contracts.embeddings import EmbeddingsContract
from core.testing.embeddings import HashedEmbeddings
from tests.support.embedding_server import embedding_server
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

"""The embedding model as configured, and its errors translated."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from langchain.embeddings import init_embeddings
from starlette.responses import JSONResponse, Response

from core.agent.embeddings import DIRECT, LangChainEmbeddings, build_embeddings
from core.domain.errors import ConfigurationError, InvalidInput, ModelDown, SkillWorkerError
from tests.support.embedding_server import EmbeddingServer, embedding_server
from tests.support.openai_server import Json, Turn, drops, error, hangs, html
from tests.support.waiting import NEVER


@asynccontextmanager
async def proxied(
    timeout: float = 5.0,
) -> AsyncIterator[tuple[LangChainEmbeddings, EmbeddingServer]]:
    async with embedding_server() as server:
        model = build_embeddings(
            "openai:my-model", proxy_url=server.url, proxy_api_key="secret", timeout=timeout
        )
        try:
            yield model, server
        finally:
            await model.close()


async def test_a_proxy_gets_name_key_and_plain_text() -> None:
    async with proxied() as (model, server):
        await model.embed_documents(["환불", "stock"])
    assert server.asked == [
        {"input": ["환불", "stock"], "model": "my-model", "encoding_format": "float"}
    ]
    assert server.keys == ["Bearer secret"]


@pytest.mark.parametrize(
    ("name", "said", "hint"),
    [
        ("text-embedding-3-small", "names no provider", "write it like openai:"),
        ("nosuch:thing", "'nosuch' is not supported", "write it like openai:"),
        ("openai:", "cannot be used", "write it like openai:"),
        ("cohere:thing", "not installed", "pip install langchain-cohere"),
        ("google_genai:thing", "not installed", "pip install langchain-google-genai"),
        ("openai:thing", "(?i)api.?key|credentials", "EMBEDDING_MODEL, its API key"),
    ],
)
def test_a_model_that_cannot_be_built_says_why_and_what_to_do(
    name: str, said: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=said) as caught:
        build_embeddings(name)
    assert "EMBEDDING_MODEL=" in caught.value.message
    assert hint in caught.value.hint


def test_another_provider_is_not_asked_for_at_the_proxy() -> None:
    with pytest.raises(ConfigurationError, match="not installed"):
        build_embeddings("mistralai:mistral-embed", proxy_url="http://localhost:1/v1")


def test_the_providers_are_those_of_langchain() -> None:
    with pytest.raises(ValueError, match="not supported") as caught:
        init_embeddings("nosuch:thing")
    listed = [line[4:].split(":")[0] for line in str(caught.value).splitlines() if "  - " in line]
    assert {*listed} == DIRECT | {"openai"}


def _answer(*vectors: object) -> Turn:
    data = [
        {"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)
    ]
    return lambda _asked: JSONResponse({"object": "list", "data": data, "model": "m", "usage": {}})


def _empty(_asked: Json) -> Response:
    return Response(b"")


@pytest.mark.parametrize(
    ("turn", "kind"),
    [
        (error(401), ConfigurationError),
        (error(404), ConfigurationError),
        (error(400, "no such model"), InvalidInput),
        (error(413), InvalidInput),
        (error(429), ModelDown),
        (error(503), ModelDown),
        (html, ModelDown),
        (_empty, ModelDown),
        (drops, ModelDown),
        (hangs, ModelDown),
        (_answer(), ModelDown),
        (_answer([1.0]), ModelDown),
        (_answer([1.0, 0.0], [1.0]), ModelDown),
        (_answer(["a"], ["b"]), ModelDown),
        (_answer([0.0, 0.0], [0.0, 1.0]), InvalidInput),
        (_answer([0.5] * 16_001, [0.5] * 16_001), ConfigurationError),
    ],
)
async def test_what_goes_wrong_is_sorted(turn: Turn, kind: type[SkillWorkerError]) -> None:
    async with proxied(timeout=0.3 if turn is hangs else NEVER) as (model, server):
        server.instead = turn
        with pytest.raises(kind) as caught:
            await model.embed_documents(["환불", "stock"])
    assert caught.type is kind
    assert "LLM_MODEL" not in caught.value.message + caught.value.hint


async def test_a_rate_limit_says_when_to_come_back_and_nothing_is_repeated() -> None:
    async with proxied() as (model, server):
        server.instead = error(429, retry_after="17")
        with pytest.raises(ModelDown) as caught:
            await model.embed_query("환불")
        assert len(server.asked) == 1
    assert caught.value.retry_after == 17.0


async def test_a_server_that_is_not_there_is_named() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        model = build_embeddings("m", proxy_url=url, timeout=NEVER)
        with pytest.raises(ModelDown, match=r"embedding model at http://127\.0\.0\.1"):
            await model.embed_query("환불")
        await model.close()

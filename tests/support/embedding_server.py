"""An OpenAI-compatible embeddings server on loopback whose vectors are hashed terms."""

from __future__ import annotations

import base64
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.adapters.embedded.http_server import run_server
from core.domain.errors import InvalidInput
from core.testing.embeddings import HashedEmbeddings
from tests.support.openai_server import Turn, error

MOST_INPUTS = 2_048


class EmbeddingServer:
    """Answers with `instead` while it is set; remembers the texts of each call and the keys."""

    def __init__(self, senses: Mapping[str, str] | None, dimension: int) -> None:
        self.url = ""
        self.model = HashedEmbeddings(senses, dimension=dimension, longest=8_000)
        self.instead: Turn | None = None
        self.asked: list[dict[str, object]] = []
        self.keys: list[str] = []

    @property
    def texts(self) -> list[str]:
        """Return all texts that were answered with vectors, in order."""
        return [text for call in self.model.asked for text in call]

    async def embed(self, request: Request) -> Response:
        asked = await request.json()
        self.asked.append(asked)
        self.keys.append(request.headers.get("authorization", ""))
        if self.instead is not None:
            return self.instead(asked)
        given = asked["input"]
        texts = [given] if isinstance(given, str) else given
        if not 0 < len(texts) <= MOST_INPUTS or not all(isinstance(t, str) for t in texts):
            return error(400, "input is invalid")(asked)
        try:
            vectors = await self.model.embed_documents(texts)
        except InvalidInput as refused:
            return error(400, refused.message)(asked)
        floats = asked.get("encoding_format", "float") == "float"
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": [*vector] if floats else _base64(vector),
            }
            for index, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": 8, "total_tokens": 8}
        return JSONResponse(
            {"object": "list", "data": data, "model": asked["model"], "usage": usage}
        )


def _base64(vector: object) -> str:
    numbers = list(vector)  # type: ignore[call-overload]
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


@asynccontextmanager
async def embedding_server(
    senses: Mapping[str, str] | None = None, *, dimension: int = 256
) -> AsyncIterator[EmbeddingServer]:
    """Serve while the context is open; `url` is a value for LLM_PROXY_URL."""
    server = EmbeddingServer(senses, dimension)
    app = Starlette(routes=[Route("/v1/embeddings", server.embed, methods=["POST"])])
    async with run_server(app) as base:
        server.url = f"{base}/v1"
        yield server

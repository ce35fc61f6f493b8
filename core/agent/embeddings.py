"""The embedding model: any LangChain provider, built from settings, with its errors translated."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.agent.local_embeddings import LOCAL, LocalEmbeddings, build_local
from core.agent.model.calls import translate_model_errors
from core.domain.errors import ConfigurationError, InvalidInput, ModelDown, SkillWorkerError
from core.domain.messages import Message
from core.domain.models.vectors import Vector
from core.knowledge.search.vectors import MOST_DIMENSIONS, unit

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from openai import DefaultAsyncHttpxClient

Close = Callable[[], Awaitable[None]]
_NAMES = "the model", "the embedding model"
_FORM = Message("embedding.hint_form")
_HINT = Message("embedding.hint_check")
# The providers of `langchain.embeddings.init_embeddings` except `openai`, whose protocol proxies
# speak: a name with one of these prefixes bypasses the proxy.
DIRECT = frozenset(
    {
        "azure_ai",
        "azure_openai",
        "bedrock",
        "cohere",
        "google_genai",
        "google_vertexai",
        "huggingface",
        "mistralai",
        "ollama",
    }
)


class LangChainEmbeddings:
    """The `Embeddings` port over a LangChain model; `close` releases its connections."""

    def __init__(self, model: Embeddings, *, timeout: float, close: Close | None = None) -> None:
        self._model = model
        self._timeout = timeout
        self._close = close

    async def embed_query(self, text: str) -> Vector:
        with _translated():
            async with asyncio.timeout(self._timeout):
                found = await self._model.aembed_query(_sendable(text))
        return _checked([found], 1)[0]

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        if not texts:
            return []
        with _translated():
            async with asyncio.timeout(self._timeout):
                found = await self._model.aembed_documents([_sendable(text) for text in texts])
        return _checked(found, len(texts))

    async def close(self) -> None:
        """Close the connections opened for the model."""
        if self._close is not None:
            await self._close()


def build_embeddings(
    model: str,
    *,
    proxy_url: str | None = None,
    proxy_api_key: str | None = None,
    timeout: float = 60.0,
) -> LangChainEmbeddings | LocalEmbeddings:
    """Build the embedding model that `EMBEDDING_MODEL` names; `timeout` is in seconds a call.

    `local` is the model of the extra `meaning`, which runs in this process. Others are
    `openai:text-embedding-3-small`, `ollama:bge-m3`, … as LangChain writes them. With `proxy_url`
    the name goes to that OpenAI-compatible server, unless it names another LangChain provider.
    Failed calls are not retried here. Raises ConfigurationError.
    """
    if model == LOCAL:
        return build_local()
    provider, _, name = model.partition(":")
    try:
        if proxy_url and not (name and provider in DIRECT):
            return _proxied(model.removeprefix("openai:"), proxy_url, proxy_api_key, timeout)
        return _provided(model, timeout)
    except ImportError as error:
        raise ConfigurationError(
            Message("embedding.no_package", model=model, why=error),
            hint=Message("model.hint_pip", package=_package(error, provider)),
        ) from error
    except Exception as error:  # provider constructors raise anything
        raise _unusable(model, error) from error


def _proxied(name: str, url: str, api_key: str | None, timeout: float) -> LangChainEmbeddings:
    from langchain_openai import OpenAIEmbeddings
    from pydantic import SecretStr

    client = _http_client()
    model = OpenAIEmbeddings(
        model=name,
        openai_api_base=url,
        openai_api_key=SecretStr(api_key or "none"),
        openai_proxy=None,
        http_async_client=client,
        request_timeout=timeout,
        max_retries=0,
        check_embedding_ctx_length=False,
        # The client asks for base64 by default, which many OpenAI-compatible servers lack.
        model_kwargs={"encoding_format": "float"},
    )
    return LangChainEmbeddings(model, timeout=timeout, close=client.aclose)


def _provided(model: str, timeout: float) -> LangChainEmbeddings:
    from langchain.embeddings import init_embeddings

    provider, _, name = model.partition(":")
    if not name:
        raise ValueError("it names no provider and model")
    if provider != "openai":
        return LangChainEmbeddings(init_embeddings(model), timeout=timeout)
    client = _http_client()
    built = init_embeddings(
        model,
        http_async_client=client,
        timeout=timeout,
        max_retries=0,
        # The token count would download a vocabulary, and the texts are short enough.
        check_embedding_ctx_length=False,
    )
    return LangChainEmbeddings(built, timeout=timeout, close=client.aclose)


def _http_client() -> DefaultAsyncHttpxClient:
    """Return a connection pool owned by this model, so that it can be closed."""
    from openai import DefaultAsyncHttpxClient

    return DefaultAsyncHttpxClient()


def _package(error: ImportError, provider: str) -> str:
    missing = error.name or f"langchain-{provider}"
    return missing.partition(".")[0].replace("_", "-")


def _unusable(model: str, error: Exception) -> ConfigurationError:
    said, *_ = str(error).splitlines() or [type(error).__name__]
    form = "not supported" in said or "names no provider" in said
    return ConfigurationError(
        Message("embedding.unusable", model=model, why=said),
        hint=_FORM if form else _HINT,
    )


def _sendable(text: str) -> str:
    """Return text without what UTF-8 JSON cannot carry: NUL and lone surrogates."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


@contextmanager
def _translated() -> Iterator[None]:
    """Raise ModelDown for transient errors, else ConfigurationError or InvalidInput."""
    try:
        with translate_model_errors():
            yield
    except ModelDown as error:
        raise ModelDown(
            _of_embedding(error.message), hint=_HINT, retry_after=error.retry_after
        ) from error
    except ConfigurationError as error:
        raise ConfigurationError(
            Message("embedding.wrong", why=error.message), hint=_HINT
        ) from error
    except SkillWorkerError:
        raise
    except Exception as error:  # provider clients raise anything
        raise ModelDown(Message("embedding.failed", why=error), hint=_HINT) from error


def _of_embedding(said: str) -> str:
    if not isinstance(said, Message):
        return said.replace(*_NAMES, 1)
    return Message.of(said.code, said.english.replace(*_NAMES, 1), said.parameters)


def _checked(found: Sequence[Sequence[float]], wanted: int) -> list[Vector]:
    """Return the vectors, normalised. Raises ModelDown, InvalidInput or ConfigurationError."""
    dimensions = {len(vector) for vector in found}
    if len(found) != wanted or len(dimensions) != 1:
        sizes = ", ".join(map(str, sorted(dimensions))) or "0"
        raise ModelDown(
            Message("embedding.unreadable", n=len(found), dimensions=sizes, texts=wanted),
            hint=_HINT,
        )
    if max(dimensions) > MOST_DIMENSIONS:
        raise ConfigurationError(Message("embedding.dimensions", most=MOST_DIMENSIONS), hint=_HINT)
    try:
        return [unit(vector) for vector in found]
    except ValueError as error:
        raise InvalidInput(Message("embedding.of_text", why=error)) from error

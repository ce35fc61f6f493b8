"""A call of a model as others see it: its span, and provider errors, transient or permanent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAuthenticationError,
    ModelError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
)
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from pydantic import JsonValue

from core.domain import tracing
from core.domain.errors import ConfigurationError, InvalidInput, ModelDown, SkillWorkerError
from core.domain.http_retry import passes, retry_after
from core.domain.messages import Message
from core.domain.ports.tracing import Attributes

_OURS_TO_FIX = frozenset({401, 403, 404})
_HINT = Message("model.hint_address")
# HTTP clients whose errors some providers let through untranslated.
_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "grpc", "openai"})
# Raised by provider clients on a body that is no completion: HTML, nothing at all.
_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, IndexError)
# What the conventions call the providers that LangChain calls otherwise.
_PROVIDERS = {
    "amazon_bedrock": "aws.bedrock",
    "azure": "azure.ai.openai",
    "google_genai": "gcp.gen_ai",
    "google_vertexai": "gcp.vertex_ai",
    "mistral": "mistral_ai",
    "mistralai": "mistral_ai",
    "moonshot": "moonshot_ai",
    "xai": "x_ai",
}
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


@contextmanager
def translate_model_errors() -> Iterator[None]:
    """Raise ModelDown for transient errors, else ConfigurationError or InvalidInput.

    Transient: 408, 409, 425, 429, 5xx, time-outs, network errors and unreadable answers.
    """
    try:
        yield
    except SkillWorkerError:
        raise
    except Exception as error:
        translated = _translated(error)
        if translated is None:
            raise
        raise translated from error


def _translated(error: Exception) -> SkillWorkerError | None:
    if isinstance(error, ContextOverflowError):
        return InvalidInput(_says(error), hint=Message("model.too_long"))
    status = _status(error)
    if status >= 400:
        return _by_status(status, error)
    if isinstance(error, ModelError) and not error.is_retryable:
        return _by_class(error)
    if _is_transport(error):
        return ModelDown(
            Message("model.unreachable", address=_address(error), text=_says(error)),
            hint=_HINT,
        )
    if isinstance(error, _UNREADABLE) or status:
        return ModelDown(Message("model.unreadable", text=_says(error)))
    return None


def _by_status(status: int, error: Exception) -> SkillWorkerError:
    message = Message("model.answered", status=status, text=_says(error))
    if passes(status):
        return ModelDown(message, retry_after=retry_after(_headers(error)))
    if status in _OURS_TO_FIX:
        return ConfigurationError(message, hint=Message("model.check_with_proxy"))
    return InvalidInput(message)


def _by_class(error: ModelError) -> SkillWorkerError:
    if isinstance(
        error, ModelAuthenticationError | ModelPermissionDeniedError | ModelNotFoundError
    ):
        return ConfigurationError(_says(error), hint=Message("model.check"))
    return InvalidInput(Message("model.refused", text=_says(error)))


def _is_transport(error: Exception) -> bool:
    library = type(error).__module__.partition(".")[0]
    return isinstance(error, ModelError | OSError) or library in _TRANSPORTS


def _address(error: Exception) -> str:
    """Return ` at http://host:port` of the failed request, or an empty text."""
    try:
        url = urlsplit(str(getattr(error, "request").url))  # noqa: B009 - most have none
    except (AttributeError, RuntimeError, ValueError):
        return ""
    if not url.netloc:
        return ""
    address = f"{url.scheme}://{url.netloc.rpartition('@')[2]}"
    return Message("model.at_address", address=address)


def _status(error: Exception) -> int:
    """Return the HTTP status of an error, or 0."""
    for holder in (error, getattr(error, "response", None)):
        status = getattr(holder, "status_code", None)
        if isinstance(status, int):
            return status
    return 0


def _headers(error: Exception) -> Mapping[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return headers if isinstance(headers, Mapping) else {}


def _says(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 500 else f"{text[:499]}…"


@contextmanager
def asking(
    model: BaseChatModel, messages: Sequence[BaseMessage], thread: str | None = None
) -> Iterator[None]:
    """Make the block, which asks a model, a span; `answered` adds what came of it."""
    if not tracing.is_on():
        yield
        return
    provider, name = named(model)
    with tracing.chat(provider=provider, model=name):
        tracing.note({"gen_ai.conversation.id": thread})
        tracing.content("gen_ai.system_instructions", lambda: _parts(_system(messages)))
        tracing.content("gen_ai.input.messages", lambda: _told(messages))
        yield


def answered(message: AIMessage) -> None:
    """Add an answer to the span of its call."""
    if not tracing.is_on():
        return
    told = message.response_metadata
    ends = [told.get(key) for key in ("finish_reason", "stop_reason", "done_reason")]
    reasons = [str(end)[:100] for end in ends if end]
    tracing.note({"gen_ai.response.finish_reasons": reasons or None, **_usage(message)})
    name = told.get("model_name") or told.get("model")
    tracing.note({"gen_ai.response.model": name if isinstance(name, str) else None})
    tracing.content("gen_ai.output.messages", lambda: _told([message]))


def named(model: BaseChatModel) -> tuple[str, str]:
    """Return provider and name of a model."""
    told = model._get_ls_params()
    provider = str(told.get("ls_provider") or tracing.UNKNOWN)
    return _PROVIDERS.get(provider, provider), str(told.get("ls_model_name") or provider)


def _usage(message: AIMessage) -> Attributes:
    counted = message.usage_metadata
    if counted is None:
        return {}
    cached = (counted.get("input_token_details") or {}).get("cache_read")
    counts = {
        "gen_ai.usage.input_tokens": counted["input_tokens"],
        "gen_ai.usage.output_tokens": counted["output_tokens"],
        "gen_ai.usage.cache_read.input_tokens": cached or None,
    }
    # As the provider sent them, which may be anything.
    return {name: n for name, n in counts.items() if isinstance(n, int) and 0 <= n < 2**53}


def _system(messages: Iterable[BaseMessage]) -> list[BaseMessage]:
    return [message for message in messages if isinstance(message, SystemMessage)]


def _told(messages: Iterable[BaseMessage]) -> JsonValue:
    return [
        {"role": _ROLES.get(message.type, message.type), "parts": _parts([message])}
        for message in messages
        if not isinstance(message, SystemMessage)
    ]


def _parts(messages: Iterable[BaseMessage]) -> list[JsonValue]:
    return [part for message in messages for part in _parts_of(message)]


def _parts_of(message: BaseMessage) -> Iterator[JsonValue]:
    text = str(message.text)
    if isinstance(message, ToolMessage):
        yield {"type": "tool_call_response", "id": message.tool_call_id, "response": text}
        return
    if text:
        yield {"type": "text", "content": text}
    for call in message.tool_calls if isinstance(message, AIMessage) else ():
        yield {
            "type": "tool_call",
            "id": call["id"],
            "name": call["name"],
            "arguments": call["args"],
        }

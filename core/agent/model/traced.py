"""What a span of a model call tells: who was asked, what it cost and, where wanted, the words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from pydantic import JsonValue

from core.domain import tracing
from core.domain.ports.tracing import Attributes

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

"""The chat model: built from settings and asked for structured output."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Generic, Literal, TypeVar

import structlog
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import InputTokenDetails, UsageMetadata
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from core.agent.model.calls import answered, asking, translate_model_errors
from core.agent.prices import Price, tokens_in
from core.domain.errors import ConfigurationError, InvalidInput
from core.domain.input_formats.text import explain
from core.domain.messages import Message, joined
from core.domain.models import Usage
from core.domain.models.base import plain
from core.domain.text import clean, one_line, shorten, storable
from core.safety.masking import masked_call

log = structlog.get_logger(__name__)

_COST = "skill_worker_cost"  # in `response_metadata`, which no provider is sent back


def billed(message: AIMessage, price: Price | None) -> AIMessage:
    """Return the message with its counts made plausible and its cost on it.

    Prices may have changed when costs are summed.
    """
    if message.usage_metadata is None:
        return message
    told = _counted(message.usage_metadata)
    message = message.model_copy(update={"usage_metadata": told})
    if price is None:
        return message
    details = told.get("input_token_details") or {}
    cached = details.get("cache_read") or 0
    cost = price.of(told["input_tokens"], told["output_tokens"], cached)
    metadata = {**message.response_metadata, _COST: plain(cost)}
    return message.model_copy(update={"response_metadata": metadata})


def _counted(told: UsageMetadata) -> UsageMetadata:
    """Return counts of tokens as whole numbers that a call can have, noting any other in the log.

    Servers that speak a provider's protocol send fractions, texts and absurd numbers.
    """
    cached = (told.get("input_token_details") or {}).get("cache_read") or 0
    given = {"input": told["input_tokens"], "output": told["output_tokens"], "cached": cached}
    counts = {name: tokens_in(count) for name, count in given.items()}
    if counts == given:
        return told
    log.warning("tokens.odd", **{name: repr(count)[:80] for name, count in given.items()})
    return UsageMetadata(
        input_tokens=counts["input"],
        output_tokens=counts["output"],
        total_tokens=counts["input"] + counts["output"],
        input_token_details=InputTokenDetails(cache_read=counts["cached"]),
    )


def usage_of(message: BaseMessage) -> Usage:
    """Return the usage of one message: a call, its cost, and the tokens the provider reports."""
    if not isinstance(message, AIMessage):
        return Usage()
    told = message.usage_metadata
    return Usage(
        model_calls=1,
        input_tokens=told["input_tokens"] if told else 0,
        output_tokens=told["output_tokens"] if told else 0,
        cost=Decimal(message.response_metadata.get(_COST, "0")),
    )


M = TypeVar("M", bound=BaseModel)
ToolSchema = dict[str, JsonValue]

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
LAST_WORDS_CHARS = 300
_TOOL_SCHEMA = TypeAdapter[ToolSchema](ToolSchema)


_PARTED = {"nudges", "tools"}  # read heading by heading
# Prompts that stand in for ours while something is tried, by name.
_INSTEAD: ContextVar[Mapping[str, str]] = ContextVar("_INSTEAD", default=MappingProxyType({}))


def prompt(name: str) -> str:
    """Return the text of `prompts/<name>.md`, or what stands in for it here."""
    return _INSTEAD.get().get(name) or _own_prompt(name)


@lru_cache
def _own_prompt(name: str) -> str:
    return files("core.agent").joinpath("prompts", f"{name}.md").read_text(encoding="utf-8").strip()


def prompt_sections(name: str) -> Mapping[str, str]:
    """Return the texts under the `## headings` of `prompts/<name>.md`."""
    return _sections(prompt(name))


@lru_cache
def _sections(text: str) -> Mapping[str, str]:
    parts = [part.strip() for part in _SECTION.split(text)[1:]]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@contextmanager
def with_prompts(folder: Path) -> Iterator[None]:
    """Use the prompts of a folder, `<name>.md`, in place of ours while the block runs.

    Those that it lacks stay. Raises InvalidInput for a file that is none of ours, is empty, cannot
    be read, or lacks a heading that ours has.
    """
    token = _INSTEAD.set(dict(map(_read_prompt, _prompts_in(folder))))
    try:
        yield
    finally:
        _INSTEAD.reset(token)


def _prompts_in(folder: Path) -> Sequence[Path]:
    found = sorted(folder.glob("*.md"))
    if not found:
        names = ", ".join(f"{name}.md" for name in prompt_names())
        raise InvalidInput(
            Message("prompts.none", folder=folder), hint=Message("prompts.hint", names=names)
        )
    return found


def prompt_names() -> Sequence[str]:
    """Return the names of our prompts."""
    there = files("core.agent").joinpath("prompts").iterdir()
    return sorted(file.name.removesuffix(".md") for file in there if file.name.endswith(".md"))


def _read_prompt(path: Path) -> tuple[str, str]:
    if path.stem not in prompt_names():
        names = ", ".join(f"{name}.md" for name in prompt_names())
        raise InvalidInput(
            Message("prompts.unknown", file=path), hint=Message("prompts.hint", names=names)
        )
    try:
        text = path.read_text(encoding="utf-8").strip()
    except UnicodeDecodeError as error:
        raise InvalidInput(
            Message("file.not_utf8", path=path), hint=Message("hint.utf8")
        ) from error
    except OSError as error:
        raise InvalidInput(Message("prompts.unreadable", file=path, why=error)) from error
    missing = _headings(_own_prompt(path.stem)) - _headings(text) if path.stem in _PARTED else set()
    if missing or not text:
        what = ", ".join(f"## {name}" for name in sorted(missing)) or "any text"
        raise InvalidInput(Message("prompts.lacks", file=path, what=what))
    return path.stem, text


def _headings(text: str) -> set[str]:
    return {part.strip() for part in _SECTION.split(text)[1::2]}


def build_chat_model(
    model: str,
    *,
    proxy_url: str | None = None,
    proxy_api_key: str | None = None,
    timeout: float = 120.0,
    max_retries: int = 2,
) -> BaseChatModel:
    """Build the chat model that `LLM_MODEL` names; `timeout` is in seconds a call.

    `openai:gpt-4o`, `anthropic:…`, `ollama:…` as LangChain writes them, or `offline`. With
    `proxy_url` the name goes to that OpenAI-compatible server. Raises ConfigurationError.
    """
    if not model.strip():
        raise ConfigurationError(Message("model.unset"), hint=Message("model.hint_set"))
    if model == "offline":
        from core.agent.offline.model import OfflineChatModel

        return OfflineChatModel()
    if proxy_url:
        from core.agent.model.compatible import openai_model

        name, key = model.removeprefix("openai:"), proxy_api_key or "none"
        return openai_model(
            name, base_url=proxy_url, api_key=key, timeout=timeout, max_retries=max_retries
        )
    return _provided(model, timeout, max_retries)


def _provided(model: str, timeout: float, max_retries: int) -> BaseChatModel:
    provider, _, name = model.partition(":")
    if not name:
        raise ConfigurationError(
            Message("model.no_provider_named", model=model),
            hint=Message("model.hint_write"),
        )
    try:
        return _with_key(provider, _built(model, provider, name, timeout, max_retries))
    except ImportError as error:
        raise ConfigurationError(
            Message("model.no_package", model=model, why=error),
            hint=Message("model.hint_pip", package=_package(provider)),
        ) from error
    except ConfigurationError:
        raise
    except ValueError as error:
        if "model_provider" in str(error):
            raise _no_provider(model, provider) from None
        raise _unusable(model, error) from error
    except Exception as error:  # provider constructors raise anything
        raise _unusable(model, error) from error


def _built(model: str, provider: str, name: str, timeout: float, max_retries: int) -> BaseChatModel:
    """Build a provider's model. Raises what its package raises."""
    if provider == "openai":
        from core.agent.model.compatible import openai_model

        return openai_model(name, timeout=timeout, max_retries=max_retries)
    from langchain.chat_models import init_chat_model

    if provider == "ollama":  # ChatOllama takes it for its client
        return init_chat_model(model, client_kwargs={"timeout": timeout})
    built = init_chat_model(model, timeout=timeout, max_retries=max_retries)
    if provider == "anthropic":
        from openai import DefaultAsyncHttpxClient

        # A pool of its own: the one that LangChain shares could not be closed.
        own = getattr(built, "_async_client").copy(http_client=DefaultAsyncHttpxClient())  # noqa: B009
        vars(built)["_async_client"] = own
    return built


def _no_provider(model: str, provider: str) -> ConfigurationError:
    return ConfigurationError(
        Message("model.no_provider", model=model, provider=provider),
        hint=Message("model.hint_form"),
    )


def _unusable(model: str, error: Exception) -> ConfigurationError:
    said, *_ = str(error).splitlines() or [type(error).__name__]
    return ConfigurationError(
        Message("model.unusable", model=model, why=said),
        hint=Message("model.hint_key"),
    )


async def close_chat_model(model: BaseChatModel) -> None:
    """Close the connections `build_chat_model` opened for a model."""
    client = getattr(model, "root_async_client", None) or getattr(model, "_async_client", None)
    if client is not None:
        await client.close()


def _with_key(provider: str, model: BaseChatModel) -> BaseChatModel:
    field = f"{provider}_api_key"
    if hasattr(model, field) and not _secret(getattr(model, field)):
        raise ConfigurationError(
            Message("model.no_key", provider=provider),
            hint=Message("model.hint_field", name=field.upper()),
        )
    return model


def _secret(value: object) -> bool:
    return bool(value.get_secret_value()) if hasattr(value, "get_secret_value") else bool(value)


def _package(provider: str) -> str:
    if provider in {"anthropic", "ollama"}:
        return f"'skill-worker[{provider}]'"
    return f"langchain-{provider.replace('_', '-')}"


@lru_cache
def tool_schema(schema: type[BaseModel], name: str = "", description: str = "") -> ToolSchema:
    """Return a schema as a tool in OpenAI's form, which every LangChain provider accepts.

    Cached: the conversion takes 1 to 20 ms a schema.
    """
    tool = _TOOL_SCHEMA.validate_python(convert_to_openai_tool(schema))
    function = tool["function"]
    if isinstance(function, dict):
        function |= {"name": name or schema.__name__}
        function |= {"description": description} if description else {}
    return tool


@dataclass(frozen=True)
class StructuredReply(Generic[M]):
    """A structured answer: `value`, or None and the problem in `error`.

    `raw` is what to store: `{"calls": [{"name", "args"}], "text": …}`.
    """

    value: M | None
    raw: JsonValue
    error: str
    usage: Usage


async def probe(model: BaseChatModel) -> None:
    """Ask for one word, to probe the model. Raises ModelDown and the permanent kinds."""
    with translate_model_errors():
        await model.ainvoke("Answer with one word: ready")


async def ask_structured(
    model: BaseChatModel,
    messages: Sequence[BaseMessage],
    *schemas: type[M],
    price: Price | None = None,
    keeps_raw: bool = False,
) -> StructuredReply[M]:
    """Ask for one call of one of `schemas`; secrets in the answer are masked, unless `keeps_raw`.

    Raises ModelDown and the permanent kinds.
    """
    with asking(model, messages), translate_model_errors():
        bound = model.bind_tools([tool_schema(schema) for schema in schemas], tool_choice="any")
        message = await bound.ainvoke(list(messages))
        answered(message)
    raw = _raw(message) if keeps_raw else masked_call(_raw(message))
    value, error = parse_structured(raw, *schemas)
    return StructuredReply(value, raw, error, usage_of(billed(message, price)))


def _raw(message: AIMessage) -> JsonValue:
    calls: list[JsonValue] = [
        {"name": call["name"], "args": call["args"]} for call in message.tool_calls
    ]
    calls += [
        {"name": call["name"], "malformed": call["args"]} for call in message.invalid_tool_calls
    ]
    raw: dict[str, JsonValue] = {"calls": calls, "text": words_of(message)}
    if (stop := stopped_by(message)) is not None:
        raw["stopped"] = stop
    return storable(clean(raw))


# How providers call it that a model would not answer, and that its answer reached its limit.
_REFUSALS = {"content_filter", "refusal", "safety", "prohibited_content"}
_LIMITS = {"length", "max_tokens", "model_context_window_exceeded"}
Stop = Literal["refusal", "limit"]


def stopped_by(message: AIMessage) -> Stop | None:
    """Return what ended an answer before its time: a refusal, or its limit of tokens."""
    if _refusal(message):
        return "refusal"
    told = message.response_metadata
    ends = [told.get(key) for key in ("finish_reason", "stop_reason", "done_reason")]
    reasons = {str(end).lower() for end in ends if end}
    if reasons & _REFUSALS:
        return "refusal"
    return "limit" if reasons & _LIMITS else None


def words_of(message: AIMessage) -> str:
    """Return what a model said beside its calls: its text, else the words of its refusal."""
    return str(message.text).strip() or _refusal(message)


def _refusal(message: AIMessage) -> str:
    parts = message.content if isinstance(message.content, list) else []
    told = [part.get("refusal") for part in parts if isinstance(part, dict)]
    told.append(message.additional_kwargs.get("refusal"))
    return " ".join(text for text in told if isinstance(text, str)).strip()


def unanswered(stop: Stop | str | None, text: str, otherwise: Message) -> Message:
    """Return why an answer without a call is of no use; `otherwise` is said of mere prose."""
    if stop == "refusal":
        return Message("reply.refusal")
    if stop == "limit":
        return Message("reply.limit")
    return otherwise if text.strip() else Message("reply.empty")


def parse_structured(raw: JsonValue, *schemas: type[M]) -> tuple[M | None, str]:
    """Parse a stored answer: (value, "") or (None, the problem in words for the model)."""
    data = raw if isinstance(raw, dict) else {}
    calls, text, stop = data.get("calls"), str(data.get("text") or ""), data.get("stopped")
    if isinstance(calls, list) and calls:
        value, error = _from_calls(calls, schemas)
        is_cut = error and stop == "limit"
        return value, joined([error, Message("reply.limit")]) if is_cut else error
    # Some models answer a forced tool call in plain or fenced JSON.
    return _from_text(text, str(stop or ""), schemas)


def _from_calls(calls: list[JsonValue], schemas: Sequence[type[M]]) -> tuple[M | None, str]:
    names = " or ".join(schema.__name__ for schema in schemas)
    if len(calls) > 1:
        return None, Message("reply.one_call", names=names, n=len(calls))
    call = calls[0] if isinstance(calls[0], dict) else {}
    if "malformed" in call:
        return None, joined([Message("reply.cut_off"), *last_words(str(call["malformed"]))])
    for schema in schemas:
        if schema.__name__ == call.get("name"):
            return _validated(call.get("args"), schema)
    return None, Message("reply.no_tool", tool=repr(call.get("name")), names=names)


def _from_text(text: str, stop: str, schemas: Sequence[type[M]]) -> tuple[M | None, str]:
    fenced = _FENCE.search(text)
    try:
        data: JsonValue = json.loads(fenced.group(1) if fenced else text)
    except ValueError:
        names = " or ".join(schema.__name__ for schema in schemas)
        why = unanswered(stop, text, Message("reply.prose", names=names))
        return None, joined([why, *last_words(text)])
    errors: list[str] = []
    for schema in schemas:
        value, error = _validated(data, schema)
        if value is not None:
            return value, ""
        errors.append(Message("reply.of_schema", schema=schema.__name__, why=error))
    return None, joined(errors)


def _validated(data: JsonValue, schema: type[M]) -> tuple[M | None, str]:
    try:
        return schema.model_validate(data), ""
    except ValidationError as error:
        return None, explain(error)


def last_words(text: str) -> Sequence[Message]:
    """Return what a model said last, quoted; nothing if it said nothing."""
    said = shorten(one_line(text), LAST_WORDS_CHARS)
    return [Message("reply.last_words", text=said)] if said else []

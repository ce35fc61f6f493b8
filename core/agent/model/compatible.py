"""OpenAI's protocol as other servers speak it: what they send differently costs no answer."""

from __future__ import annotations

import json
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Protocol, TypeAlias

import structlog
from langchain_core.messages import AIMessage, InvalidToolCall
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from openai import DefaultAsyncHttpxClient
from pydantic import JsonValue, SecretStr, TypeAdapter

from core.agent.prices import tokens_in
from core.domain import tracing

if TYPE_CHECKING:
    import openai

log = structlog.get_logger(__name__)

Json: TypeAlias = dict[str, JsonValue]
_JSON = TypeAdapter[Json](Json)
_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")


class CompatibleChatModel(ChatOpenAI):
    """Reads answers that the stock class would refuse as a whole.

    Those are calls whose arguments are JSON but no object, which become invalid calls, and counts
    of tokens that are no whole numbers.
    """

    def _create_chat_result(
        self,
        response: dict[str, object] | str | openai.BaseModel,
        generation_info: Json | None = None,
    ) -> ChatResult:
        if isinstance(response, str):  # a page of HTML, which is refused with its beginning
            return super()._create_chat_result(response, generation_info)  # type: ignore[arg-type]
        if not isinstance(response, dict):
            response = response.model_dump(mode="json", warnings=False)
        answer = _JSON.validate_python(response)
        if isinstance(usage := answer.get("usage"), dict):
            answer["usage"] = _whole(usage)
        choices = answer.get("choices")
        told = [_message(choice) for choice in choices] if isinstance(choices, list) else []
        aside = [_set_aside(message) for message in told]
        result = super()._create_chat_result(answer, generation_info)
        for generation, message, calls in zip(result.generations, told, aside, strict=False):
            made = generation.message
            if isinstance(made, AIMessage):
                made.invalid_tool_calls.extend(calls)
                if refusal := message.get("refusal"):
                    made.additional_kwargs["refusal"] = refusal
        return result


def openai_model(
    name: str,
    *,
    timeout: float,
    max_retries: int,
    base_url: str | None = None,
    api_key: str | None = None,
) -> ChatOpenAI:
    """Build a model of OpenAI, or of a server that speaks its protocol; see `close_chat_model`."""
    given = {} if api_key is None else {"api_key": SecretStr(api_key)}  # else its own variable
    return CompatibleChatModel(
        model=name,
        base_url=base_url,
        # A pool of its own: the one that LangChain shares cannot be closed.
        http_async_client=DefaultAsyncHttpxClient(event_hooks={"request": [_take_trace_along]}),
        timeout=timeout,
        max_retries=max_retries,
        **given,
    )


class _Request(Protocol):
    """A request of the HTTP client, of which openai's releases have different ones."""

    @property
    def headers(self) -> MutableMapping[str, str]:
        """Its headers."""


async def _take_trace_along(request: _Request) -> None:
    request.headers.update(tracing.outgoing())


def _message(choice: JsonValue) -> Json:
    message = choice.get("message") if isinstance(choice, dict) else None
    return message if isinstance(message, dict) else {}


def _set_aside(message: Json) -> list[InvalidToolCall]:
    """Take the calls out of a message whose arguments are no object, and return them."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list):
        return []
    wrong = [call for call in calls if _has_no_object(call)]
    if wrong:
        message["tool_calls"] = [call for call in calls if call not in wrong]
    return [_invalid(call) for call in wrong if isinstance(call, dict)]


def _has_no_object(call: JsonValue) -> bool:
    try:
        data = json.loads(str(_function(call).get("arguments")))
    except ValueError:
        return False  # as the stock class reads it
    return data is not None and not isinstance(data, dict)


def _invalid(call: Json) -> InvalidToolCall:
    function = _function(call)
    return InvalidToolCall(
        type="invalid_tool_call",
        id=str(call.get("id") or ""),
        name=str(function.get("name")),
        args=str(function.get("arguments")),
        error="the arguments are no JSON object",
    )


def _function(call: JsonValue) -> Json:
    function = call.get("function") if isinstance(call, dict) else None
    return function if isinstance(function, dict) else {}


def _whole(usage: Json) -> Json:
    """Return counts with which LangChain can reckon; absurd ones are bounded and noted later."""
    counts = {name: usage[name] for name in _COUNTS if not isinstance(usage.get(name, 0), int)}
    if counts:
        log.warning("tokens.odd", **{name: repr(count)[:80] for name, count in counts.items()})
    return {**usage, **{name: tokens_in(count) for name, count in counts.items()}}

"""The one middleware of the ReAct loop: fence, call limit, errors, nudges and termination."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import Context
from typing import TYPE_CHECKING

import langsmith
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
from langchain.agents.middleware.types import ExtendedModelResponse, ModelResponse
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    InvalidToolCall,
    ToolCall,
    ToolMessage,
)
from langgraph.types import Command
from langsmith.utils import tracing_is_enabled
from pydantic import JsonValue, TypeAdapter

from core.agent.loop.deps import RunContext, model_called
from core.agent.model.chat_model import billed, prompt_sections, usage_of
from core.agent.model.errors import translate_model_errors
from core.domain.errors import IterationsExhausted
from core.domain.messages import Message
from core.domain.models import Receipt, ReceiptStatus
from core.domain.text import clean, clean_text

if TYPE_CHECKING:
    Handler = Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[None]]]
    Extended = ExtendedModelResponse[None]

_NUDGE = "nudge-"
_CONTENT = TypeAdapter[JsonValue](JsonValue)


def ai_messages(messages: Iterable[BaseMessage]) -> list[AIMessage]:
    """Return the model's own messages, in order."""
    return [message for message in messages if isinstance(message, AIMessage)]


def call_key(thread: str, messages: Sequence[BaseMessage], call_id: str | None) -> str:
    """Return a call's idempotency key: thread, ordinal of the model's message, index of the call.

    Provider ids cannot serve: they may repeat within a thread, and change when a turn is asked
    for again. Position in the thread survives a resumed run, which then gets its old receipts.
    """
    said = ai_messages(messages)
    index = next(i for i, call in enumerate(said[-1].tool_calls) if call["id"] == call_id)
    return f"{thread}:{len(said)}:{index}"


def receipts_of(messages: Iterable[BaseMessage]) -> list[Receipt]:
    """Return the receipts of a thread, in order: write tools attach them to their messages."""
    return [
        Receipt.model_validate(message.artifact)
        for message in messages
        if isinstance(message, ToolMessage) and message.artifact
    ]


def hits_shown_in(messages: Iterable[BaseMessage]) -> frozenset[str]:
    """Return the ids of the items that refusals in this thread showed to the model."""
    refused = (r for r in receipts_of(messages) if r.status is ReceiptStatus.REFUSED)
    return frozenset(hit.id for receipt in refused for hit in receipt.hits)


def has_outcome(receipts: Iterable[Receipt]) -> bool:
    """Whether any of these receipts counts as an outcome of the run."""
    return any(receipt.status.is_outcome for receipt in receipts)


def is_ended_by_model(receipts: Iterable[Receipt]) -> bool:
    """Whether the model ended the run with `no_action`."""
    return any(receipt.status is ReceiptStatus.NO_ACTION for receipt in receipts)


def nudge(number: int, text: str) -> HumanMessage:
    """Return the `number`th reminder to the model that prose is no outcome."""
    return HumanMessage(text, id=f"{_NUDGE}{number}")


def nudges(messages: Iterable[BaseMessage]) -> int:
    """Count the reminders sent so far."""
    return sum((message.id or "").startswith(_NUDGE) for message in messages)


def tidy(message: AIMessage, earlier: Sequence[BaseMessage]) -> AIMessage:
    """Return a provider's message in a form that is safe to store and to answer.

    Ids of message and calls become unique in the thread, text becomes storable, and a message
    is never empty: some providers reject an empty one in the next request.
    """
    said = ai_messages(earlier)
    taken = {call["id"] for m in said for call in (*m.tool_calls, *m.invalid_tool_calls)}
    prefix = f"call_{len(said) + 1}_"
    calls: list[ToolCall] = [
        {**call, "id": _unique(call["id"], f"{prefix}{i}", taken), "args": _args(call["args"])}
        for i, call in enumerate(message.tool_calls)
    ]
    # `x`: malformed calls are indexed apart, so that their ids cannot collide with valid ones.
    malformed: list[InvalidToolCall] = [
        {
            **call,
            "id": _unique(call["id"], f"{prefix}x{i}", taken),
            "args": clean_text(call["args"] or ""),
        }
        for i, call in enumerate(message.invalid_tool_calls)
    ]
    update: dict[str, object] = {"tool_calls": calls, "invalid_tool_calls": malformed}
    update["content"] = _content(message, is_empty=not calls and not malformed)
    if message.id is None or any(message.id == other.id for other in earlier):
        update["id"] = f"ai-{len(said) + 1}"
    return message.model_copy(update=update)


def _unique(call_id: str | None, fallback: str, taken: set[str | None]) -> str:
    if not call_id or call_id in taken:
        call_id = fallback
    taken.add(call_id)
    return call_id


def _args(args: dict[str, JsonValue]) -> dict[str, JsonValue]:
    cleaned = clean(args)
    return cleaned if isinstance(cleaned, dict) else {}


def _content(message: AIMessage, *, is_empty: bool) -> object:
    if is_empty and not message.text.strip():
        return "(empty answer)"
    if isinstance(message.content, str):
        return clean_text(message.content)
    return clean(_CONTENT.validate_python(message.content))


def malformed_answers(message: AIMessage) -> list[ToolMessage]:
    """Answer the calls whose arguments were not JSON, so that the model can repeat them."""
    return [
        ToolMessage(
            f"The arguments of {call['name']} were not valid JSON, or were cut off: "
            f"{call['error'] or 'unreadable'}. Nothing was done. Call again with valid JSON.",
            tool_call_id=call["id"] or "",
            name=call["name"] or "unknown",
            status="error",
        )
        for call in message.invalid_tool_calls
    ]


def trace_in_place() -> None:
    """Start and end LangSmith spans in the event loop unless tracing is enabled.

    LangSmith hands both to a thread even when it records nothing, at 0.1 ms of CPU each time.
    """
    langsmith.set_runtime_overrides(aio_to_thread=_in_place)


async def _in_place(
    hand_over: Callable[..., Awaitable[object]],
    context: Context,
    func: Callable[..., object],
    /,
    *args: object,
    **kwargs: object,
) -> object:
    if tracing_is_enabled():
        return await hand_over(context, func, *args, **kwargs)
    return context.run(func, *args, **kwargs)


NUDGES = 3


class ReactLoop(AgentMiddleware[AgentState[None], RunContext, None]):
    """Wrap each model call.

    One middleware, and only `wrap_model_call`: a before or after hook becomes a graph node, and
    each node costs a checkpoint, one more write to PostgreSQL per model call.
    """

    async def awrap_model_call(
        self, request: ModelRequest[RunContext], handler: Handler
    ) -> Extended:
        """Call the model, unless the run has ended. Raises the errors of `core.domain.errors`."""
        messages, context = request.messages, request.runtime.context
        deps = context.deps
        if is_ended_by_model(receipts_of(messages)):
            return _then([], "end")
        ordinal = len(ai_messages(messages)) + 1
        _check_limit(ordinal, deps.shared.max_iterations)
        await deps.shared.runs.check(deps.fence)
        meter = deps.shared.meter
        # The event is emitted inside the reservation, which must not end before the cost is booked.
        async with meter.budgets.call(deps.feedback.tenant_id, deps.candidate.id):
            async with deps.shared.breaker.call():
                with translate_model_errors():
                    # Cached schemas: converting the eight tools takes 0.7 ms for every call.
                    response = await handler(request.override(tools=[*context.schemas]))
            message = billed(_answer(response, messages), meter.price)
            await model_called(deps, ordinal, usage_of(message))
        return _next(message, messages)


def _check_limit(ordinal: int, limit: int) -> None:
    if ordinal > limit:
        raise IterationsExhausted(
            Message("run.calls_used_up", n=limit),
            hint=Message("run.raise_iterations"),
        )


def _answer(response: ModelResponse[None], earlier: list[AnyMessage]) -> AIMessage:
    message = response.result[0]
    assert isinstance(message, AIMessage)
    return tidy(message, earlier)


def _next(message: AIMessage, earlier: list[AnyMessage]) -> Extended:
    """Route an answer: to its tools, back to the model, or to the end."""
    malformed = malformed_answers(message)
    if message.tool_calls:
        return _then([message, *malformed])
    if malformed:
        return _then([message, *malformed], "model")
    told = nudges(earlier)
    if has_outcome(receipts_of(earlier)) or told >= NUDGES:
        return _then([message])
    text = prompt_sections("nudges")[str(told + 1)]
    return _then([message, nudge(told + 1, text)], "model")


def _then(messages: list[BaseMessage], jump_to: str | None = None) -> Extended:
    command: Command[str] | None = Command(update={"jump_to": jump_to}) if jump_to else None
    return ExtendedModelResponse(ModelResponse(result=messages), command)

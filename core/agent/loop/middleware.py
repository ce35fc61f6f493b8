"""The one middleware of the ReAct loop: fence, call limit, errors, nudges and termination."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import TYPE_CHECKING

import langsmith
from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest
from langchain.agents.middleware.types import ExtendedModelResponse, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage
from langgraph.types import Command
from langsmith.utils import tracing_is_enabled

from core.agent.loop.deps import RunContext
from core.agent.loop.events import model_called
from core.agent.loop.messages import (
    ai_messages,
    has_outcome,
    is_ended_by_model,
    malformed_answers,
    nudge,
    nudges,
    receipts_of,
    tidy,
)
from core.agent.model.chat_model import prompt_sections, translate_model_errors
from core.agent.model.usage import billed, usage_of
from core.domain.errors import IterationsExhausted
from core.domain.messages import Message

if TYPE_CHECKING:
    Handler = Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[None]]]
    Extended = ExtendedModelResponse[None]


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
            Message("run.calls_used_up", "the run used up its {n} model calls", n=limit),
            hint=Message(
                "run.raise_iterations", "look at its events, or raise REACT_MAX_ITERATIONS"
            ),
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

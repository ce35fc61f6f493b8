"""The one middleware of the ReAct loop: fence, call limit, errors, nudges and termination."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
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
from langchain_core.tools import StructuredTool
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command
from langsmith.utils import tracing_is_enabled
from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from core.agent.loop import known_already
from core.agent.loop.deps import RunContext, model_called, tool_called
from core.agent.model.calls import answered, asking, translate_model_errors
from core.agent.model.chat_model import (
    billed,
    prompt_sections,
    stopped_by,
    unanswered,
    usage_of,
    words_of,
)
from core.domain import tracing
from core.domain.errors import IterationsExhausted
from core.domain.input_formats.text import explain
from core.domain.messages import Message, joined
from core.domain.models import Receipt, ReceiptStatus
from core.domain.models.base import read_message
from core.domain.text import clean, clean_text, compact, shorten, storable
from core.safety.masking import IDS, mask, masked_call

if TYPE_CHECKING:
    Handler = Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[None]]]
    Extended = ExtendedModelResponse[None]
    Answer = ToolMessage | Command[str]
    Execute = Callable[[ToolCallRequest], Awaitable[Answer]]

_NUDGE = "nudge-"
_EMPTY = "(empty answer)"
_INVALID = "skill_worker_invalid"  # in `response_metadata`, which no provider is sent back
_TOOL_CHARS, _WHY_CHARS = 100, 1000
_JSON = TypeAdapter[JsonValue](JsonValue)


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


def cases_told_in(messages: Iterable[BaseMessage]) -> frozenset[str]:
    """Return the cases that refusals in this thread told the model it would break."""
    return frozenset(name for receipt in receipts_of(messages) for name in receipt.broken)


def has_outcome(receipts: Iterable[Receipt]) -> bool:
    """Whether any of these receipts counts as an outcome of the run."""
    return any(receipt.status.is_outcome for receipt in receipts)


def is_known_already(message: ToolMessage) -> bool:
    """Whether this is the answer to a `no_action` that found all of it known already."""
    artifact = message.artifact or {}
    return artifact.get("status") == ReceiptStatus.NO_ACTION and (
        artifact.get("category") == known_already.DUPLICATE
    )


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
        {
            **call,
            "name": clean_text(call["name"]),
            "id": _unique(call["id"], f"{prefix}{i}", taken),
            "args": _args(call["args"]),
        }
        for i, call in enumerate(message.tool_calls)
    ]
    # `x`: malformed calls are indexed apart, so that their ids cannot collide with valid ones.
    malformed: list[InvalidToolCall] = [
        {
            **call,
            "name": clean_text(call["name"] or "unknown"),
            "id": _unique(call["id"], f"{prefix}x{i}", taken),
            "args": clean_text(call["args"] or ""),
        }
        for i, call in enumerate(message.invalid_tool_calls)
    ]
    update: dict[str, object] = {"tool_calls": calls, "invalid_tool_calls": malformed}
    update["content"] = _content(message, is_empty=not calls and not malformed)
    # Counts as providers send them may be too large to be stored.
    update["response_metadata"] = storable(message.response_metadata)
    if message.id is None or any(message.id == other.id for other in earlier):
        update["id"] = f"ai-{len(said) + 1}"
    return message.model_copy(update=update)


def _unique(call_id: str | None, fallback: str, taken: set[str | None]) -> str:
    if not call_id or call_id in taken:
        call_id = fallback
    taken.add(call_id)
    return call_id


def _args(args: dict[str, JsonValue]) -> dict[str, JsonValue]:
    cleaned = storable(clean(args))
    return cleaned if isinstance(cleaned, dict) else {}


def _content(message: AIMessage, *, is_empty: bool) -> object:
    if is_empty and not message.text.strip():
        return clean_text(words_of(message)) or _EMPTY
    if isinstance(message.content, str):
        return clean_text(message.content)
    return storable(clean(_JSON.validate_python(message.content)))


def malformed_answers(message: AIMessage) -> list[ToolMessage]:
    """Answer the calls whose arguments were not JSON, so that the model can repeat them."""
    is_cut = stopped_by(message) == "limit"
    return [
        _invalid(
            call["name"],
            call["id"],
            _cut_short(Message("reply.cut_off"), is_cut),
            f"{call['error'] or 'unreadable'}. Call again with valid JSON"
            f"{', and shorter' if is_cut else ''}.",
        )
        for call in message.invalid_tool_calls
    ]


def _cut_short(why: str, is_cut: bool) -> str:
    return joined([why, Message("reply.limit")]) if is_cut else why


def _invalid(name: str | None, call_id: str | None, why: str, advice: str) -> ToolMessage:
    """Answer a call that was not executed, with a note for the verdict of what was wrong."""
    cut = why if len(why) <= _WHY_CHARS else shorten(why, _WHY_CHARS)
    problem = Message("run.invalid_call", tool=_tool(name), why=cut)
    return ToolMessage(
        f"{problem}. Nothing was done. {advice}",
        tool_call_id=call_id or "",
        name=name or "unknown",
        status="error",
        response_metadata={_INVALID: problem.to_json()},
    )


def _tool(name: str | None) -> str:
    return shorten(name or "unknown", _TOOL_CHARS)


def problem_of(message: BaseMessage) -> Message | None:
    """Return what was wrong with the call that a message answers; None if it was executed."""
    noted = message.response_metadata.get(_INVALID)
    return None if noted is None else read_message(noted)


def wrong_call(
    call: ToolCall, tools: Mapping[str, StructuredTool], denied: Mapping[str, str]
) -> str | None:
    """Return why a call cannot be executed.

    There is no such tool, the policy does not let this run have it, or its arguments do not fit.
    """
    tool = tools.get(call["name"])
    if tool is None and (why := denied.get(call["name"])):
        return Message("run.tool_denied", tool=repr(_tool(call["name"])), why=why)
    if tool is None:
        return Message("run.no_tool", tool=repr(_tool(call["name"])))
    schema = tool.args_schema
    assert isinstance(schema, type)
    assert issubclass(schema, BaseModel)
    try:
        schema.model_validate(call["args"])
    except ValidationError as error:
        return explain(error)
    return None


def is_call(message: AIMessage) -> bool:
    """Whether an answer asks for a tool, in whatever form."""
    return bool(message.tool_calls or message.invalid_tool_calls)


def said_in(message: AIMessage) -> str:
    """Return the prose of an answer, "" for none."""
    words = words_of(message)
    return "" if words == _EMPTY else words


def idle_reason(message: AIMessage) -> Message:
    """Return why an answer without a call moved nothing."""
    return unanswered(stopped_by(message), said_in(message), Message("run.prose"))


def last_words_of(message: AIMessage) -> str:
    """Return what the model said in an answer, else the calls it made, as it wrote them."""
    words = said_in(message)
    if words:
        return words
    made = [f"{call['name']}({compact(call['args'])})" for call in message.tool_calls]
    made += [f"{call['name']}({call['args']})" for call in message.invalid_tool_calls]
    return ", ".join(made)


def _only_invalid(messages: Sequence[BaseMessage]) -> int:
    """Count the turns at the end of which no call could be executed."""
    count, executed, asked = 0, False, False
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            asked, executed = True, executed or problem_of(message) is None
        elif isinstance(message, AIMessage):
            if executed or not asked:
                break
            count, asked = count + 1, False
    return count


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
INVALID_TURNS = 8  # in a row, after which a model will not mend its calls any more


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
        if is_ended_by_model(receipts_of(messages)) or _only_invalid(messages) >= INVALID_TURNS:
            return _then([], "end")
        ordinal = len(ai_messages(messages)) + 1
        _check_limit(ordinal, deps.shared.max_iterations)
        await deps.shared.runs.check(deps.fence)
        meter = deps.shared.meter
        # The event is emitted inside the reservation, which must not end before the cost is booked.
        async with meter.budgets.call(deps.feedback.tenant_id, deps.candidate.id):
            async with deps.shared.breaker.call():
                with asking(request.model, _asked(request), deps.candidate.thread):
                    with translate_model_errors():
                        # Cached schemas: converting eight of the ten tools took 0.7 ms a call.
                        response = await handler(request.override(tools=[*context.schemas]))
                    _note_answer(response)
            message = billed(_answer(response, messages), meter.price)
            if not deps.shared.keeps_raw:
                message = _masked(message)
            await model_called(deps, ordinal, usage_of(message))
        malformed = malformed_answers(message)
        for index, answer in enumerate(malformed):
            key = f"{deps.candidate.thread}:{ordinal}:x{index}"
            await tool_called(deps, answer.name or "", key, "invalid", problem_of(answer))
        return _next(message, malformed, messages)

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Execute) -> Answer:
        """Execute a call that is one; answer any other with what is wrong, and record that."""
        context: RunContext = request.runtime.context  # type: ignore[assignment]
        call = request.tool_call
        is_known = call["name"] in context.tools or call["name"] in context.denied
        call_id = call["id"] and shorten(call["id"], _TOOL_CHARS)
        with tracing.tool(call["name"] if is_known else tracing.UNKNOWN, call_id):
            tracing.content("gen_ai.tool.call.arguments", lambda: call["args"])
            answer = await self._answer_to(request, context, handler)
            _note_tool(answer)
            return answer

    async def _answer_to(
        self, request: ToolCallRequest, context: RunContext, handler: Execute
    ) -> Answer:
        call, messages = request.tool_call, request.state["messages"]
        wrong = wrong_call(call, context.tools, context.denied)
        if wrong is None:
            answer = await _executed(request, context, handler)
            is_foreign = (
                call["name"] == "get_knowledge_detail" and not context.deps.shared.keeps_raw
            )
            return _masked_answer(answer) if is_foreign else answer
        why = _cut_short(wrong, stopped_by(ai_messages(messages)[-1]) == "limit")
        advice = "Correct the call and make it again."
        if call["name"] not in context.tools:
            advice = f"Call one of these: {', '.join(context.tools)}."
        answer = _invalid(call["name"], call["id"], why, advice)
        key = call_key(context.deps.candidate.thread, messages, call["id"])
        await tool_called(context.deps, _tool(call["name"]), key, "invalid", problem_of(answer))
        return answer


async def _executed(request: ToolCallRequest, context: RunContext, handler: Execute) -> Answer:
    """Execute a call that fits its tool.

    LangChain validates it once more and tells its callbacks, of which there are none unless it
    traces: that takes a hundredth of the CPU of a piece.
    """
    own = context.tools[request.tool_call["name"]].coroutine
    if own is None or tracing_is_enabled():
        return await handler(request)
    answer: ToolMessage = await own(**{**request.tool_call["args"], "runtime": request.runtime})
    return answer


def _asked(request: ModelRequest[RunContext]) -> Sequence[BaseMessage]:
    system = request.system_message
    return request.messages if system is None else [system, *request.messages]


def _note_answer(response: ModelResponse[None]) -> None:
    message = response.result[0]
    if isinstance(message, AIMessage):
        answered(message)


def _note_tool(answer: Answer) -> None:
    """Add to a tool's span how it ended; a call that achieved nothing has failed."""
    if not isinstance(answer, ToolMessage):
        return
    tracing.content("gen_ai.tool.call.result", lambda: str(answer.text))
    receipt = answer.artifact or {}
    status = receipt.get("status")
    change = {"skill_worker.change.id": receipt.get("change_id")}
    tracing.note({"skill_worker.receipt.status": status, **change})
    if answer.status == "error":
        tracing.fail(status or "invalid")


def _masked(message: AIMessage) -> AIMessage:
    """Return a model's message without secrets in what it says and calls."""
    content = message.content
    update: dict[str, object] = {
        "content": mask(content).text
        if isinstance(content, str)
        else masked_call(_JSON.validate_python(content)),
        "tool_calls": [{**c, "args": _masked_args(c["args"])} for c in message.tool_calls],
    }
    if message.invalid_tool_calls:
        calls = message.invalid_tool_calls
        update["invalid_tool_calls"] = [{**c, "args": masked_call(c["args"])} for c in calls]
    return message.model_copy(update=update)


def _masked_args(args: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: value if name in IDS else _masked_arg(value) for name, value in args.items()}


def _masked_arg(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return mask(value).text
    return masked_call(value) if isinstance(value, list | dict) else value


def _masked_answer(answer: Answer) -> Answer:
    """Return a whole item without secrets: of what outside stores have only the index is clear."""
    if not isinstance(answer, ToolMessage) or not isinstance(answer.content, str):
        return answer
    made = mask(answer.content)
    return answer.model_copy(update={"content": made.text}) if made.findings else answer


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


def _next(message: AIMessage, malformed: list[ToolMessage], earlier: list[AnyMessage]) -> Extended:
    """Route an answer: to its tools, back to the model, or to the end."""
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

"""Spans and trace context, as the rooms speak of them; without a tracer they cost next to nothing.

Names are those of OpenTelemetry's conventions for generative AI (semantic-conventions-genai 0.1),
our own begin with `skill_worker.`. Spans have ids, counts and names of the program's parts; what
people or models said goes through `content`, which a tracer drops unless it is asked to keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from pydantic import JsonValue

from core.domain.models import Candidate, Feedback, TraceContext
from core.domain.ports.tracing import Attributes, Tracer

HEADERS = ("traceparent", "tracestate")
OPERATION = "gen_ai.operation.name"
AGENT = "skill-worker"  # not that of the agent that learns: its own platform traces that one
WORKFLOW = "process_feedback"
UNKNOWN = "unknown"  # of a tool that there is not: what a model calls it may be anybody's words


class NoTracer:
    """Keeps nothing."""

    def span(
        self, name: str, attributes: Attributes, *, is_call: bool
    ) -> AbstractContextManager[None]:
        del name, attributes, is_call
        return nullcontext()

    def under(self, context: TraceContext) -> AbstractContextManager[None]:
        del context
        return nullcontext()

    def context(self) -> TraceContext | None:
        return None

    def note(self, attributes: Attributes) -> None:
        del attributes

    def fail(self, error_type: str) -> None:
        del error_type

    def content(self, name: str, make: Callable[[], JsonValue]) -> None:
        del name, make


_NONE = NoTracer()
# One for the process, as for logs: a server answers calls in tasks that nobody hands anything.
_INSTALLED: list[Tracer] = [_NONE]
_RECEIVED: ContextVar[TraceContext | None] = ContextVar("_RECEIVED", default=None)


@contextmanager
def traced_by(tracer: Tracer) -> Iterator[None]:
    """Give all spans of this process to a tracer while the block runs."""
    _INSTALLED[0] = tracer
    try:
        yield
    finally:
        if _INSTALLED[0] is tracer:
            _INSTALLED[0] = _NONE


@contextmanager
def under(context: TraceContext | None) -> Iterator[None]:
    """Do the block, and the tasks it begins, as part of another's trace, if there is one."""
    if context is None:
        yield
        return
    token = _RECEIVED.set(context)
    try:
        with _INSTALLED[0].under(context):
            yield
    finally:
        _RECEIVED.reset(token)


def is_on() -> bool:
    """Whether anything of this process is traced."""
    return _INSTALLED[0] is not _NONE


def current() -> TraceContext | None:
    """Return whose trace the work belongs to: of the current span, else what the caller sent."""
    return _INSTALLED[0].context() or _RECEIVED.get()


def outgoing() -> dict[str, str]:
    """Return the headers by which a call takes the trace along; none where nothing is traced."""
    context = _INSTALLED[0].context()
    return context.model_dump() if context else {}


def note(attributes: Attributes) -> None:
    """Add attributes to the current span."""
    _INSTALLED[0].note(attributes)


def fail(error_type: str) -> None:
    """Mark the current span as failed with a kind of error."""
    _INSTALLED[0].fail(error_type)


def content(name: str, make: Callable[[], JsonValue]) -> None:
    """Add what was said to the current span; `make` is called only where content is kept."""
    _INSTALLED[0].content(name, make)


@contextmanager
def attempt(feedback: Feedback) -> Iterator[None]:
    """Make the block the span of one attempt at a piece of feedback.

    It is in the trace of whoever brought the piece in, if they sent a context; the attempts of one
    piece are siblings there.
    """
    given: Attributes = {
        "gen_ai.agent.name": WORKFLOW,
        "skill_worker.feedback.id": feedback.id,
        "skill_worker.tenant.id": feedback.tenant_id,
        "skill_worker.feedback.attempt": feedback.attempts,
    }
    with under(feedback.trace), _span("invoke_workflow", WORKFLOW, given):
        yield


def run(feedback: Feedback, candidate: Candidate) -> AbstractContextManager[None]:
    """Return the span of a run of the ReAct agent; its `agent.id` is the agent that learns."""
    given: Attributes = {
        "gen_ai.agent.name": AGENT,
        "gen_ai.agent.id": candidate.agent_id,
        "gen_ai.conversation.id": candidate.thread,
        "skill_worker.feedback.id": feedback.id,
        "skill_worker.candidate.id": candidate.id,
        "skill_worker.tenant.id": feedback.tenant_id,
    }
    return _span("invoke_agent", AGENT, given)


def chat(*, provider: str, model: str) -> AbstractContextManager[None]:
    """Return the span of one call of a model, with its repeats."""
    given: Attributes = {"gen_ai.provider.name": provider, "gen_ai.request.model": model}
    return _span("chat", model, given, is_call=True)


def tool(name: str, call_id: str | None) -> AbstractContextManager[None]:
    """Return the span of one tool call."""
    given: Attributes = {
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.type": "function",
    }
    return _span("execute_tool", name, given)


def search(*, store: str | None, tenant_id: str) -> AbstractContextManager[None]:
    """Return the span of a search of what is known; `store` is the kind, None for all."""
    given: Attributes = {"gen_ai.memory.store.id": store, "skill_worker.tenant.id": tenant_id}
    return _span("search_memory", "", given)


def change(
    operation: str,
    *,
    store: str,
    record_id: str,
    change_id: str,
    tenant_id: str,
    feedback_id: str | None,
) -> AbstractContextManager[None]:
    """Return the span of a change that is carried out: CREATE is `create_memory`, and so on."""
    given: Attributes = {
        "gen_ai.memory.store.id": store,
        "gen_ai.memory.record.id": record_id,
        "gen_ai.memory.record.count": 1,
        "skill_worker.change.id": change_id,
        "skill_worker.feedback.id": feedback_id,
        "skill_worker.tenant.id": tenant_id,
    }
    return _span(f"{operation.lower()}_memory", "", given)


def _span(
    operation: str, target: str, attributes: Attributes, *, is_call: bool = False
) -> AbstractContextManager[None]:
    name = f"{operation} {target}".rstrip()
    return _INSTALLED[0].span(name, {OPERATION: operation, **attributes}, is_call=is_call)

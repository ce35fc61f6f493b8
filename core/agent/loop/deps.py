"""Dependencies of a ReAct run: those shared by all runs, and those of a single one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from pydantic import JsonValue

from core.agent.budgets import Meter
from core.agent.model.chat_model import ToolSchema
from core.domain.kinds import Kinds
from core.domain.messages import without_content
from core.domain.models import (
    NO_USAGE,
    Agent,
    Candidate,
    Feedback,
    Fence,
    Kind,
    Operation,
    RunEvent,
    SubmitContext,
    Usage,
    Verdict,
    VerdictStatus,
)
from core.domain.models.base import plain
from core.domain.ports import (
    CircuitBreaker,
    Conversations,
    Gate,
    Journal,
    Knowledge,
    LessonsShown,
    NoConversations,
    Replies,
    Runs,
    Search,
    SkillStore,
)

MAX_ITERATIONS = 50
# Returns why the policy refuses all changes of a kind and operation, None if it may not.
Denies = Callable[[SubmitContext, Kind, Operation], str | None]
# Returns the messages of a thread on record, None if there is none.
ReadThread = Callable[[str], Awaitable[Sequence[AnyMessage] | None]]


async def _nothing_recorded(_: str) -> None:
    return None


NO_THREAD = "__no_thread"  # in a run's config: its thread is new, so the saver need not look


@dataclass(frozen=True, kw_only=True, eq=False)
class ReactDeps:
    """What all runs share, hashed by identity. `max_iterations` bounds the calls of one thread."""

    model: BaseChatModel
    breaker: CircuitBreaker
    gate: Gate
    search: Search
    knowledge: Knowledge
    skills: SkillStore
    runs: Runs
    replies: Replies
    journal: Journal
    saver_factory: Callable[[], BaseCheckpointSaver[str]]
    meter: Meter = field(default_factory=Meter)
    max_iterations: int = MAX_ITERATIONS
    search_limit: int = 8
    conversations: Conversations = field(default_factory=NoConversations)
    zone: tzinfo = UTC  # in which days and times are shown and meant
    denies: Denies = lambda *_: None
    kinds: Kinds = ()  # those that packages add
    keeps_raw: bool = False  # secrets stay in what the model writes and is told
    recorded: ReadThread = _nothing_recorded
    lessons: LessonsShown | None = None


@dataclass(frozen=True, kw_only=True)
class RunDeps:
    """Dependencies of one run: a candidate, its feedback and its agent."""

    shared: ReactDeps
    candidate: Candidate
    feedback: Feedback
    agent: Agent

    @property
    def fence(self) -> Fence:
        """The epoch this run started with, which its writes must still match."""
        return Fence(candidate_id=self.candidate.id, epoch=self.candidate.epoch)


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """What the shared graph receives about the run it executes.

    `denied` says what the policy lets nobody write here, and why: tools, or operations of tools.
    """

    deps: RunDeps
    tools: Mapping[str, StructuredTool]
    schemas: Sequence[ToolSchema]
    denied: Mapping[str, str] = field(default_factory=dict)


async def run_started(deps: RunDeps, *, resumed: bool) -> None:
    """Record that a run starts, or resumes after an interruption."""
    generation = deps.candidate.generation
    await _emit(deps, "run.started", {"generation": generation, "resumed": resumed})


async def model_called(deps: RunDeps, ordinal: int, usage: Usage) -> None:
    """Record a model call; its cost is charged to the candidate however the run ends."""
    position: dict[str, JsonValue] = {"generation": deps.candidate.generation, "ordinal": ordinal}
    await _emit(deps, "model.called", position | _spent(usage), usage)


async def tool_called(
    deps: RunDeps, tool: str, key: str, status: str, error: str | None = None
) -> None:
    """Record a tool's answer, or that a call was `invalid`, and why it failed."""
    data: dict[str, JsonValue] = {"tool": tool, "key": key, "status": status}
    told: dict[str, JsonValue] = {"error": without_content(error)} if error else {}
    await _emit(deps, "tool.called", data | told)


async def run_finished(deps: RunDeps, verdict: Verdict) -> None:
    """Record the verdict of a run."""
    usage = verdict.usage
    data: dict[str, JsonValue] = {"status": verdict.status, "model_calls": usage.model_calls}
    if verdict.status is VerdictStatus.FAILED:
        data["error"] = without_content(verdict.reason)
    if verdict.refused:
        data["refused"] = [without_content(text) for text in verdict.refused]
    await _emit(deps, "run.finished", data | _spent(usage))


def _spent(usage: Usage) -> dict[str, JsonValue]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost": plain(usage.cost),
    }


async def _emit(
    deps: RunDeps, name: str, data: dict[str, JsonValue], spent: Usage = NO_USAGE
) -> None:
    event = RunEvent(
        name=name,
        tenant_id=deps.feedback.tenant_id,
        feedback_id=deps.feedback.id,
        candidate_id=deps.candidate.id,
        data=data,
    )
    await deps.shared.journal.emit(event, spent, waits=True)

"""Dependencies of a ReAct run: those shared by all runs, and those of a single one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from langchain_core.language_models import BaseChatModel
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.base import BaseCheckpointSaver

from core.agent.budgets import Meter
from core.agent.model.chat_model import ToolSchema
from core.domain.models import Agent, Candidate, Feedback, Fence
from core.domain.ports import (
    CircuitBreaker,
    Gate,
    Journal,
    Knowledge,
    Replies,
    Runs,
    Search,
    SkillStore,
)

MAX_ITERATIONS = 50


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
    """What the shared graph receives about the run it executes."""

    deps: RunDeps
    tools: Mapping[str, StructuredTool]
    schemas: Sequence[ToolSchema]

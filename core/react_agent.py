"""Run the ReAct agent on one candidate: start or resume its thread and return the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from langchain.agents import AgentState, create_agent
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot

from core.agent.loop.deps import (
    NO_THREAD,
    ReactDeps,
    RunContext,
    RunDeps,
    run_finished,
    run_started,
)
from core.agent.loop.middleware import (
    ReactLoop,
    ai_messages,
    has_outcome,
    receipts_of,
    trace_in_place,
)
from core.agent.loop.prompt import first_message
from core.agent.model.chat_model import prompt, usage_of
from core.domain.errors import IterationsExhausted, NoCommit, RunFailed
from core.domain.messages import Message, joined, term
from core.domain.models import (
    NO_USAGE,
    Agent,
    Candidate,
    Feedback,
    Receipt,
    ReceiptStatus,
    Usage,
    Verdict,
    VerdictStatus,
)
from core.domain.text import shorten
from core.react_tools import create_react_tools, react_tool_schemas, stand_in_tools

State = AgentState[None]
Graph = CompiledStateGraph[State, RunContext, State, State]
REASON_CHARS = 2000


@dataclass(frozen=True)
class ReactAgent:
    """The agent of one run: the graph on its own saver, the thread and the run's context."""

    graph: Graph
    config: RunnableConfig
    context: RunContext

    @property
    def _is_new(self) -> bool:
        return self.context.deps.candidate.epoch == 1  # the first start: there is no thread yet

    async def saved(self) -> StateSnapshot | None:
        """Return the saved state of the thread, or None. Raises RunFailed if it cannot be read."""
        if self._is_new:
            return None
        state = await self.graph.aget_state(self.config)
        return state if state.values else None

    async def messages(self) -> list[AnyMessage]:
        """Return the saved messages of the thread."""
        return [*(await self.graph.aget_state(self.config)).values["messages"]]

    async def invoke(self, start: State | None) -> list[AnyMessage]:
        """Start or resume the thread and return its messages at the end."""
        # The default durability repeats model calls and effects, under new ids, after a kill;
        # "sync" costs 0.7 ms a step.
        known = {NO_THREAD: self._is_new, **self.config["configurable"]}
        config = RunnableConfig(**{**self.config, "configurable": known})
        state = await self.graph.ainvoke(start, config, context=self.context, durability="sync")
        return [*state["messages"]]


def create_feedback_react_agent(
    agent_id: str, feedback_content: str, *, deps: RunDeps
) -> ReactAgent:
    """Build the agent of one run: the shared graph, the run's saver and the run's tools."""
    tools = create_react_tools(agent_id, feedback_content, deps=deps)
    graph = _compiled(deps.shared).copy({"checkpointer": deps.shared.saver_factory()})
    # One at a time: the tool calls of a turn take effect in the order the model made them.
    config = RunnableConfig(configurable={"thread_id": deps.candidate.thread}, max_concurrency=1)
    return ReactAgent(
        graph,
        config,
        RunContext(deps=deps, tools={t.name: t for t in tools}, schemas=react_tool_schemas()),
    )


@lru_cache(maxsize=1)
def _compiled(shared: ReactDeps) -> Graph:
    """Compile the graph once for all runs.

    It takes 10 to 16 ms, more than a run spends on its own work beside the model. So the graph is
    built with stand-in tools, and what belongs to one run travels in its `RunContext`.
    """
    trace_in_place()
    graph: Graph = create_agent(  # type: ignore[assignment]
        shared.model,
        stand_in_tools(),
        system_prompt=prompt("react_system"),
        middleware=[ReactLoop()],
        context_schema=RunContext,
    )
    return graph


async def process_feedback_with_react(
    agent_id: str,
    feedback_content: str,
    *,
    candidate: Candidate,
    feedback: Feedback,
    agent: Agent,
    deps: ReactDeps,
) -> Verdict:
    """Run the agent and return its verdict; an interrupted thread resumes where it stopped.

    A run that ends in prose (`no_commit`) or uses up its model calls (`iterations`) returns a
    failed verdict. Raises DependencyDown, LeaseLost, and ConfigurationError or InvalidInput if
    the model refuses permanently.
    """
    run = RunDeps(shared=deps, candidate=candidate, feedback=feedback, agent=agent)
    own = create_feedback_react_agent(agent_id, feedback_content, deps=run)
    failure: RunFailed | None = None
    try:
        messages = await _run(own, feedback_content, run)
    except IterationsExhausted as error:
        messages, failure = await own.messages(), error
    verdict = _verdict(messages, await _spent_on_skills(messages, run), failure)
    await run_finished(run, verdict)
    return verdict


async def _run(own: ReactAgent, feedback_content: str, deps: RunDeps) -> list[AnyMessage]:
    """Run the thread to its end and return its messages. Raises IterationsExhausted."""
    saved = await own.saved()
    await run_started(deps, resumed=saved is not None)
    # Not `next`: it is also empty after a kill between a step's writes and its checkpoint.
    if saved is not None and not saved.tasks:
        return [*saved.values["messages"]]
    start: State | None = None
    if saved is None:
        if deps.candidate.generation > 1:
            # Intents of the last generation: the new thread must see what they came to.
            await deps.shared.gate.resume(deps.fence)
        start = {"messages": [await first_message(feedback_content, deps=deps)]}
    return await own.invoke(start)


async def _spent_on_skills(messages: Sequence[AnyMessage], deps: RunDeps) -> Usage:
    """Return what the skill author's answers cost, which are not among the messages."""
    called = {call["name"] for message in ai_messages(messages) for call in message.tool_calls}
    if "commit_to_skill" not in called:
        return NO_USAGE
    return await deps.shared.replies.usage(f"{deps.candidate.thread}:")


def _verdict(messages: list[AnyMessage], spent: Usage, failure: RunFailed | None) -> Verdict:
    receipts = tuple(receipts_of(messages))
    usage = sum((usage_of(message) for message in ai_messages(messages)), spent)
    if failure is None and not has_outcome(receipts):
        failure = NoCommit(_no_commit(receipts))
    if failure is not None:
        status, kind = VerdictStatus.FAILED, term(failure.kind)
        reason: str = Message("error.reason", kind=kind, why=failure.message)
    else:
        status, reason = _status(receipts), _reason(messages, receipts)
    return Verdict(status=status, reason=reason, receipts=receipts, usage=usage)


def _no_commit(receipts: Sequence[Receipt]) -> str:
    said = Message("run.prose")
    if not receipts:
        return said
    last = Message("run.last_attempt", receipt=receipts[-1].message)
    return joined([said, last])


_NOTHING = {ReceiptStatus.NO_ACTION, ReceiptStatus.OVERTAKEN}


def _status(receipts: Sequence[Receipt]) -> VerdictStatus:
    found = {receipt.status for receipt in receipts if receipt.status.is_outcome}
    if ReceiptStatus.HELD in found:
        return VerdictStatus.HELD
    return VerdictStatus.COMPLETED if found - _NOTHING else VerdictStatus.NO_ACTION


def _reason(messages: Sequence[AnyMessage], receipts: Sequence[Receipt]) -> str:
    """Return the reason of `no_action`, else the model's closing words."""
    for receipt in receipts:
        if receipt.status in _NOTHING:
            return shorten(receipt.message, REASON_CHARS)
    return shorten(ai_messages(messages)[-1].text.strip(), REASON_CHARS)

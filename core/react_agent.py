"""Runs the ReAct agent on one candidate: start or resume its thread, and give the verdict."""

from __future__ import annotations

from collections.abc import Sequence

from langchain.agents import AgentState, create_agent
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from core.errors import IterationsExhausted, NoCommit, RunFailed
from core.llm import prompt, usage_of
from core.models import (
    Agent,
    Candidate,
    Feedback,
    Receipt,
    ReceiptStatus,
    Usage,
    Verdict,
    VerdictStatus,
)
from core.prompt_data import shorten
from core.react.deps import ReactDeps, RunDeps
from core.react.events import run_finished, run_started
from core.react.loop import ReactLoop
from core.react.messages import ai_messages, has_outcome, receipts_of
from core.react.prompt import first_message
from core.react_tools import create_react_tools

Graph = CompiledStateGraph[AgentState[None], None, AgentState[None], AgentState[None]]
REASON_CHARS = 2000


def create_feedback_react_agent(agent_id: str, feedback_content: str, *, deps: RunDeps) -> Graph:
    """Compile the graph of one run: the model, its tools, and nothing in between."""
    graph: Graph = create_agent(  # type: ignore[assignment]
        deps.shared.model,
        create_react_tools(agent_id, feedback_content, deps=deps),
        system_prompt=prompt("react_system"),
        middleware=[ReactLoop(deps)],
        checkpointer=deps.shared.saver_factory(),
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
    """Let the agent decide, and give the verdict; a thread cut off goes on where it stopped.

    A run that answers in prose to the end (`no_commit`) or uses up its model calls
    (`iterations`) is a failed verdict that says so. Raises DependencyDown, LeaseLost, and
    ConfigurationError or InvalidInput where the model refuses for good.
    """
    run = RunDeps(shared=deps, candidate=candidate, feedback=feedback, agent=agent)
    graph = create_feedback_react_agent(agent_id, feedback_content, deps=run)
    # One call at a time: the calls of a turn take effect in the order in which they were made.
    config = RunnableConfig(configurable={"thread_id": candidate.thread}, max_concurrency=1)
    failure: RunFailed | None = None
    try:
        messages = await _run(graph, config, feedback_content, run)
    except IterationsExhausted as error:
        messages, failure = await _messages(graph, config), error
    spent = await deps.replies.usage(f"{candidate.thread}:")
    verdict = _verdict(messages, spent, failure)
    await run_finished(run, verdict)
    return verdict


async def _run(
    graph: Graph, config: RunnableConfig, feedback_content: str, deps: RunDeps
) -> list[AnyMessage]:
    """Bring the thread to its end and give its messages. Raises IterationsExhausted."""
    saved = await graph.aget_state(config)
    await run_started(deps, resumed=bool(saved.values))
    # Not `next`: it is empty, too, after a kill between a step's writes and its checkpoint.
    if saved.values and not saved.tasks:
        return [*saved.values["messages"]]
    start: AgentState[None] | None = None
    if not saved.values:
        if deps.candidate.generation > 1:
            await deps.shared.gate.resume(deps.fence)
        start = {"messages": [await first_message(feedback_content, deps=deps)]}
    state = await graph.ainvoke(start, config, durability="sync")
    return [*state["messages"]]


async def _messages(graph: Graph, config: RunnableConfig) -> list[AnyMessage]:
    return [*(await graph.aget_state(config)).values["messages"]]


def _verdict(messages: list[AnyMessage], spent: Usage, failure: RunFailed | None) -> Verdict:
    receipts = tuple(receipts_of(messages))
    usage = sum((usage_of(message) for message in ai_messages(messages)), spent)
    if failure is None and not has_outcome(receipts):
        failure = NoCommit(_no_commit(receipts))
    if failure is not None:
        status, reason = VerdictStatus.FAILED, f"{failure.kind}: {failure.message}"
    else:
        status, reason = _status(receipts), _reason(messages, receipts)
    return Verdict(status=status, reason=reason, receipts=receipts, usage=usage)


def _no_commit(receipts: Sequence[Receipt]) -> str:
    said = "the model kept answering in prose instead of calling a tool"
    return f"{said}; its last attempt: {receipts[-1].message}" if receipts else said


def _status(receipts: Sequence[Receipt]) -> VerdictStatus:
    found = {receipt.status for receipt in receipts if receipt.status.is_outcome}
    if ReceiptStatus.HELD in found:
        return VerdictStatus.HELD
    return VerdictStatus.COMPLETED if found - {ReceiptStatus.NO_ACTION} else VerdictStatus.NO_ACTION


def _reason(messages: Sequence[AnyMessage], receipts: Sequence[Receipt]) -> str:
    """Give why the run was called off, else the model's closing words."""
    for receipt in receipts:
        if receipt.status is ReceiptStatus.NO_ACTION:
            return shorten(receipt.message, REASON_CHARS)
    return shorten(ai_messages(messages)[-1].text.strip(), REASON_CHARS)

"""Run the ReAct agent on one candidate: start or resume its thread and return the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
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
    idle_reason,
    is_call,
    is_known_already,
    last_words_of,
    problem_of,
    receipts_of,
    said_in,
    trace_in_place,
)
from core.agent.loop.prompt import first_message, told_receipts
from core.agent.loop.tool_args import ARGUMENTS, denied_in_words
from core.agent.model.chat_model import last_words, prompt, usage_of
from core.agent.replay.recorded import Recording, forked
from core.domain import tracing
from core.domain.errors import IterationsExhausted, NoCommit, PrepareFailed, RunFailed
from core.domain.messages import Message, joined, term
from core.domain.models import (
    DENIED,
    NO_USAGE,
    Agent,
    Candidate,
    Feedback,
    Kind,
    Operation,
    Receipt,
    ReceiptStatus,
    Usage,
    Verdict,
    VerdictStatus,
)
from core.domain.text import shorten
from core.react_tools import (
    create_react_tools,
    denied_writes,
    offered_schemas,
    stand_in_tools,
)

State = AgentState[None]
Graph = CompiledStateGraph[State, RunContext, State, State]
REASON_CHARS = 2000
CAUSES = 4  # of a failed run, that its reason names: the last ones


@dataclass(frozen=True)
class ReactAgent:
    """The agent of one run: the graph on its own saver, the thread and the run's context."""

    graph: Graph
    config: RunnableConfig
    context: RunContext

    @property
    def _is_new(self) -> bool:
        return self.context.deps.candidate.epoch == 1  # the first start: there is no thread yet

    @property
    def can_write(self) -> bool:
        """Whether the policy lets it write anything at all."""
        return any(map(_written_by, self.context.tools))

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
    denied = denied_writes(agent_id, feedback_content, deps=deps)
    tools = create_react_tools(agent_id, feedback_content, deps=deps, denied=denied)
    graph = _compiled(deps.shared).copy({"checkpointer": deps.shared.saver_factory()})
    # One at a time: the tool calls of a turn take effect in the order the model made them.
    config = RunnableConfig(configurable={"thread_id": deps.candidate.thread}, max_concurrency=1)
    return ReactAgent(
        graph,
        config,
        RunContext(
            deps=deps,
            tools={tool.name: tool for tool in tools},
            schemas=offered_schemas(denied, deps.shared.kinds),
            denied=denied_in_words(denied),
        ),
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
        stand_in_tools(shared.kinds),
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

    A run without an outcome (`no_commit`), one that uses up its model calls (`iterations`) and one
    whose change could not be made (`failed`) return a failed verdict. Raises DependencyDown,
    LeaseLost, and ConfigurationError or InvalidInput if the model refuses permanently.
    """
    run = RunDeps(shared=deps, candidate=candidate, feedback=feedback, agent=agent)
    own = create_feedback_react_agent(agent_id, feedback_content, deps=run)
    if not own.can_write and await own.saved() is None:
        return await _all_denied(own)
    _, verdict = await _ended(own, _run(own, feedback_content, run))
    await run_finished(run, verdict)
    return verdict


async def repeat_with_react(
    own: ReactAgent, start: Sequence[AnyMessage]
) -> tuple[Sequence[AnyMessage], Verdict]:
    """Run the agent of a dry run from these messages on; return all messages and the verdict.

    Raises what `process_feedback_with_react` raises.
    """
    return await _ended(own, own.invoke({"messages": [*start]}))


async def _ended(
    own: ReactAgent, running: Awaitable[list[AnyMessage]]
) -> tuple[list[AnyMessage], Verdict]:
    """Wait for a run, which is a span, and return its messages and its verdict."""
    deps = own.context.deps
    failure: RunFailed | None = None
    with tracing.run(deps.feedback, deps.candidate):
        try:
            messages = await running
        except IterationsExhausted as error:
            messages, failure = await own.messages(), error
        verdict = _verdict(messages, await _spent_on_skills(messages, deps), failure)
        tracing.note(
            {
                "skill_worker.verdict.status": verdict.status,
                "gen_ai.usage.input_tokens": verdict.usage.input_tokens,
                "gen_ai.usage.output_tokens": verdict.usage.output_tokens,
            }
        )
    return messages, verdict


async def _all_denied(own: ReactAgent) -> Verdict:
    """Return the verdict of a run that may write nothing: no model is paid for that."""
    run = own.context.deps
    await run_started(run, resumed=False)
    why = joined(dict.fromkeys(own.context.denied.values()))
    reason = Message("policy.nothing_offered", why=why)
    verdict = Verdict(status=VerdictStatus.NO_ACTION, reason=reason)
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
        start = {"messages": await _begin(own, feedback_content, deps)}
    return await own.invoke(start)


async def _begin(own: ReactAgent, feedback_content: str, deps: RunDeps) -> list[AnyMessage]:
    """Return the first messages of a run: its input, or the first steps of the run it forks.

    Raises RunFailed if those are gone.
    """
    shared, candidate = deps.shared, deps.candidate
    fork = await shared.runs.fork(candidate.thread) if candidate.generation > 1 else None
    if fork is None:
        denied = own.context.denied
        return [await first_message(feedback_content, deps=deps, denied=denied)]
    messages = await shared.recorded(fork.from_run)
    if messages is None:
        raise RunFailed(Message("run.pruned", id=fork.from_run))
    receipts = await shared.runs.receipts(candidate.id)
    return forked(Recording(messages), fork.step, told_receipts(receipts))


async def _spent_on_skills(messages: Sequence[AnyMessage], deps: RunDeps) -> Usage:
    """Return what the skill author's answers cost, which are not among the messages."""
    called = {call["name"] for message in ai_messages(messages) for call in message.tool_calls}
    if "commit_to_skill" not in called:
        return NO_USAGE
    return await deps.shared.replies.usage(f"{deps.candidate.thread}:")


def _verdict(messages: list[AnyMessage], spent: Usage, failure: RunFailed | None) -> Verdict:
    receipts = tuple(receipts_of(messages))
    usage = sum((usage_of(message) for message in ai_messages(messages)), spent)
    refused = tuple(part.message for part in _refused(messages))
    if failure is None and not has_outcome(receipts):
        failure = NoCommit("")
    unbuilt = _unbuilt(messages) if _status(receipts) is VerdictStatus.NO_ACTION else None
    if failure is not None:
        why = joined(filter(None, [failure.message, *_causes(messages, receipts)]))
        status, reason = VerdictStatus.FAILED, _failed(failure.kind, why)
    elif unbuilt is not None:
        status, reason = VerdictStatus.FAILED, _failed(PrepareFailed.kind, unbuilt)
    else:
        status, reason = _status(receipts), _reason(messages, receipts)
    learnt = status in {VerdictStatus.COMPLETED, VerdictStatus.HELD}
    if refused and learnt:
        reason = Message("run.partly", said=reason, refused=joined(refused))
    return Verdict(
        status=status,
        reason=reason,
        receipts=receipts,
        refused=refused if learnt else (),
        usage=usage,
    )


def _failed(kind: str, why: str) -> str:
    """Return why a run failed, and mark its span."""
    tracing.fail(kind)
    return Message("error.reason", kind=term(kind), why=why)


def _causes(messages: Sequence[AnyMessage], receipts: Sequence[Receipt]) -> list[str]:
    """Return what led nowhere, each once, then the last attempt and the model's last words."""
    found = Counter[str]()
    for message in messages:
        problem = problem_of(message)
        if problem is not None:
            found[problem] += 1
        elif isinstance(message, AIMessage) and not is_call(message):
            found[idle_reason(message)] += 1
    causes = [_times(*cause) for cause in [*found.items()][-CAUSES:]]
    in_vain = [receipt for receipt in receipts if not receipt.status.is_outcome]
    if in_vain:
        causes.append(Message("run.last_attempt", receipt=in_vain[-1].message))
    return [*causes, *last_words(last_words_of(ai_messages(messages)[-1]))]


def _times(what: str, count: int) -> str:
    return what if count == 1 else Message("run.times", what=what, n=count)


_NOTHING = {ReceiptStatus.NO_ACTION, ReceiptStatus.OVERTAKEN}


def _status(receipts: Sequence[Receipt]) -> VerdictStatus:
    found = {receipt.status for receipt in receipts if receipt.status.is_outcome}
    if ReceiptStatus.HELD in found:
        return VerdictStatus.HELD
    return VerdictStatus.COMPLETED if found - _NOTHING else VerdictStatus.NO_ACTION


def _reason(messages: Sequence[AnyMessage], receipts: Sequence[Receipt]) -> str:
    """Return the model's closing words, else what was done; of `no_action` its reason."""
    if _status(receipts) is VerdictStatus.NO_ACTION:
        told = [receipt.message for receipt in receipts if receipt.status in _NOTHING]
        return shorten(told[0], REASON_CHARS)
    closing = said_in(ai_messages(messages)[-1])
    if closing:
        return shorten(closing, REASON_CHARS)
    done = [r.message for r in receipts if r.status.is_outcome and r.status not in _NOTHING]
    return shorten(joined(done), REASON_CHARS)


_SKILLS = "skills"
# The tools whose calls can be a part of the outcome, by what they write.
_WRITES = {
    "commit_to_memory": "memories",
    "commit_to_dmn_rule": "tables",
    "commit_to_skill": _SKILLS,
    "attach_skills_to_agent": _SKILLS,
    "detach_skills_from_agent": _SKILLS,
}


def _written_by(tool: str | None) -> str | None:
    """Return what a tool writes, None if it only reads; a package's kind has a tool of its own."""
    if tool is not None and tool.startswith("commit_to_"):
        return _WRITES.get(tool, tool)
    return _WRITES.get(tool or "")


@dataclass(frozen=True)
class _Part:
    """A write of the `turn`th answer; without a receipt the call was no valid one."""

    turn: int
    tool: str
    why: str
    receipt: Receipt | None

    @property
    def is_done(self) -> bool:
        return self.receipt is not None and self.receipt.status.is_outcome

    @property
    def is_of_a_tool(self) -> bool:
        """Whether the tool that was called exists, as far as its answer tells."""
        return self.tool in _WRITES or self.receipt is not None

    @property
    def is_unbuilt(self) -> bool:
        """Whether the change was wanted and allowed, but could not be made."""
        receipt = self.receipt
        if receipt is None or receipt.status is ReceiptStatus.FAILED:
            return receipt is not None
        if receipt.category == DENIED:
            return False
        is_written = receipt.kind is Kind.SKILL and receipt.operation is not Operation.DELETE
        return is_written and receipt.status is ReceiptStatus.REFUSED and not receipt.hits

    @property
    def message(self) -> str:
        if self.receipt is None:
            return self.why
        return Message("run.part", tool=self.tool, why=self.why)

    def follows(self, earlier: _Part) -> bool:
        """Whether this is an earlier part, corrected in a later answer."""
        if earlier.turn >= self.turn:
            return False
        targets = [part.receipt and part.receipt.target_id for part in (earlier, self)]
        if all(targets) and targets[0] == targets[1]:
            return True
        is_alike = _written_by(earlier.tool) == _written_by(self.tool)
        return is_alike and (self.is_done or not all(targets))


def _refused(messages: Sequence[AnyMessage]) -> list[_Part]:
    """Return the writes that came to nothing and were not made good in a later answer."""
    left: list[_Part] = []
    turn = 0
    for message in messages:
        turn += isinstance(message, AIMessage)
        if not isinstance(message, ToolMessage):
            continue
        writes = _written_by(message.name)
        if writes or (problem_of(message) and message.name not in ARGUMENTS):
            _put(left, _part(turn, message))
        elif is_known_already(message):
            left = [part for part in left if not (part.receipt and part.receipt.hits)]
    return left


def _part(turn: int, message: ToolMessage) -> _Part:
    receipt = Receipt.model_validate(message.artifact) if message.artifact else None
    why = receipt.message if receipt else problem_of(message) or message.text
    return _Part(turn, message.name or "", why, receipt)


def _put(left: list[_Part], part: _Part) -> None:
    """Add a part in vain; take away what it corrects: else, if done, the first of before.

    What a call of no tool was to write is not known: any write of a later answer corrects it.
    """
    corrected = [other for other in left if part.follows(other)]
    if part.is_done:
        corrected += [other for other in left if other.turn < part.turn]
    if corrected:
        left.remove(corrected[0])
    if not part.is_done:
        left.append(part)
        return
    left[:] = [other for other in left if other.turn == part.turn or other.is_of_a_tool]


def _unbuilt(messages: Sequence[AnyMessage]) -> str | None:
    """Return why a change that was wanted could not be made; None if there is no such."""
    return next((part.why for part in _refused(messages) if part.is_unbuilt), None)

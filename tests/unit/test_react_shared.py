"""All runs share one compiled graph, and each is served by its own tools."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar, copy_context
from threading import get_ident

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.memory import InMemorySaver
from langsmith._internal._aiter import aio_to_thread
from langsmith.run_helpers import tracing_context

from core.agent.loop.middleware import trace_in_place
from core.domain.models import Agent, VerdictStatus
from core.react_agent import process_feedback_with_react
from core.testing.scripted_model import calls, says
from tests.support.react import AGENT, CANDIDATE, FEEDBACK, MEMORY, Bench

COMMIT = calls(("commit_to_memory", {**MEMORY}))


class _Reads(InMemorySaver):
    """Counts the reads of a thread."""

    number = 0

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        self.number += 1
        return await super().aget_tuple(config)


async def _reads(epoch: int) -> int:
    saver = _Reads()
    candidate = CANDIDATE.model_copy(update={"epoch": epoch})
    bench = Bench([COMMIT, says("done")], saver=saver, candidate=candidate)
    assert (await bench.run()).status is VerdictStatus.COMPLETED
    return saver.number


async def test_a_run_that_is_new_looks_once_less_for_what_is_stored() -> None:
    assert await _reads(1) == await _reads(2) - 1


async def test_runs_at_once_on_one_graph_commit_each_for_its_own_agent() -> None:
    bench = Bench([COMMIT, COMMIT, says("done"), says("done")])
    deps = bench.deps

    async def run(name: str) -> None:
        agent = Agent(id=name, tenant_id=AGENT.tenant_id, name=name)
        own = CANDIDATE.model_copy(update={"id": f"c-{name}", "agent_id": name})
        bench.runs.stored[own.id] = own
        await process_feedback_with_react(
            name, f"told to {name}", candidate=own, feedback=FEEDBACK, agent=agent, deps=deps
        )

    await asyncio.gather(run("one"), run("two"))
    told = {(c.agent_id, c.feedback_content, c.fence) for _, c in bench.gate.submitted}
    assert {(agent, text) for agent, text, _ in told} == {
        ("one", "told to one"),
        ("two", "told to two"),
    }
    assert {fence.candidate_id for *_, fence in told if fence} == {"c-one", "c-two"}


_MARK = ContextVar("_MARK", default="")


async def test_only_where_spans_are_kept_does_beginning_one_ask_for_a_thread() -> None:
    trace_in_place()
    context = copy_context()
    context.run(_MARK.set, "seen")
    with tracing_context(enabled=False):
        assert await aio_to_thread(context, get_ident) == get_ident()
        assert await aio_to_thread(context, _MARK.get) == "seen"
    with tracing_context(enabled=True):
        assert await aio_to_thread(context, get_ident) != get_ident()

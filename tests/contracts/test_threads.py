"""Transcripts of runs in PostgreSQL."""

from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Send

from core.adapters.postgres.queries import Pool, connection, fetch_one, gathering
from core.adapters.postgres.saver import postgres_saver
from core.adapters.postgres.threads import PostgresThreads
from core.domain.errors import ConfigurationError
from core.domain.ports import Threads
from tests.contracts.suites.threads import Saver, ThreadsContract
from tests.support.databases import alter


class State(MessagesState):
    """Messages, and what a task is given."""

    own: str


class TestThreads(ThreadsContract):
    @pytest.fixture
    async def saver(self, pool: Pool) -> Saver:
        return postgres_saver(pool)

    @pytest.fixture
    def threads(self, pool: Pool) -> Threads:
        return PostgresThreads(pool)


async def _stored(pool: Pool) -> object:
    async with connection(pool) as conn:
        row = await (await conn.execute("SELECT count(*) FROM checkpoints")).fetchone()
    return row and row["count"]


async def test_of_several_tasks_what_one_came_to_outlives_another_s_failure(pool: Pool) -> None:
    begun: list[str] = []

    async def work(state: State) -> dict[str, list[HumanMessage]]:
        begun.append(state["own"])
        if begun == ["a", "b"]:
            raise ZeroDivisionError
        return {"messages": [HumanMessage(state["own"])]}

    builder = StateGraph(State)
    builder.add_node("work", work)
    builder.add_conditional_edges(START, lambda _: [Send("work", {"own": n}) for n in "ab"])
    graph = builder.compile(checkpointer=postgres_saver(pool))
    config = {"configurable": {"thread_id": "c:1"}, "max_concurrency": 1}
    with pytest.raises(ZeroDivisionError):
        await graph.ainvoke({"messages": []}, config, durability="sync")
    ended = await graph.ainvoke(None, config, durability="sync")
    assert begun == ["a", "b", "b"]
    assert [message.text for message in ended["messages"]] == ["a", "b"]


async def test_a_step_without_tools_is_stored_with_the_next_trip(pool: Pool) -> None:
    async def answer(_: State) -> dict[str, list[HumanMessage]]:
        return {"messages": [HumanMessage("answered")]}

    builder = StateGraph(State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    graph = builder.compile(checkpointer=postgres_saver(pool))
    async with gathering(pool):
        await graph.ainvoke(
            {"messages": [HumanMessage("asked")]},
            {"configurable": {"thread_id": "c:1"}},
            durability="sync",
        )
        assert await _stored(pool) == 0
        await fetch_one(pool, "inbox.get", id="f1")
        assert await _stored(pool) == 2
    said = await PostgresThreads(pool).read("c:1")
    assert said is not None
    assert [one.text for one in said] == ["asked", "answered"]


async def test_a_failure_to_store_a_step_is_the_program_s_own(pool: Pool) -> None:
    alter(pool.conninfo, "ALTER TABLE checkpoints RENAME TO elsewhere")
    config = RunnableConfig(configurable={"thread_id": "c:1", "checkpoint_ns": ""})
    with pytest.raises(ConfigurationError):
        await postgres_saver(pool).aput(config, empty_checkpoint(), {"step": 1}, {})

"""Damaged rows and stored runs end clearly, and everything else continues."""

from __future__ import annotations

import pytest

from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.reads import PostgresReader
from core.adapters.postgres.runs import PostgresRuns
from core.domain.errors import DatabaseDown, RunFailed
from core.domain.models import FeedbackFilter, FeedbackStatus, NewFeedback
from core.testing.determinism import counting_ids
from tests.contracts.suites.inbox import added, claimed, matched
from tests.support.databases import alter

DEEP = "[" * 3_000 + "]" * 3_000


@pytest.fixture
def inbox(pool: Pool) -> PostgresInbox:
    return PostgresInbox(pool, Jobs(pool), counting_ids("feedback"))


async def damage(pool: Pool, statement: str) -> None:
    async with connection(pool) as conn:
        await conn.execute(statement.encode())


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("events", """'{"tool": "send"}'"""),
        ("events", """'"text"'"""),
        ("events", "'null'"),
        ("events", f"'{DEEP}'"),
        ("events", f"'[{'9' * 5_000}]'"),
        ("agent_ids", "ARRAY['a', NULL]"),
        ("agent_ids", "ARRAY[ARRAY['a'], ARRAY['b']]"),
    ],
)
async def test_a_row_that_cannot_be_read_fails_with_its_column_named(
    pool: Pool, inbox: PostgresInbox, column: str, value: str
) -> None:
    feedback_id, other = await added(inbox), await added(inbox, _piece())
    await damage(pool, f"UPDATE feedback SET {column} = {value} WHERE id = '{feedback_id}'")
    reader = PostgresReader(pool)
    listed, _ = await reader.feedback(FeedbackFilter(), limit=10, cursor=None)
    assert {piece.id for piece in listed} == {feedback_id, other}
    assert column in ((await inbox.get(feedback_id)).error or "")
    assert await inbox.claim(feedback_id) is None
    found = await inbox.get(feedback_id)
    assert found.status is FeedbackStatus.FAILED
    assert f"column {column} cannot be read" in (found.error or "")
    (event,) = await reader.events(feedback_id)
    assert (event.name, event.data["status"]) == ("feedback.finished", "failed")
    assert (await claimed(inbox, other)).agent_ids == ("a",)


async def test_a_verdict_that_cannot_be_read_is_reached_again(
    pool: Pool, inbox: PostgresInbox, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = PostgresRuns(pool, counting_ids("candidate"))
    feedback_id = await added(inbox)
    await matched(inbox, runs, feedback_id)
    await damage(pool, """UPDATE candidates SET verdict = '{"status": "odd"}'""")
    assert [c.verdict for c in await runs.candidates(feedback_id)] == [None, None]
    assert "verdict.unreadable" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE checkpoint_blobs SET type = 'odd'",
        "UPDATE checkpoint_blobs SET blob = '\\xc1ff'",
        "UPDATE checkpoint_blobs SET blob = '\\x05' WHERE channel = 'messages'",
        "UPDATE checkpoint_blobs SET blob = '\\x91c0' WHERE channel = 'messages'",
        "UPDATE checkpoints SET checkpoint = '{}'",
        "UPDATE checkpoints SET checkpoint = '[]'",
    ],
)
async def test_a_kept_run_that_cannot_be_read_is_named(pool: Pool, statement: str) -> None:
    from langchain_core.messages import HumanMessage
    from langgraph.graph import END, START, MessagesState, StateGraph

    from core.adapters.postgres.saver import postgres_saver

    builder = StateGraph(MessagesState)
    builder.add_node("echo", lambda _: {"messages": [HumanMessage("more")]})
    builder.add_edge(START, "echo")
    builder.add_edge("echo", END)
    config = {"configurable": {"thread_id": "candidate-1:1"}}
    graph = builder.compile(checkpointer=postgres_saver(pool))
    first = await graph.ainvoke({"messages": [HumanMessage("hello")]}, config)
    assert len(first["messages"]) == 2
    await damage(pool, statement)
    with pytest.raises(RunFailed, match="candidate-1:1") as caught:
        await graph.ainvoke(None, config)
    assert "feedback retry" in caught.value.hint


@pytest.mark.parametrize("table", ["checkpoints", "checkpoint_blobs", "checkpoint_writes"])
async def test_a_run_that_the_database_does_not_take_is_translated(pool: Pool, table: str) -> None:
    from langchain_core.messages import HumanMessage
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import Send

    from core.adapters.postgres.saver import postgres_saver

    builder = StateGraph(MessagesState)
    builder.add_node("one", lambda _: {"messages": [HumanMessage("more")]})
    builder.add_node("two", lambda _: {"messages": [HumanMessage("more")]})
    builder.add_conditional_edges(START, lambda state: [Send("one", state), Send("two", state)])
    graph = builder.compile(checkpointer=postgres_saver(pool))
    config = {"configurable": {"thread_id": "candidate-2:1"}}
    alter(
        pool.conninfo,
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END $$;"
        f"CREATE TRIGGER full_disk BEFORE INSERT ON {table}"
        " FOR EACH ROW EXECUTE FUNCTION full_disk()",
    )
    with pytest.raises(DatabaseDown, match="no space left") as caught:
        await graph.ainvoke({"messages": [HumanMessage("hello")]}, config, durability="sync")
    assert caught.value.hint


def _piece() -> NewFeedback:
    return NewFeedback(tenant_id="t", agent_ids=("a",), content="원화로")

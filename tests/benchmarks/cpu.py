"""CPU time of the whole worker for one piece of feedback, against a bare agent run."""

from __future__ import annotations

import time
from statistics import median

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from core.app.program import App
from tests.benchmarks.table import Figure
from tests.benchmarks.world import TwoTurnModel, drain, opened, pieces

BATCH = 100
ROUNDS = 5


@tool
def commit_to_memory(content: str, operation: str, reason: str) -> str:
    """Learn a memory."""
    return f"{operation} {content} {reason}"


async def measure() -> list[Figure]:
    """Measure batches of both in turn, in one process; medians of milliseconds per run."""
    chat = TwoTurnModel()
    async with opened(chat) as app:
        await _worker(app, 0)
        await _bare(app, chat, 0)
        workers, bares = [], []
        for number in range(1, ROUNDS + 1):
            workers.append(await _worker(app, number))
            bares.append(await _bare(app, chat, number))
    ours, floor = median(workers), median(bares)
    return [
        Figure(
            "CPU per feedback, whole worker",
            f"{ours * 1000:.1f} ms",
            f"bare create_agent, same messages, stock saver: {floor * 1000:.1f} ms",
            ours / floor,
            at_most=2.3,  # with cases, screen and records of use; 1.9 before any of them
        )
    ]


async def _worker(app: App, number: int) -> float:
    await app.stores.inbox.add("bench", pieces(BATCH, number * BATCH))
    begun = time.process_time()
    await drain(app, 1)
    return (time.process_time() - begun) / BATCH


async def _bare(app: App, chat: TwoTurnModel, number: int) -> float:
    pool = app.stores.inbox._pool  # type: ignore[attr-defined]
    begun = time.process_time()
    for n, piece in enumerate(pieces(BATCH, number * BATCH)):
        agent = create_agent(
            chat,
            [commit_to_memory],
            system_prompt=SystemMessage("Decide what is to be learnt."),
            checkpointer=AsyncPostgresSaver(pool),
        )
        await agent.ainvoke(
            {"messages": [HumanMessage(piece.content)]},
            {"configurable": {"thread_id": f"bare-{number}-{n}"}},
            durability="sync",
        )
    return (time.process_time() - begun) / BATCH

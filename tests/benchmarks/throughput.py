"""How close the worker comes to the arithmetic limit with a slow model.

Of a whole queue, from its first piece to its last, and while all lanes are busy: at the start they
wait for each other, and at the end lanes have nothing left.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage
from pydantic import Field

from tests.benchmarks.table import Figure
from tests.benchmarks.world import TwoTurnModel, drain, opened, pieces

CONCURRENCY = 32
COUNT = 320
CALLS = 2
SECONDS_A_CALL = 1.0


class TimedModel(TwoTurnModel):
    """Notes when it is asked."""

    asked: list[float] = Field(default_factory=list)

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        self.asked.append(time.perf_counter())
        return super().answer(messages, tools)


async def measure() -> list[Figure]:
    """Process a full inbox; the limit is count × calls × seconds ÷ concurrency."""
    chat = TimedModel()
    async with opened(chat) as app:
        await app.stores.inbox.add("warm", pieces(4, 100_000))
        await drain(app, CONCURRENCY)
        chat.delay = SECONDS_A_CALL
        chat.asked.clear()
        await app.stores.inbox.add("bench", pieces(COUNT))
        begun = time.perf_counter()
        await drain(app, CONCURRENCY)
        took = time.perf_counter() - begun
    busy = _while_busy(chat.asked)
    limit = COUNT * CALLS * SECONDS_A_CALL / CONCURRENCY
    return [
        Figure(
            f"throughput, model 1 s a call, concurrency {CONCURRENCY}",
            f"{COUNT / took:.1f} feedback/s",
            f"arithmetic limit {COUNT / limit:.1f}/s",
            limit / took,
            at_least=0.94,
        ),
        Figure(
            "the same while all lanes are busy",
            f"{COUNT / limit * busy:.1f} feedback/s",
            f"arithmetic limit {COUNT / limit:.1f}/s",
            busy,
            at_least=0.94,
        ),
    ]


def _while_busy(asked: Sequence[float]) -> float:
    """Return the part of the limit from the second call of any lane to the last of all lanes.

    Before that all calls are under way at once, and after it lanes end.
    """
    within = asked[CONCURRENCY:-CONCURRENCY]
    return (len(within) - 1) * SECONDS_A_CALL / CONCURRENCY / (within[-1] - within[0])

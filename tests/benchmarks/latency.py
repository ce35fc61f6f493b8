"""Time from the insert of a piece of feedback to the start of its job, on an idle worker."""

from __future__ import annotations

import asyncio
from statistics import median, quantiles

from core.app.program import App
from core.domain.models import FeedbackStatus
from tests.benchmarks.table import Figure
from tests.benchmarks.world import TwoTurnModel, opened, pieces

COUNT = 100
TARGET_MS = 50.0


async def measure() -> list[Figure]:
    """Measure one piece at a time; both timestamps come from the database's clock."""
    async with opened(TwoTurnModel()) as app:
        stop = asyncio.Event()
        worker = asyncio.create_task(app.run(False, 4, stop, lambda _: None))
        await _one(app, 10_000)
        waits = [await _one(app, number) for number in range(COUNT)]
        stop.set()
        await worker
    typical, p95 = median(waits), quantiles(waits, n=20)[-1]
    return [
        Figure(
            "insert to job start",
            f"median {typical:.1f} ms, p95 {p95:.1f} ms",
            f"{TARGET_MS:.0f} ms",
            typical / TARGET_MS,
            at_most=1,
        )
    ]


async def _one(app: App, number: int) -> float:
    """Insert one piece, wait for its end; return milliseconds from insert to claim."""
    ((feedback_id, _),) = await app.stores.inbox.add("bench", pieces(1, number))
    while (feedback := await app.stores.inbox.get(feedback_id)).status in {
        FeedbackStatus.QUEUED,
        FeedbackStatus.PROCESSING,
    }:
        await asyncio.sleep(0.01)
    claimed = next(
        e for e in await app.stores.reader.events(feedback_id) if e.name == "feedback.claimed"
    )
    assert claimed.at is not None
    assert feedback.created_at is not None
    return (claimed.at - feedback.created_at).total_seconds() * 1000

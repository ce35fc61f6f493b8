"""One worker process of a fleet: `python -m tests.benchmarks.fleet_worker JSON`, led by lines."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from core.app.observability import configure_logging
from core.app.program import App, open_app
from tests.benchmarks.world import TwoTurnModel, pieces, settings

WARM_UP = 4


async def main(given: dict[str, str]) -> None:
    """Open, warm up, work, stop: each step begins with a line on stdin and is answered by one."""
    configure_logging("error", "console")
    chat = TwoTurnModel()
    own = settings(
        Path(given["home"]),
        database_url=given["database_url"],
        skill_api_base_url=given["skill_api_base_url"],
        retention_days=float(given["retention_days"]),
        health_port=0,
    )
    async with open_app(own, model=True, chat=chat) as app:
        await told("opened")
        await app.stores.inbox.add(given["name"], pieces(WARM_UP))
        await app.run(True, WARM_UP, asyncio.Event(), lambda _: None)
        await told("warm")
    chat.delay = float(given["delay"])
    async with (
        open_app(own, model=True, chat=chat) as app,
        working(app, int(given["concurrency"])),
    ):
        await told("working")


@asynccontextmanager
async def working(app: App, concurrency: int) -> AsyncIterator[None]:
    """Work while the block runs."""
    stop = asyncio.Event()
    worker = asyncio.create_task(app.run(False, concurrency, stop, lambda _: None))
    try:
        yield
    finally:
        stop.set()
        await worker


async def told(word: str) -> None:
    """Report a step, and wait for permission to continue."""
    print(word, flush=True)
    await asyncio.to_thread(sys.stdin.readline)


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))

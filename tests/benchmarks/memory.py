"""Resident memory of a worker: idle, and after much feedback."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path

from core.app.program import App, open_app
from core.domain.models import Agent
from tests.benchmarks.table import Figure
from tests.benchmarks.world import AGENT, TENANT, pieces, resident_bytes, settings

FIRST = 500
ALL = 2000
MIB = 1024 * 1024


async def measure() -> list[Figure]:
    """Measure a real `skill-worker run --offline` in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="skill-worker-bench-") as home:
        async with open_app(settings(Path(home))) as app:
            await app.stores.agents.save(Agent(id=AGENT, tenant_id=TENANT, name="Bench"))
            worker = await _start(home)
            try:
                return await _watch(app, worker.pid)
            finally:
                worker.terminate()
                await worker.wait()


async def _watch(app: App, pid: int) -> list[Figure]:
    await _work_off(app, 1, 0)
    idle = resident_bytes(pid)
    await _work_off(app, FIRST, 1)
    early = resident_bytes(pid)
    await _work_off(app, ALL - FIRST, FIRST + 1)
    late = resident_bytes(pid)
    return [
        Figure("resident memory, idle worker", f"{idle / MIB:.0f} MiB", "-"),
        Figure(
            f"resident memory after {ALL} feedback",
            f"{late / MIB:.0f} MiB",
            f"after {FIRST}: {early / MIB:.0f} MiB",
            late / early,
            at_most=1.05,
        ),
    ]


async def _start(home: str) -> asyncio.subprocess.Process:
    environment = {**os.environ, "SKILL_WORKER_HOME": home, "LOG_LEVEL": "error"}
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "core", "run", "--offline", "--concurrency", "8", env=environment
    )


async def _work_off(app: App, count: int, start: int) -> None:
    await app.stores.inbox.add("bench", pieces(count, start))
    while await _unfinished(app):
        await asyncio.sleep(0.2)


async def _unfinished(app: App) -> int:
    counts = await app.stores.reader.counts()
    return counts.get("queued", 0) + counts.get("processing", 0)

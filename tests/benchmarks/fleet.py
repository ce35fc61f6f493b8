"""Worker processes on one PostgreSQL: started, warmed up one by one, and released together."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.rows import TupleRow

from core.adapters.embedded.postgres import embedded_postgres
from core.adapters.postgres.migrations import migrate
from core.app.observability import configure_logging
from core.app.program import App, open_app
from core.domain.models import Agent
from tests.benchmarks.pod_world import served
from tests.benchmarks.world import AGENT, TENANT, pieces, settings

SOURCE = "bench"
START_SECONDS = 60
LOOK_EVERY = 0.2


@dataclass(frozen=True)
class Fleet:
    """The workers, the parent's own app on their database, and a connection for figures."""

    home: Path
    database_url: str
    app: App
    pids: Sequence[int]
    conn: psycopg.AsyncConnection[TupleRow]

    async def work_off(self, count: int, start: int = 0, seconds: float = 600) -> float:
        """Insert feedback at once; return the seconds from the first insert to the last end."""
        await self.app.stores.inbox.add(SOURCE, pieces(count, start))
        async with asyncio.timeout(seconds):
            while await self.number("feedback WHERE status IN ('queued', 'processing')"):
                await asyncio.sleep(LOOK_EVERY)
        assert not await self.number("feedback WHERE status <> 'completed'"), "not all was learnt"
        (took,) = await self.row(
            "SELECT extract(epoch FROM max(finished_at) - min(created_at))::float8 FROM feedback"
            " WHERE source = %s AND created_at >= (SELECT created_at FROM feedback"
            " WHERE source = %s AND source_id = %s)",
            (SOURCE, SOURCE, f"b-{start}"),
        )
        return float(took)

    async def number(self, what: str) -> int:
        """Return the number of rows of a table; a condition may follow its name."""
        (found,) = await self.row(f"SELECT count(*) FROM {what}")
        return int(found)

    async def row(self, query: str, params: Sequence[object] = ()) -> TupleRow:
        """Return the one row of a query."""
        found = await (await self.conn.execute(query, params)).fetchone()
        assert found is not None
        return found


@asynccontextmanager
async def fleet(
    processes: int, *, concurrency: int, delay: float = 0.0, retention_days: float = 7
) -> AsyncIterator[Fleet]:
    """Yield warm worker processes that wait for feedback, in a throw-away home."""
    configure_logging("error", "console")
    async with AsyncExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="skill-worker-bench-")))
        uri = stack.enter_context(embedded_postgres(home))
        await migrate(uri)
        skills = await stack.enter_async_context(served("skills", home))
        own = settings(home, database_url=uri, skill_api_base_url=skills)
        app = await stack.enter_async_context(open_app(own))
        await app.stores.agents.save(Agent(id=AGENT, tenant_id=TENANT, name="Bench", role="clerk"))
        conn = await psycopg.AsyncConnection.connect(uri, autocommit=True)
        await stack.enter_async_context(conn)
        given: dict[str, str | float] = {
            "home": str(home),
            "database_url": uri,
            "skill_api_base_url": skills,
            "delay": delay,
            "concurrency": concurrency,
            "retention_days": retention_days,
        }
        workers = [await _spawn(stack, {**given, "name": f"warm-{n}"}) for n in range(processes)]
        await _begin(workers)
        await asyncio.sleep(1)  # until all listen
        yield Fleet(home, uri, app, [worker.pid for worker in workers], conn)


async def _spawn(
    stack: AsyncExitStack, given: dict[str, str | float]
) -> asyncio.subprocess.Process:
    worker = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.benchmarks.fleet_worker", json.dumps(given)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    stack.push_async_callback(_end, worker)
    return worker


async def _begin(workers: Sequence[asyncio.subprocess.Process]) -> None:
    """Lead the workers through their warm-up one after another, so that each has its own pieces."""
    for worker in workers:
        await _heard(worker, "opened")
    for worker in workers:
        _say_go(worker)
        await _heard(worker, "warm")
    for worker in workers:
        _say_go(worker)
        await _heard(worker, "working")


async def _heard(worker: asyncio.subprocess.Process, word: str) -> None:
    assert worker.stdout
    line = await asyncio.wait_for(worker.stdout.readline(), START_SECONDS)
    assert line.decode().strip() == word, f"a worker said {line!r} instead of {word}"


def _say_go(worker: asyncio.subprocess.Process) -> None:
    assert worker.stdin
    worker.stdin.write(b"go\n")


async def _end(worker: asyncio.subprocess.Process) -> None:
    _say_go(worker)
    try:
        await asyncio.wait_for(worker.wait(), START_SECONDS)
    except TimeoutError:
        worker.kill()
        await worker.wait()

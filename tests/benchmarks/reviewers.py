"""A hundred concurrent reviewers over HTTP, each thinking a second, deciding held changes."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import quantiles
from typing import NamedTuple, TypedDict

from starlette.types import Receive, Scope, Send

from core.adapters.embedded.http_server import run_server
from core.app.program import App, open_app, spare_collections
from core.domain.models import Agent, ChangeFilter, ChangeStatus
from core.domain.models.access import Role
from core.entrypoints.api.serving import Serving
from core.entrypoints.auth import Access, Grant
from core.entrypoints.cli.front import Front
from tests.benchmarks.held_changes import hold_changes
from tests.benchmarks.table import Figure
from tests.benchmarks.world import AGENT, TENANT, TwoTurnModel, settings

CHANGES = 1_000
REVIEWERS = 100
ROUNDS = 3
FILLED = "feedback, candidates, changes, blobs, run_events"
TARGET_MS = 50.0


class Told(TypedDict):
    """What the reviewers report: seconds by what they waited for, and ids of changes."""

    review_view: list[float]
    next: list[float]
    decision: list[float]
    decided: list[str]
    refused: list[str]


async def measure() -> list[Figure]:
    """Let all of the reviewers decide about all of the changes, `ROUNDS` times over.

    The machine's load varies: the median round counts.
    """
    rounds = [await _round() for _ in range(ROUNDS)]
    return [_latency([told for told, _ in rounds]), _decisions(rounds)]


async def _round() -> tuple[Told, int]:
    """Return the reviewers' report, and how many changes have ended; a worker runs alongside."""
    async with opened() as (home, app):
        await hold_changes(app, CHANGES)
        spare_collections()  # as `run` does
        stop = asyncio.Event()
        worker = asyncio.create_task(app.run(False, 4, stop, lambda _: None))
        await quiet(app)
        serving = Serving(host="127.0.0.1", hosts=(), home=home, mount=None)
        front = Front(serving, has_console=False)
        async with run_server(serving.around(no_health)) as url, front.open(app, url):
            told = await _reviewed(url, await _tokens(app))
        stop.set()
        await worker
        return told, await _ended(app)


async def quiet(app: App) -> None:
    """Wait until the worker is idle and the tables have reached their steady state.

    The held changes brought jobs of their own, and autovacuum runs within a minute after the tables
    were filled.
    """
    jobs = "SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing') LIMIT 1"
    pool = app.stores.inbox._pool  # type: ignore[attr-defined]
    async with pool.connection() as conn:
        while await (await conn.execute(jobs)).fetchone() is not None:
            await asyncio.sleep(0.1)
        await conn.execute(f"VACUUM ANALYZE {FILLED}")


async def _tokens(app: App) -> list[str]:
    """Create a token for each reviewer, as `skill-worker tokens add` does."""
    access = Access(app.stores.tokens, app.new_id)
    made = [
        await access.add(Grant(name=f"reviewer-{number}", roles=(Role.READ, Role.REVIEW)))
        for number in range(REVIEWERS)
    ]
    return [token.secret.get_secret_value() for token in made]


async def no_health(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Stand in for the health pages, which are not called here."""


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[Path, App]]:
    from core.app.observability import configure_logging

    configure_logging("error", "console")
    with tempfile.TemporaryDirectory(prefix="skill-worker-bench-") as home:
        given = settings(Path(home), review_policy="all")
        async with open_app(given, model=True, chat=TwoTurnModel()) as app:
            await app.stores.agents.save(
                Agent(id=AGENT, tenant_id=TENANT, name="Bench", role="clerk")
            )
            yield Path(home), app


async def _reviewed(url: str, tokens: Sequence[str]) -> Told:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.benchmarks.reviewers_client",
        url,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate(json.dumps(tokens).encode())
    assert process.returncode == 0, "the reviewers broke off"
    told: Told = json.loads(out)
    return told


def _latency(rounds: Sequence[Told]) -> Figure:
    spreads = sorted((_spread(told["sheet"]) for told in rounds), key=lambda spread: spread.p95)
    middle, every = spreads[ROUNDS // 2], ", ".join(f"{spread.p95:.0f}" for spread in spreads)
    decided = _spread([took for told in rounds for took in told["decision"]])
    return Figure(
        f"review view, {REVIEWERS} reviewers, {CHANGES:,} held changes",
        f"p50 {middle.p50:.0f}, p95 {middle.p95:.0f}, p99 {middle.p99:.0f} ms (p95 of {ROUNDS} "
        f"rounds: {every}); a decision p50 {decided.p50:.0f}, p95 {decided.p95:.0f} ms",
        f"{TARGET_MS:.0f} ms",
        middle.p95 / TARGET_MS,
        at_most=1,
    )


class Spread(NamedTuple):
    """Milliseconds."""

    p50: float
    p95: float
    p99: float


def _spread(times: list[float]) -> Spread:
    parts = quantiles([time * 1000 for time in times], n=100)
    return Spread(parts[49], parts[94], parts[98])


async def _ended(app: App) -> int:
    """Return the number of decided changes."""
    ended, cursor = 0, None
    ends = ChangeFilter(statuses=(ChangeStatus.APPLIED, ChangeStatus.REJECTED))
    while True:
        items, cursor = await app.stores.reader.changes(ends, limit=500, cursor=cursor)
        ended += len(items)
        if cursor is None:
            return ended


def _decisions(rounds: Sequence[tuple[Told, int]]) -> Figure:
    """Compare the answers with the changes that have ended: none twice, none unreported."""
    twice = sum(len(told["decided"]) - len(set(told["decided"])) for told, _ in rounds)
    unsaid = sum(abs(ended - len(told["decided"])) for told, ended in rounds)
    made = sum(ended for _, ended in rounds)
    refused = sum(len(told["refused"]) for told, _ in rounds)
    return Figure(
        "decisions",
        f"{made} made, {twice} twice, {refused} refused as another was first",
        "0 twice",
        float(twice + unsaid),
        at_most=0,
    )

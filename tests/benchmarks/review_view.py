"""The review view over HTTP, with the tables' policies in force and without, in turns."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import quantiles

import httpx
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from core.adapters.embedded.http_server import run_server
from core.adapters.embedded.postgres import OWNER
from core.app.program import App, spare_collections
from core.domain.models import ChangeFilter, ChangeStatus
from core.domain.models.access import Role
from core.entrypoints.api.serving import Serving
from core.entrypoints.auth import Access, Grant
from core.entrypoints.cli.front import Front
from tests.benchmarks.held_changes import hold_changes
from tests.benchmarks.reviewers import no_health, opened, quiet
from tests.benchmarks.table import Figure
from tests.benchmarks.world import TENANT

CHANGES = 200
VIEWS = 50  # in one turn
TURNS = 12  # half of them without policies: what else runs on the machine meets both alike
MOST = 1.10


async def measure() -> list[Figure]:
    """Let one reviewer of a tenant open one held change after another."""
    async with opened() as (home, app):
        await hold_changes(app, CHANGES)
        spare_collections()  # as `run` does
        stop = asyncio.Event()
        worker = asyncio.create_task(app.run(False, 1, stop, lambda _: None))
        await quiet(app)
        stop.set()
        await worker
        held = await _held(app)
        serving = Serving(host="127.0.0.1", hosts=(), home=home, mount=None)
        front = Front(serving, has_console=False)
        async with run_server(serving.around(no_health)) as url, front.open(app, url):
            headers = {"Authorization": f"Bearer {await _token(app)}"}
            async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as http:
                return [await _in_turns(app, http, held)]


async def _in_turns(app: App, http: httpx.AsyncClient, held: list[str]) -> Figure:
    await _views(http, held)  # until statements are prepared
    under, without = list[float](), list[float]()
    for turn in range(TURNS):
        if turn % 2:
            with _without_policies(app):
                without += await _views(http, held)
        else:
            under += await _views(http, held)
    (p50, p95), (free50, free95) = _spread(under), _spread(without)
    return Figure(
        f"review view, {CHANGES:,} held changes, policies in force",
        f"p50 {p50:.1f}, p95 {p95:.1f} ms",
        f"without them p50 {free50:.1f}, p95 {free95:.1f} ms",
        p95 / free95,
        at_most=MOST,
    )


async def _views(http: httpx.AsyncClient, held: list[str]) -> list[float]:
    """Return the milliseconds of each view; the changes come round."""
    took = []
    for change_id in held[:VIEWS]:
        begun = time.perf_counter()
        answer = await http.get(f"/v1/changes/{change_id}/review")
        took.append((time.perf_counter() - begun) * 1000)
        assert answer.status_code == 200, answer.text
    held[:] = held[VIEWS:] + held[:VIEWS]
    return took


@contextmanager
def _without_policies(app: App) -> Iterator[None]:
    """Take row-level security out of force, as only the owner of the tables can."""
    conninfo = make_conninfo(app.stores.pool.conninfo, user=OWNER, options="")
    with psycopg.connect(conninfo, autocommit=True) as conn:
        rows = conn.execute("SELECT relname FROM pg_class WHERE relrowsecurity").fetchall()
        tables = [sql.Identifier(row[0]) for row in rows]
        for table in tables:
            conn.execute(sql.SQL("ALTER TABLE {} DISABLE ROW LEVEL SECURITY").format(table))
        try:
            yield
        finally:
            for table in tables:
                conn.execute(sql.SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(table))


async def _held(app: App) -> list[str]:
    wanted, found, cursor = ChangeFilter(statuses=(ChangeStatus.HELD,)), list[str](), None
    while True:
        items, cursor = await app.stores.reader.changes(wanted, limit=500, cursor=cursor)
        found += [change.id for change in items if change.tenant_id == TENANT]
        if cursor is None:
            return found


async def _token(app: App) -> str:
    grant = Grant(name="reviewer", tenant_id=TENANT, roles=(Role.READ, Role.REVIEW))
    return (await Access(app.stores.tokens, app.new_id).add(grant)).secret.get_secret_value()


def _spread(times: list[float]) -> tuple[float, float]:
    parts = quantiles(times, n=100)
    return parts[49], parts[94]

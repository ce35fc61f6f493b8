"""A worker's whole API on a port of its own, with tokens, for external programs to call."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

from starlette.applications import Starlette

from core.adapters.embedded.http_server import run_server
from core.app.program import App, open_app
from core.domain.models import HistoryFilter, MemoryRequest, NewFeedback, Operation, SubmitContext
from core.domain.models.access import Limits
from core.domain.tasks import over_all_tenants
from core.entrypoints.api.serving import Serving
from core.entrypoints.auth import Access, Grant
from tests.contracts.suites.search import skill
from tests.support.api import AGENTS, settings_of

HOST = "127.0.0.1"
TAUGHT = ("금액은 원화로 적는다", "인사는 짧게 한다")


class Served(NamedTuple):
    """Its address, secrets with all roles for tenant `t` and for all, and ids that exist."""

    url: str
    of_t: str
    of_all: str
    known: Mapping[str, Sequence[str]]


@contextmanager
def api_server(database: str, home: Path) -> Iterator[Served]:
    """Serve from a thread with its own loop until the context is left."""
    ready: Future[Served] = Future()
    stop = threading.Event()

    async def serve() -> None:
        async with _serving(database, home) as served:
            ready.set_result(served)
            await asyncio.to_thread(stop.wait)

    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(asyncio.run, serve())
        done.add_done_callback(lambda ended: _pass_on(ended, ready))
        try:
            yield ready.result()
        finally:
            stop.set()


def _pass_on(ended: Future[None], ready: Future[Served]) -> None:
    error = ended.exception()
    if error is not None and not ready.done():
        ready.set_exception(error)


@asynccontextmanager
async def _serving(database: str, home: Path) -> AsyncIterator[Served]:
    settings = settings_of(database, home, review_policy="risky")
    limits = Limits(calls_per_minute=10_000_000, wrong_tokens_per_minute=100_000)
    serving = Serving(host=HOST, hosts=(), home=home, mount=None, limits=limits)
    async with (
        open_app(settings) as app,
        serving.opened_to(app),
        run_server(serving.around(Starlette()), HOST) as url,
    ):
        access = Access(app.stores.tokens, app.new_id)
        grants = Grant(name="t", tenant_id="t"), Grant(name="all")
        of_t, of_all = [(await access.add(grant)).secret.get_secret_value() for grant in grants]
        with over_all_tenants():
            known = await _filled(app)
        yield Served(url, of_t, of_all, known)


async def _filled(app: App) -> Mapping[str, Sequence[str]]:
    """Add agents, feedback, memories taught by it and a held change; return the ids."""
    for agent in AGENTS:
        await app.stores.agents.save(agent)
    pieces = [
        NewFeedback(id=f"s-{n}", tenant_id="t", agent_ids=("a",), content=f"{n}번: 원화로")
        for n in range(4)
    ]
    feedback = [feedback_id for feedback_id, _ in await app.stores.inbox.add("test", pieces)]
    changes: list[str] = []
    targets: list[str] = []
    for feedback_id, text in zip(feedback, TAUGHT, strict=False):
        await app.stores.intake.cancel(feedback_id, "it has taught by now")
        context = SubmitContext(
            key=feedback_id, tenant_id="t", agent_id="a", feedback_id=feedback_id
        )
        request = MemoryRequest(operation=Operation.CREATE, content=text)
        receipt = await app.gate.submit(request, context)
        changes.append(receipt.change_id or "")
        targets.append(receipt.target_id or "")
    away = MemoryRequest(operation=Operation.DELETE, target_id=targets[0])
    asked = SubmitContext(key="delete", tenant_id="t", agent_id="a")
    changes.append((await app.gate.submit(away, asked)).change_id or "")
    await app.stores.skills.upload(skill("reconcile", "부분 환불을 맞추는 절차"), "t")
    records, _ = await app.stores.reader.history(HistoryFilter(), limit=9, cursor=None)
    return {
        "feedback_id": feedback,
        "change_id": changes,
        "record_id": [record.id for record in records],
        "agent_id": [agent.id for agent in AGENTS],
        "id": [*targets, "reconcile"],
        "path": ["SKILL.md"],
    }

"""Hooks of a whole worker: what a stream ends with, what a kill leaves, and who looks."""

from __future__ import annotations

import asyncio
from pathlib import Path

import yaml
from pydantic import JsonValue

from core.adapters.postgres.outbox import PostgresOutbox
from core.adapters.postgres.queries import Pool
from core.adapters.postgres.runs import PostgresJournal
from core.app.program import open_app
from core.delivery.dispatcher import Dispatcher
from core.domain.models import Agent, NewFeedback
from core.domain.models.access import Role
from core.domain.models.deliveries import DeliveryFilter
from tests.contracts.suites.outbox import Clock, Double, held
from tests.support.api import one_of, opened_api, settings_of
from tests.support.forked import script
from tests.support.streams import listening, served
from tests.support.waiting import AT_LAST

HOOKS: list[dict[str, object]] = [
    {"name": "checks", "event": "before.change_applied", "python": f"{__name__}:checks"},
    {
        "name": "hears",
        "event": ["change.applied", "feedback.completed"],
        "python": f"{__name__}:hears",
    },
    {"name": "asks", "event": "change.applied", "prompt": "Is $target_name kind?", "async": True},
    {"name": "skills", "event": "change.applied", "if": 'kind = "SKILL"', "python": "no.such:one"},
]


def checks(given: dict[str, JsonValue]) -> str:
    data = given["data"]
    assert isinstance(data, dict)
    return f"looked at {data['after']}"


def hears(given: dict[str, JsonValue]) -> str:
    return f"heard {given['type']}"


def configured(folder: Path) -> Path:
    file = folder / "ours.yaml"
    file.write_text(yaml.safe_dump({"hooks": HOOKS}))
    return file


async def test_the_stream_of_a_piece_ends_with_what_hooks_said(
    database: str, tmp_path: Path
) -> None:
    settings = settings_of(database, tmp_path, skill_worker_config=configured(tmp_path))
    async with open_app(settings, model=True, offline=True) as app:
        await app.stores.agents.save(Agent(id="clerk", tenant_id="t", name="Clerk"))
        piece = NewFeedback(tenant_id="t", agent_ids=("clerk",), content="금액은 원화로 적는다")
        ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
        await app.run(True, 1, asyncio.Event(), lambda _: None)
        async with (
            served(app) as url,
            listening(f"{url}/v1/feedback/{feedback_id}/events") as heard,
        ):
            async with asyncio.timeout(AT_LAST):
                end = [event async for event in heard][-1]
        sent, _ = await app.stores.delivery_log.page(DeliveryFilter(), limit=9, cursor=None)
    assert end.data["status"] == "completed"
    said = {(one["hook"], one["event"]): one["note"] for one in end.data["hooks"]}
    assert said.pop(("asks", "change.applied"))
    assert said == {
        ("checks", "before.change_applied"): "looked at 금액은 원화로 적는다",
        ("hears", "change.applied"): "heard change.applied",
        ("hears", "feedback.completed"): "heard feedback.completed",
    }
    assert {one.status for one in sent} == {"delivered"}
    assert not [one for one in sent if "원화" in str(one.payload.data) and one.target == "checks"]


_KILLED = """
import asyncio, os, signal, sys
from datetime import UTC, datetime
from core.adapters.postgres.outbox import PostgresOutbox
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.runs import PostgresJournal
from core.delivery.dispatcher import Dispatcher
from core.delivery.hooks import Hooks
from core.domain.models.deliveries import Outcome, Sent
from core.domain.tasks import over_all_tenants
from tests.contracts.suites.outbox import held, hook

class Deadly:
    digest, lease, came = "1", 30.0, 0

    async def deliver(self, delivery):
        self.came += 1
        if self.came == 2:  # it has arrived, and nobody has written that down
            os.kill(os.getpid(), signal.SIGKILL)
        return Sent(outcome=Outcome.DONE)

async def main():
    async with open_pool(sys.argv[1]) as pool:
        journal = PostgresJournal(pool, routes=Hooks([hook()]).routes)
        for number in range(4):
            await journal.emit(held(number))
        us = {"us": Deadly()}
        clock = lambda: datetime(2026, 1, 1, tzinfo=UTC)
        await Dispatcher(PostgresOutbox(pool), us, journal, clock=clock, jitter=lambda: 0).drain()

with over_all_tenants():
    asyncio.run(main())
"""


async def test_what_a_killed_worker_left_arrives_at_least_once_in_order(
    pool: Pool, database: str
) -> None:
    assert await asyncio.to_thread(script(_KILLED, database).wait, AT_LAST) == -9
    target, clock = Double(), Clock()
    clock.forward(31)
    await Dispatcher(
        PostgresOutbox(pool), {"us": target}, PostgresJournal(pool), clock=clock, jitter=lambda: 0.0
    ).drain()
    assert target.changes == ["c1", "c2", "c3"]


async def test_deliveries_are_listed_shown_and_sent_again_over_http(
    database: str, tmp_path: Path
) -> None:
    file = configured(tmp_path)
    async with opened_api(database, tmp_path, skill_worker_config=file) as api:
        await api.app.stores.journal.emit(held().model_copy(update={"name": "change.applied"}))
        assert api.app.dispatcher is not None
        await api.app.dispatcher.drain()
        path = "/v1/deliveries"
        (one,) = (await api.call("GET", f"{path}?status=delivered")).json()["items"]
        assert (one["target"], one["answer"]["note"]) == ("hears", "heard change.applied")
        shown = (await api.call("GET", f"{path}/{one['id']}")).json()
        assert [attempt["status"] for attempt in shown["attempts"]] == ["returned"]
        reader = one_of("t", Role.READ)
        replayed = f"{path}/{one['id']}/replay"
        assert (await api.call("POST", replayed, who=reader)).status_code == 403
        assert (await api.call("POST", replayed)).json()["status"] == "waiting"

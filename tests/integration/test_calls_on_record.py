"""Who called what, and what came of it: of the API, the console and the command line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from core.app.program import App, open_app
from core.domain.errors import Forbidden, NotFound
from core.domain.models.access import Principal, Role
from core.domain.models.audit import Call, CallFilter
from core.entrypoints.api.serving import Serving
from core.entrypoints.auth import Access, Grant
from core.entrypoints.call_record import CallRecord
from core.entrypoints.service.feedback import FeedbackService
from core.entrypoints.service.history import HistoryService
from core.entrypoints.service.session import Session
from tests.support.api import AGENTS, settings_of
from tests.support.guarded import UNKNOWN
from tests.support.home import Home

PIECE = {"tenant_id": "t", "agent_ids": ["a"], "content": "금액은 원화로"}


async def on_record(app: App) -> Sequence[Call]:
    calls, following = await app.stores.calls.page(CallFilter(), limit=100, cursor=None)
    assert following is None
    return calls[::-1]


async def test_calls_that_change_or_are_refused_are_on_record_at_a_stop(
    database: str, tmp_path: Path
) -> None:
    async with open_app(settings_of(database, tmp_path)) as app:
        for agent in AGENTS:
            await app.stores.agents.save(agent)
        access = Access(app.stores.tokens, app.new_id)
        made = await access.add(Grant(name="kim", roles=(Role.SUBMIT, Role.READ)))
        serving = Serving(host="127.0.0.1", hosts=(), home=tmp_path, mount=None)
        transport = httpx.ASGITransport(serving.around(Starlette()))
        async with (
            serving.opened_to(app),
            httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
        ):
            bearer = {"Authorization": f"Bearer {made.secret.get_secret_value()}"}
            added = await client.post("/v1/feedback", json=PIECE, headers=bearer)
            await client.get("/v1/feedback", headers=bearer)
            await client.post("/v1/changes/c1/approve", json={"seen": "a" * 64}, headers=bearer)
            wrong = {"Authorization": f"Bearer {UNKNOWN}"}
            for _ in range(3):
                await client.get("/v1/history/secret-thing", headers=wrong)
        assert added.status_code == 202
        added_call, refused, unknown = await on_record(app)
        said = json.dumps([c.model_dump(mode="json") for c in (added_call, refused, unknown)])
    assert (added_call.caller, added_call.token_id) == ("kim", made.token.id)
    assert (added_call.method, added_call.route) == ("POST", "/v1/feedback")
    assert (added_call.outcome, added_call.status, added_call.tenant_id) == ("done", 202, "t")
    assert (refused.route, refused.ids) == ("/v1/changes/{change_id}/approve", {"change_id": "c1"})
    assert (refused.outcome, refused.status) == ("forbidden", 403)
    assert (unknown.caller, unknown.outcome, unknown.times) == ("", "unauthorized", 3)
    assert (unknown.route, unknown.ids) == ("/v1/history/{record_id}", {})
    assert made.secret.get_secret_value() not in said
    assert "금액" not in said


async def test_actions_of_the_console_are_on_record(database: str, tmp_path: Path) -> None:
    async with open_app(settings_of(database, tmp_path)) as app:
        record = CallRecord()
        who = Principal(token_id="s1", name="lee", roles=frozenset({Role.OPERATE}))
        service = FeedbackService(Session(app, who, calls=record))
        with pytest.raises(NotFound):
            await service.cancel("nothing", "because")
        with pytest.raises(Forbidden):
            await service.retract("f1")
        await record.flush(app.stores.calls)
        calls = await on_record(app)
        reader = Principal(token_id="s2", name="kim", roles=frozenset({Role.READ}))
        with pytest.raises(Forbidden):
            await HistoryService(Session(app, reader)).calls(CallFilter(), limit=1)
    assert [(c.caller, c.via, c.route, c.ids, c.outcome) for c in calls] == [
        ("lee", "console", "FeedbackService.cancel", {"id": "nothing"}, "not_found"),
        ("lee", "console", "FeedbackService.retract", {"id": "f1"}, "forbidden"),
    ]


async def test_what_cannot_be_stored_waits_and_equal_refusals_are_one() -> None:
    record, stored = CallRecord(), list[Call]()

    class Failing:
        fails = True

        async def add(self, calls: Sequence[Call]) -> None:
            if self.fails:
                raise NotFound("the database is away")
            stored.extend(calls)

    calls = Failing()
    at = record.now()
    for _ in range(5):
        record.note(Call(at=at, via="api", route="/v1/me", outcome="unauthorized"))
        record.note(Call(at=at, via="api", route="/v1/me", outcome="done"))
    with pytest.raises(NotFound):
        await record.flush(calls)  # type: ignore[arg-type]
    calls.fails = False
    await asyncio.gather(record.flush(calls), record.flush(calls))  # type: ignore[arg-type]
    assert sorted((call.outcome, call.times) for call in stored) == [
        *([("done", 1)] * 5),
        ("unauthorized", 5),
    ]


def test_commands_that_change_something_are_on_record(home: Home) -> None:
    added = home.items(
        "feedback", "add", "--text", "금액은 원화로", "--agent", "a", "--tenant", "t"
    )
    home.fails("feedback", "cancel", "nothing", "--reason", "비밀", code=5)
    home.items("feedback", "list")
    home.fails("feedback", "erase", "--author", "kim", "--dry-run", code=5)
    (home.path / "in.jsonl").write_text("{}\n", encoding="utf-8")
    for command in (("feedback", "add"), ("knowledge", "import")):
        assert home.call(*command, str(home.path / "in.jsonl"))[0] == 1
    imported, lines, newest, first = home.items("history", "calls")
    assert (lines["route"], lines["outcome"]) == ("feedback add", "failed")
    assert (imported["route"], imported["outcome"]) == ("knowledge import", "failed")
    assert (first["via"], first["route"], first["outcome"]) == ("cli", "feedback add", "done")
    assert (first["tenant_id"], bool(first["caller"]), len(added)) == ("t", True, 1)
    assert (newest["route"], newest["outcome"]) == ("feedback cancel", "not_found")
    assert newest["ids"] == {"feedback_id": "nothing"}
    refused = [call["route"] for call in home.items("history", "calls", "--refused")]
    assert refused == ["knowledge import", "feedback add", "feedback cancel"]

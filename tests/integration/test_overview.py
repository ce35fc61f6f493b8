"""The overview over HTTP, of a worker that works and of one that does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from core.app.bootstrap import serve_health
from core.app.program import App, open_app
from core.app.settings import Settings
from core.domain.models import Agent, NewFeedback
from core.domain.models.access import Role
from core.domain.models.views import Overview
from tests.support.databases import url_of
from tests.support.streams import served


@pytest.fixture
async def app(database: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = Settings(
        database_url=SecretStr(url_of(database)),
        skill_worker_home=tmp_path,
        health_port=0,
        _env_file=None,
    )
    async with (
        serve_health(settings, asyncio.Event()) as pages,
        open_app(settings, model=True, offline=True, health=pages.health) as opened,
    ):
        for tenant in ("t", "u"):
            await opened.stores.agents.save(
                Agent(id=f"of-{tenant}", tenant_id=tenant, name="Clerk")
            )
        yield opened


async def teach(app: App, tenant: str, content: str = "금액은 원화로 표시해 주세요") -> None:
    new = NewFeedback(tenant_id=tenant, agent_ids=(f"of-{tenant}",), content=content)
    await app.stores.inbox.add("test", [new])


async def look(url: str, path: str = "", tenant: str | None = None) -> Overview:
    headers = {"x-tenant": tenant} if tenant else {}
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        answer = await client.get(f"/v1/overview{path}", headers=headers)
    assert answer.status_code == 200, answer.text
    return Overview.model_validate_json(answer.content)


async def test_before_the_first_feedback_all_is_there_and_idle(app: App) -> None:
    async with served(app) as url:
        found = await look(url)
    assert (found.condition.word, found.condition.reason) == ("idle", "nothing waits")
    assert set(found.checks.values()) == {"ok"}
    assert {"database", "skill_api", "model"} <= set(found.checks)
    assert (len(found.today.buckets), len(found.month.buckets)) == (96, 30)
    assert (found.today.step_seconds, found.month.step_seconds) == (15 * 60, 24 * 60 * 60)
    assert found.workers == ()
    assert found.spent == ()


async def test_each_tenant_sees_its_own_figures_and_all_see_what_holds_work(app: App) -> None:
    await teach(app, "t")
    await app.run(True, 2, asyncio.Event(), lambda _: None)
    await teach(app, "u")
    await app.stores.intake.pause("a move")
    async with served(app) as url:
        of_t, of_u, of_all = (
            await look(url, tenant="t"),
            await look(url, "?tenant_id=u"),
            await look(url),
        )
    assert of_t.standing.counts == {"completed": 1}
    assert (of_t.ended_last_hour, of_t.ended_per_minute) == (1, 0.02)
    assert sum(sum(bucket.by_status.values()) for bucket in of_t.today.buckets) == 1
    assert [(o.kind, o.operation, o.status, o.day) for o in of_t.outcomes] == [
        ("MEMORY", "CREATE", "applied", 1)
    ]
    assert of_t.spent[0].usage.model_calls == 2
    assert of_u.standing.counts == {"queued": 1}
    assert (of_u.outcomes, of_u.spent) == ((), ())
    assert of_all.standing.counts == {"queued": 1, "completed": 1}
    assert [hold.reason for hold in of_t.holds] == ["a move"]
    assert of_t.condition.word == "idle"
    assert of_all.condition.word == "busy"
    assert "a move" in of_all.condition.reason


async def test_what_is_another_tenants_does_not_exist_and_reading_is_a_role(app: App) -> None:
    async with served(app) as url, httpx.AsyncClient(base_url=url) as client:
        answer = await client.get("/v1/overview?tenant_id=u", headers={"x-tenant": "t"})
        assert (answer.status_code, answer.json()["kind"]) == (404, "not_found")
        assert (await client.get("/v1/overview?tenant_id=%00")).status_code == 422
    async with served(app, roles=(Role.SUBMIT,)) as url, httpx.AsyncClient(base_url=url) as client:
        assert (await client.get("/v1/overview")).status_code == 403

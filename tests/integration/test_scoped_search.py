"""A search shows what holds now and is for whoever asks; over PostgreSQL, by a given clock."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.adapters.postgres.scoped_search import ScopedSearch
from core.app.program import App, open_app
from core.app.settings import load_settings
from core.domain.models import (
    Agent,
    Hit,
    Kind,
    MemoryRequest,
    Operation,
    Origin,
    Scope,
    SubmitContext,
)
from core.domain.models.views import KnowledgeFilter

NOW = datetime.now(UTC)
TOMORROW, YESTERDAY = NOW + timedelta(days=1), NOW - timedelta(days=1)


@pytest.fixture
async def app(database: str, tmp_path: Path) -> AsyncIterator[App]:
    settings = load_settings({"skill_worker_home": tmp_path}, env_file=None)
    given = settings.model_copy(update={"database_url": SecretStr(database)})
    async with open_app(given) as opened:
        for agent_id in ("a", "b"):
            await opened.stores.agents.save(Agent(id=agent_id, tenant_id="t", name=agent_id))
        yield opened


async def known(app: App, content: str, agent_id: str = "a", **given: object) -> str:
    request = MemoryRequest.model_validate(
        {"operation": Operation.CREATE, "content": content, "is_import": True, **given}
    )
    said = datetime(2026, 5, 1, tzinfo=UTC)
    context = SubmitContext(key=content, tenant_id="t", agent_id=agent_id, said_at=said)
    receipt = await app.gate.submit(request, context)
    assert receipt.target_id is not None, receipt
    return receipt.target_id


async def found(
    app: App,
    query: str = "배송비 기준",
    *,
    agent_id: str | None = "a",
    user: str | None = None,
    at: datetime = NOW,
    limit: int = 5,
) -> list[Hit]:
    search = ScopedSearch(app.stores.ranking, lambda: at)
    hits = await search.search(
        query, tenant_id="t", agent_id=agent_id, kind=None, limit=limit, user=user
    )
    return [*hits]


async def near(app: App, *, at: datetime = NOW, user: str | None = None) -> list[str]:
    search = ScopedSearch(app.stores.ranking, lambda: at)
    nearby = await search.near(
        "배송비 무료 기준", tenant_id="t", agent_id="a", kind=Kind.MEMORY, limit=5, user=user
    )
    return [item.id for item in nearby.items]


async def test_a_memory_is_found_until_its_last_moment_and_not_after(app: App) -> None:
    item = await known(app, "배송비 무료 기준은 3만원", valid_until=TOMORROW)
    for at, expected in ((NOW, [item]), (TOMORROW, [item]), (TOMORROW + timedelta(seconds=1), [])):
        assert [hit.id for hit in await found(app, at=at)] == expected
        assert await near(app, at=at) == expected


async def test_what_is_over_takes_no_place_from_what_holds(app: App) -> None:
    for number in range(8):
        await known(app, f"배송비 기준 {number}만원", valid_until=YESTERDAY)
    item = await known(app, "오늘 회의에서 정한 새로운 배송비의 새 기준에 관한 긴 이야기")
    assert [hit.id for hit in await found(app, limit=1)] == [item]


async def test_what_is_for_all_agents_is_found_by_each_and_keeps_its_agent(app: App) -> None:
    item = await known(app, "배송비 무료 기준은 3만원", scope=Scope.TENANT)
    await known(app, "배송비 유료 기준은 2만원")
    (hit,) = await found(app, agent_id="b")
    assert (hit.id, hit.agent_id, hit.scope) == (item, "a", Scope.TENANT)


async def test_what_is_no_longer_for_all_is_found_by_its_agent_alone(app: App) -> None:
    item = await known(app, "배송비 무료 기준은 3만원", scope=Scope.TENANT)
    request = MemoryRequest(operation=Operation.UPDATE, target_id=item, scope=Scope.AGENT)
    person = SubmitContext(key="k", tenant_id="t", agent_id="a", origin=Origin.PERSON)
    await app.gate.submit(request, person)
    assert await found(app, agent_id="b") == []
    assert [hit.id for hit in await found(app)] == [item]


async def test_what_is_for_one_end_user_is_found_when_that_one_is_asked_for(app: App) -> None:
    item = await known(app, "배송비 무료 기준은 3만원", scope=Scope.USER, user="kim")
    for user, expected in ((None, []), ("lee", []), ("kim", [item])):
        assert [hit.id for hit in await found(app, user=user)] == expected
        assert await near(app, user=user) == expected
    (hit,) = await found(app, user="kim")
    assert (hit.scope, hit.user) == (Scope.USER, "kim")


async def test_a_hit_says_when_it_was_taught(app: App) -> None:
    await known(app, "배송비 무료 기준은 3만원")
    (hit,) = await found(app)
    assert hit.taught_at == datetime(2026, 5, 1, tzinfo=UTC)


async def test_lists_leave_out_what_is_over_and_show_it_when_asked(app: App) -> None:
    holds = await known(app, "배송비 무료 기준은 3만원", valid_until=TOMORROW)
    over = await known(app, "견적 금액은 달러로 적는다", valid_until=YESTERDAY)
    for expired, expected in ((False, [holds]), (True, [over])):
        listed = await app.stores.knowledge.list(
            tenant_id="t", agent_id=None, kind=None, expired=expired
        )
        paged = await app.stores.pages.browse(
            tenant_id="t", agent_id=None, kind=None, after=None, limit=9, expired=expired
        )
        assert [item.id for item in listed] == expected
        assert [item.id for item in paged] == expected
    versions = await app.stores.knowledge.versions(Kind.MEMORY, "t", over)
    assert [version.valid_until for version in versions] == [YESTERDAY]
    assert KnowledgeFilter().expired is False

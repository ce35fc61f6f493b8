"""A dry run decides about what has waited longest, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from core.bootstrap import open_app
from core.models import Agent, NewFeedback
from core.settings import Settings, load_settings
from core.testing.contracts.search import skill


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    return load_settings(
        {"skill_worker_home": tmp_path, "llm_model": "offline"}, env_file=None
    ).model_copy(update={"database_url": SecretStr(database)})


async def test_the_oldest_are_decided_about_though_many_came_after_them(settings: Settings) -> None:
    pieces = [
        NewFeedback(id=f"s-{n}", tenant_id="t", agent_ids=("nobody",), content="고마워요")
        for n in range(1_003)
    ]
    async with open_app(settings, model=True, offline=True, dry_run=True) as app:
        await app.inbox.add("cli", pieces)
        decided = await app.dry_run(2)
    assert [piece.source_id for piece, _ in decided] == ["s-0", "s-1"]


async def test_the_search_index_is_taken_as_it_stands(settings: Settings) -> None:
    async with open_app(settings, model=True, offline=True, dry_run=True) as app:
        await app.agents.save(Agent(id="a", tenant_id="t", name="A"))
        await app.skills.upload(skill("reconcile", "부분 환불을 맞추는 절차"), "t")
        piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="금액은 원화로 적어 주세요")
        await app.inbox.add("cli", [piece])
        assert len(await app.dry_run(5)) == 1
        assert not await app.knowledge.list(tenant_id=None, agent_id=None, kind=None)

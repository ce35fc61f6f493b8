"""A dry run decides about what has waited longest, and leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from core.adapters.postgres.queries import Pool, connection
from core.app.program import open_app
from core.app.settings import Settings, load_settings
from core.domain.models import (
    Agent,
    ChangeStatus,
    MemoryRequest,
    NewFeedback,
    Operation,
    ReceiptStatus,
    SubmitContext,
)
from tests.contracts.suites.search import skill


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
        await app.stores.inbox.add("cli", pieces)
        decided = await app.dry_run(2)
    assert [piece.source_id for piece, _ in decided] == ["s-0", "s-1"]


async def test_the_search_index_is_taken_as_it_stands(settings: Settings) -> None:
    async with open_app(settings, model=True, offline=True, dry_run=True) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        await app.stores.skills.upload(skill("reconcile", "부분 환불을 맞추는 절차"), "t")
        piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="금액은 원화로 적어 주세요")
        await app.stores.inbox.add("cli", [piece])
        assert len(await app.dry_run(5)) == 1
        assert not await app.stores.knowledge.list(tenant_id=None, agent_id=None, kind=None)


async def test_an_open_app_looks_ahead_and_leaves_no_trace(settings: Settings, pool: Pool) -> None:
    async with open_app(settings.model_copy(update={"review_policy": "all"})) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="원화로")
        ((feedback_id, _),) = await app.stores.inbox.add("cli", [piece])
        await app.stores.intake.cancel(feedback_id, "only its change is looked at")
        context = SubmitContext(
            key="k", tenant_id="t", agent_id="a", feedback_id=feedback_id, feedback_content="원화로"
        )
        request = MemoryRequest(operation=Operation.CREATE, content="금액은 원화로 적는다")
        held = await app.gate.submit(request, context)
        assert held.change_id
        before = await everything(pool)
        dry = app.as_dry_run()
        approved = await dry.gate.decisions.approve(held.change_id, by="kim")
        rejected = await dry.gate.decisions.reject(held.change_id, by="kim", reason="no")
        retracted = await dry.retractor.retract(await app.stores.inbox.get(feedback_id), by="kim")
        refused = MemoryRequest(operation=Operation.DELETE, target_id="nothing")
        other = context.model_copy(update={"key": "other"})
        assert (await dry.gate.submit(refused, other)).status is ReceiptStatus.REFUSED
        assert approved.status is ReceiptStatus.PREPARED
        assert rejected.status is ChangeStatus.REJECTED
        assert retracted.rejected == (held.change_id,)
        assert await everything(pool) == before
        receipt = await app.gate.decisions.approve(held.change_id, by="kim")
        assert receipt.status is ReceiptStatus.APPLIED


async def everything(pool: Pool) -> dict[str, int]:
    """Return the row versions of each table: any write changes them, even of the same values."""
    async with connection(pool) as conn:
        found = await conn.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [row["tablename"] for row in await found.fetchall()]
        hashes = {}
        for table in tables:
            query = f"SELECT coalesce(sum(hashtext(t::text || xmin::text)), 0) AS h FROM {table} t"
            row = await (await conn.execute(query.encode())).fetchone()
            hashes[table] = int(row["h"]) if row else 0
        return hashes

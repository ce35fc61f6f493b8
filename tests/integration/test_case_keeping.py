"""What was brought in gets cases later, and all of them are run in turn, over PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.adapters.postgres.queries import connection
from core.app.bootstrap.cases import case_keeping
from core.changes.cases.keeping import CaseKeeping
from core.domain.models import Kind, MemoryRequest, Operation, Origin, SubmitContext
from core.domain.models.cases import Case, CaseFilter, CaseStatus, Check
from tests.support.api import Api, opened_api
from tests.support.learning import Teacher

REFUND = "Refunds of damaged parcels are paid within 3 days by Ms. Kim of the harbour office."


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path, review_policy="auto") as opened:
        yield opened


@pytest.fixture
def keeping(api: Api) -> CaseKeeping:
    return case_keeping(api.app.stores)


async def brought_in(api: Api, content: str) -> str:
    request = MemoryRequest(operation=Operation.CREATE, content=content, is_import=True)
    context = SubmitContext(key=content, tenant_id="t", agent_id="a", origin=Origin.IMPORT)
    return str((await api.app.gate.submit(request, context)).target_id)


async def cases_of(api: Api, **wanted: object) -> list[Case]:
    page, _ = await api.app.stores.cases.page(
        CaseFilter.model_validate(wanted), limit=50, cursor=None
    )
    return [*page]


async def events(api: Api) -> list[str]:
    async with connection(api.app.stores.pool) as conn:
        rows = await (await conn.execute(b"SELECT name FROM run_events ORDER BY id")).fetchall()
    return [row["name"] for row in rows if row["name"].startswith("case.")]


async def test_what_was_brought_in_gets_cases_that_hold(api: Api, keeping: CaseKeeping) -> None:
    item = await brought_in(api, REFUND)
    await brought_in(api, "?!")
    assert await cases_of(api) == []
    assert await keeping.derive() == 2
    (made,) = await cases_of(api)
    assert (made.item_id, made.body.check, made.status) == (item, Check.RECALL, CaseStatus.GREEN)
    assert made.change_id is not None
    assert await events(api) == ["case.derived"]


async def test_an_item_is_looked_at_once(api: Api, keeping: CaseKeeping) -> None:
    for number in range(3):
        await brought_in(api, f"{REFUND} Remark {number}{number}{number}, {'xyz'[number]}ebra.")
    assert [await keeping.derive(2) for _ in range(3)] == [2, 1, 0]
    again = case_keeping(api.app.stores)
    assert await again.derive() == 0


async def test_two_workers_keep_each_case_once(api: Api, keeping: CaseKeeping) -> None:
    await brought_in(api, REFUND)
    found = await keeping.upkeep.bare(0, 10)
    await keeping.derive()
    (made,) = await cases_of(api)
    await keeping.upkeep.keep([made])
    assert [one.id for one in await cases_of(api)] == [made.id]
    assert len(found) == 1


async def test_a_skill_and_a_table_get_cases_too(api: Api, keeping: CaseKeeping) -> None:
    teacher = Teacher(api.app)
    table = str((await teacher.rule(("< 100", "clerk"), (">= 100", "manager"))).target_id)
    await teacher.skill("pack", "# Pack\n\n1. Weigh the parcel.\n2. Print the label.\n")
    async with connection(api.app.stores.pool) as conn:
        await conn.execute(b"DELETE FROM cases")
    await keeping.derive()
    decided = await cases_of(api, kind=Kind.DMN_RULE)
    assert {one.item_id for one in decided} == {table}
    assert len(decided) == 2
    stands = await cases_of(api, kind=Kind.SKILL, check=Check.STANDS)
    assert {one.body.text for one in stands} == {"Weigh the parcel.", "Print the label."}


async def test_a_case_that_fails_by_now_turns_red_and_is_told(
    api: Api, keeping: CaseKeeping
) -> None:
    await brought_in(api, REFUND)
    await keeping.derive()
    (made,) = await cases_of(api)
    assert await keeping.run_all() == 1
    assert await events(api) == ["case.derived"]
    body = made.body.model_copy(update={"text": "what the canteen cooks on Fridays"})
    await api.app.stores.cases.edit(made.model_copy(update={"body": body}))
    async with connection(api.app.stores.pool) as conn:
        await conn.execute(b"UPDATE cases SET status = 'green'")
    assert await keeping.run_all() == 1
    (fallen,) = await cases_of(api)
    assert fallen.status is CaseStatus.RED
    assert "brings nothing up" in fallen.note
    assert await events(api) == ["case.derived", "case.failed"]


async def test_all_are_run_by_one_worker_a_day(keeping: CaseKeeping) -> None:
    assert [await keeping.upkeep.is_due(86_400.0) for _ in range(2)] == [True, False]

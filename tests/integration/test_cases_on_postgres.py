"""Cases in PostgreSQL: with their change or not at all, found by its words, of one tenant."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from core.adapters.postgres.queries import Pool, connection, fetch_all
from core.domain.errors import NotFound, Refused
from core.domain.messages import Message
from core.domain.models import (
    Change,
    Kind,
    MemoryRequest,
    Operation,
    Receipt,
    ReceiptStatus,
    Relationship,
    SubmitContext,
)
from core.domain.models.cases import (
    Case,
    CaseBody,
    CaseFilter,
    CaseOrigin,
    CaseResult,
    CaseRole,
    CaseStatus,
    Check,
)
from core.domain.tasks import NO_TENANT, in_name_of
from tests.support.case_gate import CaseGateWorld

REPORT = "The weekly report goes to Ms. Kim on Friday afternoon"
WHO = "Who is told all figures as a report?"


@pytest.fixture
def world(pool: Pool) -> CaseGateWorld:
    return CaseGateWorld(pool)


def behalf(key: str, tenant_id: str = "t", *told: str) -> SubmitContext:
    return SubmitContext(key=key, tenant_id=tenant_id, agent_id="a", told=frozenset(told))


def recall(text: str) -> CaseBody:
    return CaseBody(check=Check.RECALL, text=text)


def _asked(content: str, cases: Sequence[CaseBody]) -> MemoryRequest:
    return MemoryRequest(
        operation=Operation.CREATE,
        content=content,
        cases=tuple(cases),
        relationship=Relationship.UNRELATED,
        reason="about something else",
    )


async def submit(
    world: CaseGateWorld, content: str, *cases: CaseBody, key: str, tenant_id: str = "t"
) -> Receipt:
    request = _asked(content, cases)
    return await world.gate.submit(request, behalf(key, tenant_id))


async def taught(
    world: CaseGateWorld, content: str, *cases: CaseBody, key: str = "k1", tenant_id: str = "t"
) -> Change:
    receipt = await submit(world, content, *cases, key=key, tenant_id=tenant_id)
    assert receipt.status is ReceiptStatus.APPLIED, receipt.message
    assert receipt.change_id is not None
    return await world.changes.get(receipt.change_id)


async def live(world: CaseGateWorld, **given: object) -> Sequence[Case]:
    page, _ = await world.cases.page(CaseFilter.model_validate(given), limit=100, cursor=None)
    return page


async def test_a_case_is_kept_with_its_change_and_says_where_it_is_from(
    world: CaseGateWorld,
) -> None:
    change = await taught(world, REPORT, recall(WHO))
    (case,) = await live(world)
    assert (case.item_id, case.item_name) == (change.target_id, change.target_name)
    assert (case.role, case.status) == (CaseRole.PROOF, CaseStatus.GREEN)
    assert (case.origin, case.change_id) == (CaseOrigin.PERSON, change.id)
    assert case.body == recall(WHO)
    assert case.since is not None
    assert await world.cases.get(case.id) == case
    stored = await world.changes.get(change.id)
    assert [kept.id for kept in stored.cases] == [case.id]
    key = ("t", Kind.MEMORY, change.target_id)
    counts = await world.cases.counts([key, ("u", *key[1:]), ("t", Kind.SKILL, key[2])])
    assert (counts.keys(), counts[key].green) == ({key}, 1)


async def test_a_change_reaches_cases_by_the_words_it_brings(world: CaseGateWorld) -> None:
    await taught(world, REPORT, recall(WHO))
    await taught(world, "Lunch is at noon", recall("When do we eat?"), key="k2")
    near = await taught(world, "All figures of a report are printed twice", key="k3")
    reached = await world.cases.reach(near, 50)
    assert [case.body.text for case in reached.cases] == [WHO]
    own = await world.cases.reach(await taught(world, "Tea at four", key="k4"), 50)
    assert own.cases == ()


async def test_cases_of_its_own_item_come_first_and_are_not_cut_off(world: CaseGateWorld) -> None:
    change = await taught(world, REPORT, recall(WHO), recall("Ms. Kim?"))
    await taught(
        world, "Reports on Friday", *(recall(f"weekly report {n}") for n in range(9)), key="k2"
    )
    reached = await world.cases.reach(change, 4)
    assert {case.item_id for case in reached.cases[:2]} == {change.target_id}
    assert len(reached.cases) == 4


async def test_a_reverted_change_takes_its_cases_along_until_it_is_back(
    world: CaseGateWorld,
) -> None:
    change = await taught(world, REPORT, recall(WHO))
    undone = await world.gate.revert(change.id, "wrong")
    assert undone.change_id is not None
    assert await live(world) == []
    await world.gate.revert(undone.change_id, "right")
    assert [case.body.text for case in await live(world)] == [WHO]


async def test_a_deleted_item_has_no_cases_and_is_restored_with_them(
    world: CaseGateWorld,
) -> None:
    change = await taught(world, REPORT, recall(WHO))
    gone = MemoryRequest(operation=Operation.DELETE, target_id=change.target_id)
    deleted = await world.gate.submit(gone, behalf("k2"))
    assert deleted.change_id is not None
    assert await live(world) == []
    await world.gate.revert(deleted.change_id, "still true")
    assert [case.body.text for case in await live(world)] == [WHO]


async def test_a_change_overtaken_by_another_runs_its_cases_again(world: CaseGateWorld) -> None:
    await taught(world, REPORT, recall(WHO))
    await taught(world, "Tea is at four", key="k0")
    assert world.runner.runs == 0  # nothing was recorded between the run of its cases and it
    world.runner.late = {WHO}
    before = world.runner.before_and_after

    async def meanwhile(*given: object) -> object:
        world.runner.before_and_after = before  # type: ignore[method-assign]
        outcomes = await before(*given)  # type: ignore[arg-type]
        await taught(world, "Lunch is at noon", key="k2")
        return outcomes

    world.runner.before_and_after = meanwhile  # type: ignore[assignment,method-assign]
    receipt = await submit(
        world, "All figures of a report are printed twice", recall("How?"), key="k3"
    )
    assert receipt.status is ReceiptStatus.APPLIED
    assert world.runner.runs == 1
    first = await world.changes.find("k3")
    assert first is not None
    assert first.attempt == 2  # the first went stale, with its case
    assert sorted(case.body.text for case in await live(world)) == ["How?", WHO]


async def test_a_held_change_keeps_its_cases_until_it_is_approved(world: CaseGateWorld) -> None:
    await taught(world, REPORT, recall(WHO))
    (older,) = await live(world)
    world.runner.ends[WHO] = (True, False)
    request = _asked("A report of all figures on lunch", [recall("When do we eat?")])
    told = await world.gate.submit(request, behalf("k2"))
    assert (told.status, told.broken) == (ReceiptStatus.REFUSED, (older.id,))
    held = await world.gate.submit(request, behalf("k3", "t", *told.broken))
    assert held.change_id is not None
    waiting = await world.changes.get(held.change_id)
    assert ([case.body.text for case in waiting.cases], waiting.breaks) == (
        ["When do we eat?"],
        (older.id,),
    )
    assert await live(world) == [older]
    with pytest.raises(Refused):
        await world.gate.decisions.approve(waiting.id, by="kim", seen=waiting.content_hash)
    await world.gate.decisions.approve(
        waiting.id, by="kim", seen=waiting.content_hash, retire="lunch it is"
    )
    assert [case.body.text for case in await live(world)] == ["When do we eat?"]
    applied = await world.changes.get(waiting.id)
    assert (applied.decision, applied.retires) == ("lunch it is", (older.id,))
    await world.gate.revert(waiting.id, "no")
    assert [case.id for case in await live(world)] == [older.id]


async def test_people_add_edit_and_disable_cases(world: CaseGateWorld) -> None:
    change = await taught(world, REPORT)
    own = Case(
        id="case-0123456789abcdef",
        **change.model_dump(include={"tenant_id", "agent_id", "kind"}),
        item_id=change.target_id,
        body=recall(WHO),
        role=CaseRole.REGRESSION,
        origin=CaseOrigin.PERSON,
        by="kim",
    )
    await world.cases.add(own)
    (case,) = await live(world)
    assert (case.by, case.status, case.change_id) == ("kim", CaseStatus.UNPROVED, None)
    await world.cases.note([CaseResult(case=case, passed=False, why="it is not found")])
    (red,) = await live(world, status=CaseStatus.RED)
    assert red.note == "it is not found"
    await world.cases.edit(case.model_copy(update={"body": recall("Ms. Kim on Friday?")}))
    (edited,) = await live(world, status=CaseStatus.UNPROVED)
    assert (edited.body.text, edited.note) == ("Ms. Kim on Friday?", "")
    near = await taught(world, "On Friday Ms. Kim goes home early", key="k2")
    assert [one.id for one in (await world.cases.reach(near, 9)).cases] == [case.id]
    disabled = await world.cases.disable(case.id, by="lee", reason="not worth it")
    assert (disabled.status, disabled.note) == (CaseStatus.DISABLED, "not worth it")
    assert await world.cases.disable(case.id, by="lee", reason="not worth it") == disabled
    assert (await world.cases.reach(near, 9)).cases == ()
    with pytest.raises(NotFound):
        await world.cases.add(own.model_copy(update={"id": "case-1", "item_id": "mem-none"}))
    with pytest.raises(NotFound):
        await world.cases.disable("case-none", by="lee", reason="x")


async def test_since_moves_only_where_the_status_does(world: CaseGateWorld) -> None:
    change = await taught(world, REPORT, recall(WHO))
    (green,) = await live(world)
    await world.cases.note([CaseResult(case=green, passed=True)])
    assert (await live(world))[0].since == green.since
    await world.cases.note([CaseResult(case=green, passed=False, why="gone")], by_change=change.id)
    (red,) = await live(world)
    assert red.since is not None
    assert green.since is not None
    assert (red.since > green.since, red.by_change) == (True, change.id)


async def test_what_just_misses_its_item_by_a_change_is_red_at_once(
    world: CaseGateWorld, pool: Pool
) -> None:
    await taught(world, REPORT, recall(WHO))
    world.runner.ends[WHO] = (True, False)
    world.runner.drifting.add(WHO)
    change = await taught(world, "All figures of a report are printed twice", key="k2")
    (red,) = await live(world, status=CaseStatus.RED)
    assert (red.by_change, red.note) == (change.id, "it is otherwise")
    async with connection(pool) as conn:
        rows = await conn.execute(b"SELECT data FROM run_events WHERE name = 'case.failed'")
        (told,) = [row["data"] for row in await rows.fetchall()]
    assert told == {"kind": "MEMORY", "target_id": red.item_id, "case": red.id}


async def test_what_cannot_be_run_any_more_keeps_what_it_came_to(world: CaseGateWorld) -> None:
    await taught(world, REPORT, recall(WHO))
    (green,) = await live(world)
    why = Message("case.needs_sandbox")
    await world.cases.note([CaseResult(case=green, passed=None, why=why)])
    (unrun,) = await live(world, status=CaseStatus.GREEN)
    assert (unrun.since, unrun.unrun_why) == (green.since, why)
    assert unrun.unrun_since is not None
    await world.cases.note([CaseResult(case=unrun, passed=None, why="no answer")])
    (still,) = await live(world)
    assert (still.unrun_since, still.unrun_why) == (unrun.unrun_since, "no answer")
    await world.cases.note([CaseResult(case=still, passed=True)])
    (again,) = await live(world)
    assert (again.since, again.unrun_since, again.unrun_why) == (green.since, None, "")
    await world.cases.note([CaseResult(case=again, passed=False, why="gone")])
    await world.cases.note([CaseResult(case=again, passed=None, why=why)])
    (red,) = await live(world, status=CaseStatus.RED)
    assert (red.note, red.unrun_why) == ("gone", why)


async def test_cases_are_listed_page_by_page(world: CaseGateWorld) -> None:
    await taught(world, REPORT, *(recall(f"report {n}") for n in range(5)))
    first, cursor = await world.cases.page(CaseFilter(tenant_id="t"), limit=3, cursor=None)
    rest, end = await world.cases.page(CaseFilter(tenant_id="t"), limit=3, cursor=cursor)
    assert (len(first), len(rest), end) == (3, 2, None)
    assert len({case.id for case in (*first, *rest)}) == 5


async def test_cases_of_another_tenant_are_neither_seen_nor_reached(
    world: CaseGateWorld, pool: Pool
) -> None:
    with in_name_of("t"):
        change = await taught(world, REPORT, recall(WHO))
    with in_name_of("u"):
        assert await live(world) == []
        near = await taught(world, "The weekly report is long", key="k2", tenant_id="u")
        assert (await world.cases.reach(near, 50)).cases == ()
        asked = {"tenants": ["t"], "kinds": ["MEMORY"], "ids": [change.target_id]}
        assert await fetch_all(pool, "cases.counts", **asked) == []
    with in_name_of(NO_TENANT):
        assert await live(world) == []

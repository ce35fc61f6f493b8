"""Uses, trials, what is written back and what is installed: counted and found by their own rows."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from core.adapters.postgres.installed import PostgresInstalledSkills
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.uses import PostgresLookBack, PostgresUseLog
from core.adapters.postgres.write_back import PostgresUnsent, PostgresWriteBackRecords
from core.domain.errors import Stale
from core.domain.models import RunEvent
from core.domain.models.deliveries import Route, SkillListState
from core.domain.models.uses import Arm, OutcomeReport, UseCount
from tests.support.change_rows import change, history
from tests.support.react import item_change
from tests.support.seeding import AT, DAY, Row, put_all

KEY = {"tenant_id": "t", "agent_id": "a", "kind": "MEMORY", "item_id": "m", "version": 1,
       "digest": "d", "way": "shown", "day": AT.date()}  # fmt: skip
OTHERS: list[dict[str, object]] = [
    {}, {"tenant_id": "u"}, {"agent_id": "b"}, {"kind": "DMN_RULE"}, {"item_id": "n"},
    {"version": 2}, {"digest": "e"}, {"way": "loaded"}, {"day": (AT + DAY).date()},
]  # fmt: skip


def used(times: int, first: datetime = AT, last: datetime = AT, **more: object) -> UseCount:
    given = {**KEY, "times": times, "first_at": first, "last_at": last, **more}
    return UseCount.model_validate(given)


async def uses(pool: Pool) -> list[tuple[object, ...]]:
    query = b"SELECT times, first_at, last_at, day FROM uses ORDER BY times"
    async with connection(pool) as conn:
        rows = await (await conn.execute(query)).fetchall()
    return [tuple(row.values()) for row in rows]


async def test_uses_of_one_version_way_and_day_add_up(pool: Pool) -> None:
    log = PostgresUseLog(pool)
    await log.add([used(10 * n + 10, **one) for n, one in enumerate(OTHERS)])
    await log.add([used(1, AT - DAY, AT - DAY), used(2, AT + DAY, AT + DAY, version=2)])
    await log.add([used(3, AT - DAY / 2, AT - DAY / 2)])
    found = await uses(pool)
    assert [one[0] for one in found] == [14, 20, 30, 40, 50, 62, 70, 80, 90]
    assert found[0][1:3] == (AT - DAY, AT)
    assert found[5][1:3] == (AT, AT + DAY)


async def test_days_of_long_ago_are_folded_into_one(pool: Pool) -> None:
    look = PostgresLookBack(pool)
    days = [AT.date(), (AT + DAY).date(), (AT + 2 * DAY).date(), (AT + 3 * DAY).date()]
    await PostgresUseLog(pool).add(
        [used(2**n, AT + n * DAY, AT + (n + 1) * DAY, day=day) for n, day in enumerate(days)]
        + [used(100 * n, **one) for n, one in enumerate(OTHERS[:-1]) if n]
    )
    assert await look.fold(days[0], limit=9) == 0
    assert await look.fold(days[2], limit=99) == 2 + 7
    found = await uses(pool)
    assert [one[0] for one in found] == [3, 4, 8, *(100 * n for n in range(1, 8))]
    assert found[0] == (3, AT, AT + 2 * DAY, date(1, 1, 1))
    assert {one[3] for one in found[3:]} == {date(1, 1, 1)}
    assert await look.fold(days[2], limit=9) == 0
    assert await look.fold(days[3], limit=1) == 1
    folded = (await uses(pool))[0]
    assert folded == (7, AT, AT + 3 * DAY, date(1, 1, 1))
    await PostgresUseLog(pool).add([used(1, AT - DAY, AT + 9 * DAY, day=AT.date())])
    assert await look.fold(days[3], limit=9) == 1
    (folded,) = [one for one in await uses(pool) if one[0] == 8 and one[3] == date(1, 1, 1)]
    assert folded == (8, AT - DAY, AT + 9 * DAY, date(1, 1, 1))


def arm(item: str, *, left_out: bool = True, at: datetime = AT, **more: object) -> Arm:
    given = {"tenant_id": "t", "agent_id": "a", "item_id": item, "at": at, "left_out": left_out}
    return Arm.model_validate(given | more)


def report(at: datetime = AT, *names: str, **more: object) -> OutcomeReport:
    given = {"at": at, "tenant_id": "t", "agent_id": "a", "success": True}
    return OutcomeReport.model_validate(given | {"used": [{"id": one} for one in names]} | more)


async def test_an_open_arm_stands_until_its_task_is_over(pool: Pool) -> None:
    log = PostgresUseLog(pool)
    since = AT - DAY
    assert await log.draw([arm("m"), arm("n", left_out=False), arm("k")], since) == ["k", "m"]
    again = [arm("m", left_out=False, at=AT + DAY), arm("n", at=AT + DAY)]
    assert await log.draw(again, since) == ["m"]
    others = [arm("m", left_out=False, agent_id="b"), arm("m", left_out=False, tenant_id="u")]
    assert await log.draw(others, since) == []
    # What was drawn for a task that is over is drawn anew.
    assert await log.draw([arm("m", left_out=False, at=AT + DAY)], AT + DAY / 2) == []
    assert await log.draw([arm("n", at=AT + DAY)], AT) == []
    assert await log.draw([arm("m", at=AT + 2 * DAY)], AT + DAY) == []


async def test_an_outcome_closes_the_arms_of_its_task(pool: Pool) -> None:
    log = PostgresUseLog(pool)
    await log.draw(
        [arm("m"), arm("k"), arm("n", left_out=False), arm("early", at=AT - DAY),
         arm("late", at=AT + DAY), arm("of-b", agent_id="b"), arm("of-u", tenant_id="u"),
         arm("first", at=AT - DAY / 2)], AT - 2 * DAY
    )  # fmt: skip
    told = report(AT, "x", "y", used=[{"id": "x", "version": 1}, {"id": "x", "version": 3},
                                      {"id": "x"}, {"id": "y"}])  # fmt: skip
    assert await log.add_outcome(told, AT - DAY / 2) == ["first", "k", "m"]
    assert await log.add_outcome(report(AT, success=False, note="no"), AT - DAY / 2) == []
    async with connection(pool) as conn:
        items = await conn.execute(b"SELECT item_id, version FROM outcome_items ORDER BY item_id")
        named = [tuple(row.values()) for row in await items.fetchall()]
        query = b"SELECT item_id FROM holdout_arms WHERE outcome_id IS NULL ORDER BY item_id"
        left = [row["item_id"] for row in await (await conn.execute(query)).fetchall()]
        ended = await conn.execute(b"SELECT success, note FROM outcomes ORDER BY id")
        outcomes = [tuple(row.values()) for row in await ended.fetchall()]
    assert named == [("x", 3), ("y", None)]
    assert left == ["early", "late", "of-b", "of-u"]
    assert outcomes == [(True, ""), (False, "no")]


async def test_what_came_later_to_a_target_is_told_in_order(pool: Pool) -> None:
    records = PostgresWriteBackRecords(pool)
    memory = {"knowledge_type": "MEMORY", "knowledge_id": "m"}
    ids = ("before", "own", "later", "undone", "failed", "foreign", "table", "other")
    await put_all(
        pool, *(change(one, target_id=one) for one in ids),
        history("before", 9, **memory), history("own", 8, **memory, attempt=1, status="failed"),
        history("own", 7, **memory, attempt=2), history("later", 6, **memory),
        history("undone", 5, **memory, status="reverted"),
        history("failed", 4, **memory, status="failed"),
        history("foreign", 3, **memory, tenant_id="u"),
        history("table", 2, **memory | {"knowledge_type": "DMN_RULE"}),
        history("other", 1, **memory | {"knowledge_id": "n"}),
        history("own", 10, **memory, attempt=3, status="failed"),
    )  # fmt: skip

    def of(change_id: str) -> object:
        given = {"id": change_id, "tenant_id": "t", "target_id": "m"}
        return item_change("MEMORY", "m", "m", "x").model_copy(update=given)  # type: ignore[arg-type]

    assert await records.later(of("own")) == ["later", "undone"]  # type: ignore[arg-type]
    assert await records.later(of("before")) == ["own", "later", "undone"]  # type: ignore[arg-type]
    assert await records.later(of("undone")) == []  # type: ignore[arg-type]
    assert await records.later(of("failed")) == []  # type: ignore[arg-type]
    assert [one.attempt for one in await records.attempts("own")] == [1, 2, 3]


async def test_lists_of_the_platform_are_of_their_tenant_and_agent(pool: Pool) -> None:
    records = PostgresWriteBackRecords(pool)

    def compared(agent: str, tenant: str = "t", **more: object) -> Row:
        names = ("ours", "theirs", "left", "adding", "removing", "coming")
        empty: dict[str, object] = {name: [] for name in names}
        return "platform_lists", {"tenant_id": tenant, "agent_id": agent, **empty, **more}

    def listed(agent: str, tenant: str = "t", name: str = "pay") -> dict[str, object]:
        return {"tenant_id": tenant, "agent_id": agent, "name": name}

    await put_all(
        pool,
        *(("agents_of_tenants", {"id": a, "tenant_id": t, "sole_id": t + a, "name": "A"})
          for t, a in (("t", "on"), ("u", "on-u"), ("t", "on-other"))),
        ("agent_skills", listed("on")), ("agent_skills", listed("on-u", "u")),
        ("agent_skills", listed("on-other", name="ship")), ("skill_unlistings", listed("off")),
        ("skill_unlistings", listed("off-u", "u")), ("skill_unlistings", listed("off-o", name="x")),
        compared("ours", ours=["pay"]), compared("theirs", theirs=["pay"]),
        compared("", ours=["pay"]),
        compared("adding", adding=["x", "pay"]), compared("removing", removing=["pay"]),
        compared("foreign", "u", ours=["pay"]), compared("on", ours=["pay"], revision=3),
        ("tenant_skills", {"tenant_id": "t", "name": "pay"}),
        ("tenant_skills", {"tenant_id": "u", "name": "ship"}),
    )  # fmt: skip
    assert await records.listers("t", "pay") == ["adding", "off", "on", "ours", "theirs"]
    assert await records.tenant_skills("t") == {"pay"}
    known = await records.skill_list("t", "on")
    assert known is not None
    assert (known.ours, known.revision) == ({"pay"}, 3)
    assert await records.skill_list("u", "on") is None
    kept = await records.keep(known.model_copy(update={"adding": frozenset({"b", "a"})}))
    assert kept.revision == 4
    with pytest.raises(Stale):
        await records.keep(known)
    assert await records.skill_list("t", "on") == kept
    assert (await records.keep(SkillListState(tenant_id="u", agent_id="on"))).revision == 1
    assert await records.skill_list("t", "on") == kept


async def test_what_never_went_out_is_found_by_its_last_record(pool: Pool) -> None:
    unsent = PostgresUnsent(pool)
    ids = ("one", "two", "sent", "elsewhere", "erased", "u", "lesson", "old")
    sent = {"tenant_id": "t", "event": "change.applied", "subject": "x"}
    await put_all(
        pool, *(change(one, target_id=one) for one in ids),
        history("one", 1, attempt=1, status="failed"), history("two", 2),
        history("one", 3, attempt=2), history("sent", 4), history("elsewhere", 5),
        history("erased", 6), history("u", 7, tenant_id="u"),
        history("lesson", 8, agent_id="skill-worker"), history("old", 9, created_at=AT - DAY),
        ("deliveries", sent | {"target": "us", "change_id": "sent"}),
        ("deliveries", sent | {"target": "them", "change_id": "elsewhere"}),
        ("deliveries", sent | {"target": "us", "change_id": "erased", "event": "change.erased"}),
    )  # fmt: skip

    async def page(limit: int = 9, after: int = 0, **given: object) -> list[str | None]:
        asked = {"tenant_id": None, "since": None, **given}
        events, _ = await unsent.page("us", after=after, limit=limit, **asked)  # type: ignore[arg-type]
        return [one.change_id for one in events]

    whole = ["two", "one", "elsewhere", "erased", "u", "old"]
    assert await page() == whole
    assert await page(tenant_id="u") == ["u"]
    assert await page(since=AT) == whole[:-1]
    assert await page(since=AT + 7 * DAY) == ["u"]
    events, after = await unsent.page("us", tenant_id=None, since=None, after=0, limit=2)
    assert after is not None
    assert await page(after=after) == whole[2:]
    assert [(one.name, one.data["agent_id"]) for one in events] == [("change.applied", "a")] * 2
    routed: list[str | None] = []

    def routes(event: RunEvent) -> tuple[Route, ...]:
        routed.append(event.change_id)
        return (Route("us", "change.applied", "s", None),) if event.change_id == "two" else ()

    assert await unsent.send(events, routes) == 1
    assert routed == ["two", "one"]
    assert await unsent.send(events, routes) == 0
    assert await page() == whole[1:]


async def test_what_is_installed_stands_until_its_skill_is_deleted(pool: Pool) -> None:
    published = {"source": "s", "name": "p", "digest": "d"}
    request = {"published": published}

    def installs(name: str, skill: str, days: float = 0, **more: object) -> Row:
        given = {"kind": "SKILL", "target_id": skill, "request": request}
        return change(name, **given | {"applied_at": AT + days * DAY, "prepared_at": AT} | more)

    gone = {"request": None, "after": None, "operation": "DELETE"}
    await put_all(
        pool, installs("first", "pay"), installs("second", "pay", 1),
        installs("waits", "pay", status="held", applied_at=None),
        installs("ship-1", "ship"), installs("ship-gone", "ship", 1, **gone),
        installs("load-gone", "load", -1, **gone), installs("load-1", "load"),
        installs("keep-1", "keep"), installs("keep-edited", "keep", 1, request=None),
        installs("keep-u", "keep", 1, **gone | {"tenant_id": "u"}),
        installs("keep-m", "keep", 1, **gone | {"kind": "MEMORY"}),
        installs("keep-failed", "keep", 1, **gone | {"status": "failed"}),
        installs("keep-other", "other", 1, **gone), installs("own", "own", request={"x": 1}),
        installs("failed", "fail", status="failed"), installs("foreign", "pay", tenant_id="u"),
        installs("memory", "mem", kind="MEMORY"),
    )  # fmt: skip
    skills = PostgresInstalledSkills(pool)
    found = await skills.list("t")
    assert [(one.name, one.change_id, one.is_held) for one in found] == [
        ("keep", "keep-1", False), ("load", "load-1", False), ("pay", "second", False),
        ("pay", "waits", True),
    ]  # fmt: skip
    assert [one.at for one in found] == [AT, AT, AT + DAY, AT]
    assert [one.change_id for one in await skills.list("t", "load")] == ["load-1"]
    assert [one.change_id for one in await skills.list("u")] == ["foreign"]

"""Changes, their locks and the lists of skills: each statement is about its own rows alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.change_log import (
    PostgresChangeLog,
    PostgresSteps,
    PostgresTargetLocks,
    refuse_unforeseen,
)
from core.adapters.postgres.queries import Pool, connection, transaction
from core.adapters.postgres.unit_of_work import PostgresUnitOfWork
from core.domain.errors import Stale, TargetBusy, Unforeseen
from core.domain.models import Change, ChangeStatus, Kind, Operation, RestoreRequest, Snapshot
from tests.support.change_rows import change
from tests.support.react import item_change
from tests.support.seeding import AT, DAY, Row, put_all

MEMORY, RULE, SKILL = Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL
NOBODY: dict[str, object] = {"feedback_id": None, "candidate_id": None}


@pytest.fixture
def log(pool: Pool) -> PostgresChangeLog:
    return PostgresChangeLog(pool)


@pytest.fixture
def locks(pool: Pool) -> PostgresTargetLocks:
    return PostgresTargetLocks(pool)


def piece(feedback_id: str, status: str) -> Row:
    return "feedback", {"id": feedback_id, "source_id": feedback_id, "tenant_id": "t",
                        "status": status}  # fmt: skip


def run(candidate_id: str, feedback_id: str, epoch: int = 3) -> Row:
    row = {"id": candidate_id, "feedback_id": feedback_id, "tenant_id": "t", "agent_id": "a"}
    return "candidates", row | {"epoch": epoch}


RUNS = [
    *(piece(one, one) for one in ("queued", "processing", "completed")),
    *(run(f"of-{one}", one) for one in ("queued", "processing", "completed")),
]


async def test_a_key_has_the_last_of_its_attempts(pool: Pool, log: PostgresChangeLog) -> None:
    await put_all(
        pool,
        *(change(f"k{n}", key="k", attempt=n) for n in (2, 3, 1)),
        *(change(f"l{n}", key="l", attempt=n) for n in (1, 2)),
        change("m1", key="m"),
    )
    for key, last in (("k", "k3"), ("l", "l2"), ("m", "m1")):
        found = await log.find(key)
        assert found is not None
        assert found.id == last
    found_all = await log.find_all(["k", "l", "none"])
    assert {key: one.id for key, one in found_all.items()} == {"k": "k3", "l": "l2"}
    assert await log.find("none") is None


async def test_a_lock_is_released_once_its_run_is_over_or_nobody_has_it(
    pool: Pool, locks: PostgresTargetLocks
) -> None:
    now = datetime.now(UTC)
    whose = {
        # whose it is: (candidate, epoch, feedback, minutes ago), and whether it is dead
        "taken-over": ("of-processing", 2, "processing", 0, True),
        "running": ("of-processing", 3, "processing", 60, False),
        "ahead": ("of-processing", 4, "processing", 60, False),
        "ended": ("of-completed", 3, "completed", 0, True),
        "waits": ("of-queued", 3, "queued", 0, True),
        "person": (None, None, None, 9, False),
        "away": (None, None, None, 11, True),
        "person-of-ended": (None, None, "completed", 9, False),
        "person-of-running": (None, None, "processing", 11, True),
    }
    rows = [
        change(
            name, target_id=name, status="prepared", candidate_id=by, epoch=epoch,
            feedback_id=of, created_at=now - timedelta(minutes=ago),
        )
        for name, (by, epoch, of, ago, _) in whose.items()
    ]  # fmt: skip
    beside: list[dict[str, object]] = [
        {"tenant_id": "u"}, {"kind": "DMN_RULE"}, {"target_id": "beside"},
        {"status": "held"}, {"status": "applied"},
    ]  # fmt: skip
    dead = {"target_id": "away", "status": "prepared", **NOBODY}
    rows += [change(f"beside-{n}", **dead | one) for n, one in enumerate(beside)]
    await put_all(pool, *RUNS, *rows)
    for name, (*_, is_dead) in whose.items():
        given = {"id": f"next-{name}", "key": f"next-{name}", "tenant_id": "t", "agent_id": "a",
                 "status": ChangeStatus.PREPARED, **NOBODY}  # fmt: skip
        wanted = item_change(MEMORY, name, name, "x").model_copy(update=given)
        try:
            await locks.acquire(wanted)
        except TargetBusy:
            assert not is_dead, name
        else:
            assert is_dead, name
    left = {one for one in await ids(pool) if not one.startswith("next-")}
    assert left == {
        *(name for name, (*_, is_dead) in whose.items() if not is_dead),
        *(f"beside-{n}" for n in range(len(beside))),
    }


async def ids(pool: Pool, where: str = "true") -> list[str]:
    async with connection(pool) as conn:
        rows = await conn.execute(f"SELECT id FROM changes WHERE {where} ORDER BY id".encode())
        return [row["id"] for row in await rows.fetchall()]


async def test_what_a_run_left_open_comes_in_its_order(
    pool: Pool, locks: PostgresTargetLocks
) -> None:
    mine = {"candidate_id": "of-queued", "status": "applying"}
    await put_all(
        pool, *RUNS,
        change("c", target_id="1", **mine), change("b", target_id="2", **mine),
        change("a", target_id="3", **mine | {"created_at": AT + DAY}),
        change("z", target_id="4", **mine | {"created_at": AT - DAY}),
        change("other", target_id="5", **mine | {"candidate_id": "of-processing"}),
        change("done", target_id="6", **mine | {"status": "applied"}),
        change("locked", target_id="7", **mine | {"status": "prepared"}),
    )  # fmt: skip
    assert [one.id for one in await locks.unfinished("of-queued")] == ["z", "b", "c", "a"]


async def test_the_latest_change_of_a_target_is_the_last_applied_or_the_open_one(
    pool: Pool, locks: PostgresTargetLocks
) -> None:
    def of(
        target: str, name: str, days: float | None, status: str = "applied", **more: object
    ) -> Row:
        at = None if days is None else AT + days * DAY
        return change(f"{target}-{name}", target_id=target, applied_at=at, status=status, **more)

    await put_all(
        pool,
        of("m", "old", 1), of("m", "new", 3), of("m", "back", 2, "reverted"),
        of("m", "foreign", 9, tenant_id="u"), of("m", "table", 9, kind="DMN_RULE"),
        of("n", "another", 9), of("m", "failed", 9, "failed"), of("m", "held", 9, "held"),
        of("m", "never", None),
        of("r", "old", 1), of("r", "new", 2, "reverted"),
        of("s", "done", 1), of("s", "open", None, "applying", created_at=AT - DAY),
        of("v", "a", 1, created_at=AT), of("v", "b", 1, created_at=AT + DAY),
        of("v", "c", 1, created_at=AT),
        of("w", "a", 1), of("w", "b", 1),
    )  # fmt: skip
    for target, last in (("m", "new"), ("n", "another"), ("r", "new"), ("s", "open"),
                         ("v", "b"), ("w", "b")):  # fmt: skip
        found = await locks.latest("t", MEMORY, target)
        assert found is not None
        assert found.id == f"{target}-{last}"
    assert await locks.latest("t", MEMORY, "none") is None


async def test_an_intent_is_abandoned_when_its_piece_is_over_and_it_is_old(
    pool: Pool, locks: PostgresTargetLocks
) -> None:
    old, new = (datetime.now(UTC) - timedelta(minutes=minutes) for minutes in (11, 9))
    given: dict[str, dict[str, object]] = {
        "by-nobody": {**NOBODY, "created_at": old},
        "ended": {"feedback_id": "completed", "created_at": old - DAY},
        "new": {**NOBODY, "created_at": new},
        "queued": {"feedback_id": "queued", "created_at": old},
        "running": {"feedback_id": "processing", "created_at": old},
        "approved-now": {**NOBODY, "created_at": old, "decided_at": new},
        "approved-then": {**NOBODY, "created_at": old - 2 * DAY, "decided_at": old},
        "applied": {**NOBODY, "created_at": old, "status": "applied"},
    }
    rows = [
        change(name, **{"target_id": name, "status": "applying", **one})
        for name, one in given.items()
    ]
    await put_all(pool, *RUNS, *rows)
    found = await locks.abandoned(600)
    assert [one.id for one in found] == ["approved-then", "ended", "by-nobody"]


async def test_adopting_an_intent_fences_off_its_own_run_alone(
    pool: Pool, locks: PostgresTargetLocks
) -> None:
    rows = [
        change(name, target_id=name, status=status, candidate_id=by, epoch=3, feedback_id=of)
        for name, status, by, of in (
            ("mine", "applying", "of-completed", "completed"),
            ("running", "applying", "of-processing", "processing"),
            ("waits", "applying", "of-queued", "queued"),
            ("done", "applied", "of-completed", "completed"),
            ("nobody", "applying", None, None),
        )
    ]
    await put_all(pool, *RUNS, *rows)
    adopted = [
        await locks.adopt(item_change(MEMORY, one, one, "x").model_copy(update={"id": one}))
        for one in ("mine", "running", "waits", "done", "nobody")
    ]
    assert [one and (one.id, one.epoch) for one in adopted] == [
        ("mine", 4), None, None, None, ("nobody", None),
    ]  # fmt: skip
    async with connection(pool) as conn:
        found = await (await conn.execute("SELECT id, epoch FROM candidates")).fetchall()
        intents = await (await conn.execute("SELECT id, epoch FROM changes")).fetchall()
    assert {row["id"]: row["epoch"] for row in found} == {
        "of-completed": 4, "of-processing": 3, "of-queued": 3,
    }  # fmt: skip
    assert {row["id"]: row["epoch"] for row in intents} == {
        "mine": 4, "running": 3, "waits": 3, "done": 3, "nobody": None,
    }  # fmt: skip


async def test_what_is_taken_back_gives_back_what_it_had_taken_back(pool: Pool) -> None:
    await put_all(
        pool,
        change("one"), change("two", status="reverted"), change("undoes-two", reverts="two"),
        change("three", status="reverted"), change("four", status="reverted"),
        change("retracts", retracts=["three", "four"]),
        change("first"), change("undone", status="reverted", reverts="first"),
        change("again", reverts="undone"),
        change("held", status="held"), change("beside"),
        change("failed", status="failed"), change("undoes-failed", reverts="failed"),
    )  # fmt: skip
    await PostgresSteps(pool).take_back(
        ["one", "undoes-two", "retracts", "again", "held", "undoes-failed"]
    )
    gone = ["again", "first", "one", "retracts", "undoes-failed", "undoes-two"]
    assert await ids(pool, "status = 'reverted'") == gone
    assert await ids(pool, "status = 'applied'") == ["beside", "four", "three", "two", "undone"]
    assert await ids(pool, "status IN ('held', 'failed')") == ["failed", "held"]


def agents(*keys: str) -> list[Row]:
    return [
        ("agents_of_tenants", {"id": one[1], "tenant_id": one[0], "sole_id": one, "name": "A"})
        for one in keys
    ]


def listed(name: str, *keys: str) -> list[Row]:
    return [
        ("agent_skills", {"tenant_id": one[0], "agent_id": one[1], "name": name}) for one in keys
    ]


async def lists(pool: Pool, table: str = "agent_skills") -> set[str]:
    column = "''" if table == "tenant_skills" else "agent_id"
    query = f"SELECT tenant_id || {column} || ' ' || name AS one FROM {table}"
    async with connection(pool) as conn:
        return {row["one"] for row in await (await conn.execute(query.encode())).fetchall()}


def skill(name: str, *, is_there: bool = True, after: str | None = "x", **more: object) -> Change:
    made = item_change(SKILL, name, name, after or "x")
    states = {
        "before": Snapshot(content="old", name=name) if is_there else None,
        "after": None if after is None else made.after,
    }
    return made.model_copy(update={"tenant_id": "t", "agent_id": "a", **states, **more})


WORLD = [
    *agents("ta", "tb", "tc", "ua", "ub"),
    *listed("pay", "ta", "tb", "ua"),
    *listed("ship", "ta"),
]
RESTORES = RestoreRequest(
    operation=Operation.UPDATE, reason="r", target_kind=SKILL, target_id="x", state=None,
    expected_hash="",
)  # fmt: skip
SHARED: list[Row] = [("tenant_skills", {"tenant_id": t, "name": "pay"}) for t in "tu"]


async def test_a_deleted_skill_leaves_its_tenants_lists_and_comes_back_to_them(
    pool: Pool,
) -> None:
    await put_all(pool, *WORLD, *SHARED, ("tenant_skills", {"tenant_id": "t", "name": "ship"}))
    async with transaction(pool) as conn:
        unit = PostgresUnitOfWork(conn)
        await unit.update_agent_and_tenant_skills(skill("pay", after=None))
    assert await lists(pool) == {"ta ship", "ua pay"}
    assert await lists(pool, "tenant_skills") == {"t ship", "u pay"}
    assert await lists(pool, "skill_unlistings") == {"ta pay", "tb pay"}
    unlisted = {"tenant_id": "t", "name": "pay", "agent_id": "gone"}
    foreign = {"tenant_id": "u", "name": "pay", "agent_id": "b"}
    other = {"tenant_id": "t", "name": "other", "agent_id": "b"}
    await put_all(pool, *(("skill_unlistings", row) for row in (unlisted, foreign, other)))
    async with transaction(pool) as conn:
        unit = PostgresUnitOfWork(conn)
        undone = skill("pay", is_there=False, request=RESTORES, agent_id="b")
        await unit.update_agent_and_tenant_skills(undone)
    assert await lists(pool) == {"ta ship", "ua pay", "ta pay", "tb pay"}
    assert await lists(pool, "tenant_skills") == {"t ship", "u pay", "t pay"}
    assert await lists(pool, "skill_unlistings") == {"ub pay", "tb other"}


async def test_a_new_skill_is_listed_for_its_agent_and_an_old_one_stays(pool: Pool) -> None:
    await put_all(pool, *WORLD, *SHARED)
    unlistings = [
        ("skill_unlistings", {"tenant_id": t, "name": "new", "agent_id": "b"}) for t in "tu"
    ]
    await put_all(pool, *unlistings)
    for made in (
        skill("new", is_there=False),
        skill("pay", agent_id="b"),
        skill("pay", agent_id="nobody"),
        skill("ship", agent_id="b", request=RESTORES),
        skill("bare", is_there=False, agent_id="b", request=RESTORES),
    ):
        async with transaction(pool) as conn:
            await PostgresUnitOfWork(conn).update_agent_and_tenant_skills(made)
    assert await lists(pool) == {
        "ta pay", "tb pay", "ua pay", "ta ship", "ta new", "tb bare",
    }  # fmt: skip
    assert await lists(pool, "tenant_skills") == {"t pay", "u pay", "t new", "t ship", "t bare"}
    assert await lists(pool, "skill_unlistings") == {"ub new"}


async def test_an_agents_list_is_changed_as_it_was_seen_and_no_other(pool: Pool) -> None:
    def list_of(before: str, after: str, agent: str = "a") -> Change:
        made = item_change(Kind.AGENT_SKILLS, agent, agent, after)
        state = Snapshot(content=before, name=agent)
        return made.model_copy(update={"id": "c", "tenant_id": "t", "before": state})

    gone = {"kind": "SKILL", "operation": "DELETE", "tenant_id": "t"}
    since = {"applied_at": AT + DAY}
    await put_all(
        pool, *WORLD, change("c", status="applying", kind="AGENT_SKILLS", prepared_at=AT),
        change("d1", target_id="late", **gone, **since),
        change("d2", target_id="now", **gone, status="applying"),
        change("d3", target_id="kept", **gone, applied_at=AT - DAY),
        change("d4", target_id="kept", **gone, status="held"),
        change("d5", target_id="kept", **gone | {"tenant_id": "u"}, **since),
        change("d6", target_id="kept", **gone | {"kind": "MEMORY"}, **since),
        change("d7", target_id="kept", **gone | {"operation": "UPDATE"}, **since),
        change("other", prepared_at=AT - 9 * DAY),
    )  # fmt: skip

    async def set_(before: str, after: str, agent: str = "a") -> None:
        async with transaction(pool) as conn:
            await PostgresUnitOfWork(conn).set_agent_skills(list_of(before, after, agent))

    for name in ("late", "now"):
        with pytest.raises(Stale, match=name):
            await set_("pay\nship", f"pay\n{name}")
    for seen in ("pay", "pay\nship\nmore", ""):
        with pytest.raises(Stale, match="moved on"):
            await set_(seen, "pay")
    await set_("pay\nship", "kept\nship")
    assert await lists(pool) == {"ta kept", "ta ship", "tb pay", "ua pay"}
    await set_("pay", "", "b")
    assert await lists(pool) == {"ta kept", "ta ship", "ua pay"}


async def test_a_list_waits_for_the_same_agent_of_its_tenant_alone(pool: Pool) -> None:
    await put_all(pool, *WORLD, change("c", status="applying", kind="AGENT_SKILLS"))
    made = item_change(Kind.AGENT_SKILLS, "a", "a", "pay")
    before = Snapshot(content="pay\nship", name="a")
    made = made.model_copy(update={"id": "c", "tenant_id": "t", "before": before})
    async with transaction(pool) as held:
        rows = "SELECT FROM agents_of_tenants WHERE (tenant_id, id) <> ('t', 'a') FOR UPDATE"
        await held.execute(rows)
        async with transaction(pool) as conn:
            await conn.execute("SET LOCAL lock_timeout = '1s'")
            await PostgresUnitOfWork(conn).set_agent_skills(made)
            row = await held.execute(
                "SELECT id FROM agents_of_tenants WHERE (tenant_id, id) = ('t', 'a')"
                " FOR UPDATE SKIP LOCKED"
            )
            assert await row.fetchone() is None
    assert await lists(pool) == {"ta pay", "tb pay", "ua pay"}


async def test_a_skill_is_not_deleted_from_lists_that_nobody_foresaw(pool: Pool) -> None:
    await put_all(pool, *WORLD, *listed("ship", "tb"), *listed("own", "ta"), *listed("far", "ub"))
    for name, told in (("pay", "b"), ("ship", "b"), ("own", None), ("far", None), ("none", None)):
        async with connection(pool) as conn:
            if told is None:
                await refuse_unforeseen(conn, skill(name, after=None))
            else:
                with pytest.raises(Unforeseen, match=told):
                    await refuse_unforeseen(conn, skill(name, after=None))
                await refuse_unforeseen(conn, skill(name))
    with pytest.raises(Unforeseen):
        async with connection(pool) as conn:
            await refuse_unforeseen(conn, skill("pay", after=None, agent_id="c"))

"""The effect of one item on one agent counts its own rows: not another's, nor of another kind."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.uses import PostgresEffects, PostgresLookBack
from core.domain.models import Kind
from core.domain.models.effect import (
    EffectFilter,
    EndedPiece,
    Only,
)
from tests.support.effect_rows import WHOSE, complaint, known, use
from tests.support.seeding import AT, DAY, Row, put_all


def outcome(number: int, tenant: str, agent: str, success: bool, at: object = AT) -> Row:
    row = {"id": number, "tenant_id": tenant, "agent_id": agent, "success": success, "at": at}
    return "outcomes", row


@pytest.fixture
def effects(pool: Pool) -> PostgresEffects:
    return PostgresEffects(pool)


ITEMS = [
    known("t", "a", "MEMORY", "m"),
    known("t", "b", "MEMORY", "n"),
    known("t", "a", "DMN_RULE", "n"),
    known("u", "a", "MEMORY", "m"),
]


async def test_uses_and_complaints_are_those_of_the_item(
    pool: Pool, effects: PostgresEffects
) -> None:
    rows = [use(*one, times=2**n) for n, one in enumerate(WHOSE)]
    rows += [use(*one, times=2**n, way="decided") for n, one in enumerate(WHOSE)]
    rows += [use("t", "a", "MEMORY", "m", way=way, times=2**20) for way in ("recalled", "loaded")]
    for n, one in enumerate(WHOSE):
        rows += [complaint(number, *one) for number in range(n + 1)]
    rows += [complaint(70, "t", "a", "MEMORY", "m", came="before")]
    rows += [complaint(number, "t", "a", "MEMORY", "m", came="unreached") for number in (80, 81)]
    await put_all(pool, *ITEMS, *rows)
    found = await effects.items(EffectFilter(tenant_id="t"), after=None, limit=9)
    at = {one[2:]: n for n, one in enumerate(WHOSE) if one[0] == "t" and one[1] == "a"}
    first, second = found[:2]
    assert (first.kind, first.item_id) == (Kind.DMN_RULE, "n")
    assert first.shown == first.opened == 2 ** at["DMN_RULE", "n"]
    assert (first.before, first.unreached, first.back) == (0, 0, at["DMN_RULE", "n"] + 1)
    assert (second.kind, second.item_id, second.name) == (Kind.MEMORY, "m", "MEMORY m")
    assert second.shown == second.opened == 2 ** at["MEMORY", "m"] + 2**20
    assert (second.before, second.unreached, second.back) == (1, 2, at["MEMORY", "m"] + 1)
    assert second.learnt_at == second.first_at == second.last_at == AT
    mine = [(one.agent_id, one.kind, one.item_id) for one in found]
    assert mine == [("a", Kind.DMN_RULE, "n"), ("a", Kind.MEMORY, "m"), ("b", Kind.MEMORY, "n")]
    rest = await effects.items(EffectFilter(), after=("t", "a", "MEMORY", "m"), limit=9)
    assert [(one.tenant_id, one.agent_id) for one in rest] == [("t", "b"), ("u", "a")]
    assert [
        one.agent_id for one in await effects.items(EffectFilter(agent_id="b"), after=None, limit=9)
    ] == ["b"]
    assert len(await effects.items(EffectFilter(), after=None, limit=2)) == 2


async def test_tasks_are_counted_with_the_item_and_without_it(
    pool: Pool, effects: PostgresEffects
) -> None:
    ends = [
        # Of agent a: with m, with n alone, with neither; before m reached it; of others.
        ("t", "a", True, "m", 0), ("t", "a", True, "mn", 1), ("t", "a", False, "m", 1),
        ("t", "a", True, "n", 1), ("t", "a", False, "n", 1), ("t", "a", False, "", 2),
        ("t", "a", False, "", 0), ("t", "a", True, "n", -1), ("t", "a", False, "", -2),
        ("t", "b", True, "m", 1), ("t", "b", False, "", 1), ("t", "b", True, "n", 1),
        ("u", "a", True, "m", 1), ("u", "a", False, "", 1), ("u", "a", False, "m", 1),
    ]  # fmt: skip
    rows: list[Row] = [use("t", "a", "MEMORY", "m"), use("u", "a", "MEMORY", "m")]
    for number, (tenant, agent, success, used, days) in enumerate(ends, 1):
        rows.append(outcome(number, tenant, agent, success, AT + days * DAY))
        for item in used:
            linked = {"outcome_id": number, "tenant_id": tenant, "item_id": item}
            rows.append(("outcome_items", linked))
    await put_all(pool, *ITEMS, *rows)
    whole = {
        (one.tenant_id, one.agent_id, one.kind, one.item_id): one
        for one in await effects.items(EffectFilter(), after=None, limit=9)
    }
    mine = whole["t", "a", Kind.MEMORY, "m"]
    assert (mine.ended.success, mine.ended.failure, mine.used) == (2, 1, 3)
    assert (mine.trial.without.success, mine.trial.without.failure) == (1, 3)
    other = whole["t", "b", Kind.MEMORY, "n"]
    assert (other.ended.success, other.ended.failure) == (1, 0)
    assert other.trial.without.total == 0
    foreign = whole["u", "a", Kind.MEMORY, "m"]
    assert (foreign.ended.success, foreign.ended.failure) == (1, 1)
    assert (foreign.trial.without.success, foreign.trial.without.failure) == (0, 1)


async def test_a_holdout_counts_its_own_tasks(pool: Pool, effects: PostgresEffects) -> None:
    counts = [
        ("t", "a", "m", False, True, 6), ("t", "a", "m", False, False, 5),
        ("t", "a", "m", True, True, 7), ("t", "a", "m", True, False, 8),
        ("t", "a", "n", False, True, 3), ("t", "b", "m", True, True, 3),
        ("u", "a", "m", False, True, 9), ("u", "a", "m", True, False, 9),
    ]  # fmt: skip
    rows: list[Row] = []
    number = 0
    for tenant, agent, item, left_out, success, times in counts:
        for _ in range(times):
            number += 1
            rows.append(outcome(number, tenant, agent, success))
            arm = {"tenant_id": tenant, "agent_id": agent, "item_id": item, "left_out": left_out}
            rows.append(("holdout_arms", arm | {"outcome_id": number}))
    rows.append(("holdout_arms", {"tenant_id": "t", "agent_id": "b", "item_id": "n"}))
    await put_all(pool, *ITEMS, *rows)
    found = {
        (one.tenant_id, one.agent_id, one.item_id, one.kind): one.trial
        for one in await effects.items(EffectFilter(), after=None, limit=9)
    }
    trial = found["t", "a", "m", Kind.MEMORY]
    assert (trial.given.success, trial.given.failure) == (6, 5)
    assert (trial.without.success, trial.without.failure) == (7, 8)
    judged = await effects.items(EffectFilter(only=Only.HELPS), after=None, limit=9)
    assert [(one.tenant_id, one.item_id) for one in judged] == [("t", "m"), ("u", "m")]


@pytest.mark.parametrize(
    ("tenant", "agent", "item", "tasks", "is_judged"),
    [
        ("t", "a", "m", 5, True), ("t", "a", "m", 4, False), ("t", "b", "m", 9, False),
        ("u", "a", "m", 9, False), ("t", "a", "n", 9, False),
    ],
)  # fmt: skip
async def test_an_item_is_judged_by_five_tasks_of_its_agent(
    pool: Pool, effects: PostgresEffects, tenant: str, agent: str, item: str, tasks: int,
    is_judged: bool,
) -> None:  # fmt: skip
    rows = [outcome(number, tenant, agent, True) for number in range(1, tasks + 1)]
    rows += [
        ("outcome_items", {"outcome_id": number, "tenant_id": tenant, "item_id": item})
        for number in range(1, tasks + 1)
    ]
    await put_all(pool, known("t", "a", "MEMORY", "m"), *rows)
    found = await effects.items(EffectFilter(only=Only.HARMS), after=None, limit=9)
    assert bool(found) is is_judged


@pytest.mark.parametrize(
    ("arms", "ended", "whose", "is_judged"),
    [
        (10, True, {}, True), (9, True, {}, False), (20, False, {}, False),
        (20, True, {"tenant_id": "u"}, False), (20, True, {"agent_id": "b"}, False),
        (20, True, {"item_id": "n"}, False),
    ],
)  # fmt: skip
async def test_an_item_is_judged_by_ten_tasks_of_its_trial(
    pool: Pool, effects: PostgresEffects, arms: int, ended: bool, whose: dict[str, str],
    is_judged: bool,
) -> None:  # fmt: skip
    arm = {"tenant_id": "t", "agent_id": "a", "item_id": "m", "at": AT, "left_out": False} | whose
    numbers = range(1, arms + 1) if ended else range(1, 1)
    rows: list[Row] = [outcome(number, "x", "x", True) for number in numbers]
    rows += [("holdout_arms", arm | {"outcome_id": number}) for number in numbers]
    if not ended:
        rows.append(("holdout_arms", arm))
    await put_all(pool, known("t", "a", "MEMORY", "m"), *rows)
    found = await effects.items(EffectFilter(only=Only.HARMS), after=None, limit=9)
    assert bool(found) is is_judged


@pytest.mark.parametrize("other", [one for one in WHOSE if one != ("t", "a", "MEMORY", "m")])
async def test_nothing_of_another_makes_an_item_reached_or_complained_of(
    pool: Pool, effects: PostgresEffects, other: tuple[str, str, str, str]
) -> None:
    item = known("t", "a", "MEMORY", "m")
    await put_all(pool, item, use(*other), complaint(1, *other))
    wanted = EffectFilter(tenant_id="t", agent_id="a")
    for only, is_there in ((Only.UNREACHED, True), (Only.BACK, False)):
        found = await effects.items(wanted.model_copy(update={"only": only}), after=None, limit=9)
        assert bool(found) is is_there
    counts = await effects.counts(wanted)
    assert (counts.known, counts.unreached, counts.back) == (1, 1, 0)


async def test_a_complaint_that_did_not_come_back_is_none(
    pool: Pool, effects: PostgresEffects
) -> None:
    of = ("t", "a", "MEMORY", "m")
    await put_all(pool, known(*of), use(*of), complaint(1, *of, came="before"))
    assert await effects.items(EffectFilter(only=Only.BACK), after=None, limit=9) == []
    assert (await effects.counts(EffectFilter())).back == 0
    await put_all(pool, complaint(2, *of), complaint(3, *of))
    assert len(await effects.items(EffectFilter(only=Only.BACK), after=None, limit=9)) == 1
    counts = await effects.counts(EffectFilter())
    assert (counts.known, counts.unreached, counts.back, counts.proposals) == (1, 0, 1, 0)


async def test_a_skill_was_learnt_when_it_came_on_the_list_of_its_agent(
    pool: Pool, effects: PostgresEffects
) -> None:
    lists = [("t", "a", "m"), ("t", "a", "n"), ("t", "b", "m"), ("u", "c", "m")]
    await put_all(
        pool, known("t", "a", "MEMORY", "m", valid_from=AT + 9 * DAY),
        known("t", "a", "MEMORY", "m", version=2, valid_from=AT + 8 * DAY, valid_to=AT + 9 * DAY),
        *(("agents_of_tenants", {"id": agent, "tenant_id": tenant, "sole_id": agent, "name": "A"})
          for tenant, agent in {one[:2] for one in lists}),
        *(("agent_skills", {"tenant_id": tenant, "agent_id": agent, "name": name,
                            "added_at": AT + n * DAY})
          for n, (tenant, agent, name) in enumerate(lists)),
    )  # fmt: skip
    found = {
        (one.tenant_id, one.agent_id, one.item_id, str(one.kind)): one.learnt_at
        for one in await effects.items(EffectFilter(), after=None, limit=9)
    }
    assert found == {
        **{(*one, "SKILL"): AT + n * DAY for n, one in enumerate(lists)},
        ("t", "a", "m", "MEMORY"): AT + 8 * DAY,
    }


async def test_what_contradicts_an_item_is_applied_and_about_it(
    pool: Pool, effects: PostgresEffects
) -> None:
    base = {"tenant_id": "t", "kind": "MEMORY", "target_id": "m", "status": "applied"}
    changed: list[dict[str, object]] = [
        {"relationship": "CONFLICTS"}, {"relationship": "SUPERSEDES"},
        {"relationship": "EXTENDS"}, {},
        {"relationship": "CONFLICTS", "tenant_id": "u"},
        {"relationship": "CONFLICTS", "kind": "DMN_RULE"},
        {"relationship": "CONFLICTS", "target_id": "n"},
        {"relationship": "CONFLICTS", "status": "rejected"},
    ]  # fmt: skip
    rows = [("changes", {**base, **one, "key": str(n)}) for n, one in enumerate(changed)]
    await put_all(pool, known("t", "a", "MEMORY", "m"), *rows)
    (one,) = await effects.items(EffectFilter(), after=None, limit=9)
    assert one.contradicted == 2


async def test_only_what_stands_now_is_known(pool: Pool, effects: PostgresEffects) -> None:
    later, ago = AT + 9_000 * DAY, AT - DAY
    await put_all(
        pool,
        known("t", "a", "MEMORY", "gone", valid_to=AT),
        known("t", "a", "MEMORY", "over", valid_until=ago, same_key="1"),
        known("t", "a", "MEMORY", "still", valid_until=later, same_key="2"),
        known("t", "a", "MEMORY", "shared", scope="tenant", same_key="3"),
        known("t", "a", "MEMORY", "own", same_key="4"),
        known("t", "a", "MEMORY", "was", scope="tenant", valid_to=AT, same_key="5"),
        *(use("t", "b", "MEMORY", item) for item in ("shared", "own", "was")),
        use("t", "a", "MEMORY", "shared"),
        use("t", "c", "DMN_RULE", "shared"),
        use("t", "c", "MEMORY", "n"),
        use("u", "c", "MEMORY", "shared"),
        ("agents", {"id": "s", "tenant_id": "t", "name": "A"}),
        ("agent_skills", {"tenant_id": "t", "agent_id": "s", "name": "pay", "added_at": AT + DAY}),
    )
    found = await effects.items(EffectFilter(), after=None, limit=20)
    assert {(one.agent_id, one.item_id): one.learnt_at for one in found} == {
        ("a", "own"): AT, ("a", "shared"): AT, ("a", "still"): AT, ("b", "shared"): AT,
        ("s", "pay"): AT + DAY,
    }  # fmt: skip
    counts = await effects.counts(EffectFilter(agent_id="b", tenant_id="t"))
    assert (counts.known, counts.unreached) == (1, 0)
    assert (await effects.counts(EffectFilter(tenant_id="u"))).known == 0


async def test_days_add_up_what_happened_on_each(pool: Pool, effects: PostgresEffects) -> None:
    of = ("t", "a", "MEMORY", "m")
    rows: list[Row] = []
    for days in range(5):
        at = AT - days * DAY
        rows += [use(*of, day=at.date(), times=10**days), complaint(days, *of, said_at=at)]
        rows += [use(*of, day=at.date(), times=2 * 10**days, way="loaded")]
        rows += [outcome(100 + days, "t", "a", days % 2 == 0, at)]
    rows += [complaint(1, "t", "a", "MEMORY", "n", said_at=AT - DAY)]  # of the same feedback
    rows += [complaint(9, *of, came="before", said_at=AT)]
    for n, (tenant, agent) in enumerate((("u", "a"), ("t", "b"))):
        other = (tenant, agent, "MEMORY", "m")
        rows += [use(*other, times=7), complaint(20 + n, *other, said_at=AT)]
        rows += [outcome(200 + n, tenant, agent, True)]
    await put_all(pool, *rows)
    days = await effects.days(EffectFilter(tenant_id="t", agent_id="a"), until=AT, days=3)
    assert [
        (one.day, one.shown, one.opened, one.success, one.failure, one.back) for one in days
    ] == [
        ((AT - 2 * DAY).date(), 100, 200, 1, 0, 1),
        ((AT - DAY).date(), 10, 20, 0, 1, 1),
        (AT.date(), 1, 2, 1, 0, 1),
    ]
    (whole,) = await effects.days(EffectFilter(), until=AT, days=1)
    assert (whole.shown, whole.success, whole.back) == (15, 3, 3)
    (tenant,) = await effects.days(EffectFilter(tenant_id="t"), until=AT, days=1)
    assert (tenant.shown, tenant.success, tenant.back) == (8, 2, 2)


async def test_what_taught_items_is_found_by_its_feedback(pool: Pool) -> None:
    base = {"tenant_id": "t", "knowledge_type": "MEMORY", "knowledge_id": "m", "agent_id": "a",
            "status": "applied", "operation": "CREATE", "feedback_id": "f", "change_id": "c",
            "feedback_content": "said", "created_at": AT}  # fmt: skip
    more: list[dict[str, object]] = [
        {}, {"feedback_content": "again"}, {"feedback_content": ""},
        {"feedback_content": "[erased]"}, {"status": "failed"}, {"feedback_id": None},
        {"operation": "DELETE"}, {"knowledge_id": "n"}, {"knowledge_type": "DMN_RULE"},
        {"tenant_id": "u"},
    ]  # fmt: skip
    rows = [("history", {**base, "attempt": n, **one}) for n, one in enumerate(more)]
    uses = [use(*one, first_at=AT + n * DAY) for n, one in enumerate(WHOSE)]
    await put_all(pool, ("changes", {"id": "c", "status": "applied"}), *rows, *uses)
    look = PostgresLookBack(pool)
    found = await look.lessons("t", "b", [(Kind.MEMORY, "m")])
    assert [(one.item_id, one.words) for one in found] == [("m", "said"), ("m", "again")]
    assert found[0].reached_at == AT + WHOSE.index(("t", "b", "MEMORY", "m")) * DAY
    assert found[0].learnt_at == AT
    both = await look.lessons("t", "a", [(Kind.MEMORY, "n"), (Kind.DMN_RULE, "m")])
    assert [(one.kind, one.item_id) for one in both] == [(Kind.MEMORY, "n"), (Kind.DMN_RULE, "m")]
    assert await look.lessons("t", "a", []) == []


async def test_what_a_piece_taught_an_agent_is_what_it_created(pool: Pool) -> None:
    base = {"tenant_id": "t", "knowledge_type": "MEMORY", "knowledge_id": "m", "agent_id": "a",
            "status": "applied", "operation": "CREATE", "feedback_id": "f", "change_id": "c",
            "feedback_content": "said"}  # fmt: skip
    more: list[dict[str, object]] = [
        {}, {"knowledge_id": "n"}, {"agent_id": "b"}, {"feedback_id": "g"}, {"status": "failed"},
        {"operation": "UPDATE"}, {"knowledge_type": "AGENT_SKILLS"}, {"feedback_content": ""},
        {"feedback_content": "[erased]"},
    ]  # fmt: skip
    rows = [("history", {**base, "attempt": n, **one}) for n, one in enumerate(more)]
    await put_all(pool, ("changes", {"id": "c", "status": "applied"}), *rows)
    found = await PostgresLookBack(pool).taught_by("f", "a")
    assert [one.item_id for one in found] == ["m", "n"]


def feedback(feedback_id: str, **more: object) -> Row:
    row: dict[str, object] = {
        "id": feedback_id, "source_id": feedback_id, "tenant_id": "t", "agent_ids": ["a", "b"],
        "content": "said", "said_at": AT, "created_at": AT, "finished_at": AT,
        "status": "completed",
    }  # fmt: skip
    return "feedback", row | more


async def test_what_was_said_before_is_of_the_same_agent_and_not_long_ago(pool: Pool) -> None:
    await put_all(
        pool,
        feedback("now"),
        feedback("first", said_at=AT - 3 * DAY, created_at=AT - 3 * DAY),
        feedback("second", said_at=AT - DAY, created_at=AT - DAY),
        feedback("third", said_at=AT - DAY / 2, created_at=AT - DAY / 2),
        feedback("of-another", agent_ids=["b"], said_at=AT - DAY, created_at=AT - DAY),
        feedback("foreign", tenant_id="u", said_at=AT - DAY, created_at=AT - DAY),
        feedback("erased", content="[erased]", said_at=AT - DAY, created_at=AT - DAY),
        feedback("open", finished_at=None, status="queued", said_at=AT - DAY, created_at=AT - DAY),
        feedback("later", said_at=AT + DAY),
        feedback("heard-later", said_at=AT - DAY, created_at=AT + DAY),
        feedback("long-ago", said_at=AT - 9 * DAY, created_at=AT - 9 * DAY),
    )
    piece = EndedPiece(
        id="now", tenant_id="t", agent_ids=("a",), content="", said_at=AT, finished_at=AT
    )
    look = PostgresLookBack(pool)
    found = await look.earlier(piece, "a", within=5 * DAY, limit=9)
    assert [one.id for one in found] == ["third", "second", "first"]
    assert len(await look.earlier(piece, "a", within=5 * DAY, limit=2)) == 2


async def test_what_ended_is_looked_at_once_and_half_a_minute_late(pool: Pool) -> None:
    second = timedelta(seconds=1)
    await put_all(
        pool,
        feedback("new", finished_at=AT - 29 * second),
        feedback("b", finished_at=AT - 31 * second, status="held"),
        feedback("a", finished_at=AT - DAY, status="no_action"),
        feedback("a2", finished_at=AT - DAY),
        feedback("failed", finished_at=AT - DAY, status="failed"),
        feedback("old", finished_at=AT - 8 * DAY),
    )
    look = PostgresLookBack(pool)
    assert [one.id for one in await look.ended(AT, limit=9)] in (["a", "a2", "b"], ["a2", "a", "b"])
    assert len(await look.ended(AT, limit=1)) == 2  # those of one moment together
    await look.looked(AT - DAY, [])
    assert [one.id for one in await look.ended(AT, limit=9)] == ["b"]
    await look.looked(AT - 2 * DAY, [])
    assert [one.id for one in await look.ended(AT, limit=9)] == ["b"]

"""Figures, budgets and lists count and show rows of the tenant, the day and the state asked for."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from core.adapters.postgres.budgets import PostgresBudgets, PostgresSpending
from core.adapters.postgres.figures import PostgresBacklog, PostgresFigures
from core.adapters.postgres.job_sweep import take_over
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.reads import PostgresReader
from core.adapters.postgres.runs import PostgresRetention
from core.agent.budgets import DailyBudgets
from core.domain.errors import BudgetUsedUp, CircuitOpen
from core.domain.models import ChangeFilter, FeedbackFilter, HistoryFilter, Kind, Usage
from tests.contracts.suites.budgets import PRICED
from tests.support.change_rows import change, history
from tests.support.seeding import AT, DAY, Row, put_all

MINUTE = timedelta(minutes=1)


def piece(feedback_id: str, status: str = "queued", **more: object) -> Row:
    row: dict[str, object] = {
        "id": feedback_id, "source_id": feedback_id, "tenant_id": "t", "agent_ids": ["a"],
        "content": "words", "status": status, "said_at": AT,
    }  # fmt: skip
    return "feedback", row | more


@pytest.fixture
def figures(pool: Pool) -> PostgresFigures:
    return PostgresFigures(pool, stalled_after=30)


async def test_what_stands_is_counted_by_its_state_and_tenant(
    pool: Pool, figures: PostgresFigures
) -> None:
    now = datetime.now(UTC)
    long_ago = now - timedelta(hours=2)
    await put_all(
        pool, piece("q1", created_at=now - 9 * MINUTE), piece("q2", created_at=now - 5 * MINUTE),
        piece("r", created_at=now - 60 * MINUTE, retry_at=now + MINUTE),
        piece("due", created_at=now - 30 * MINUTE, retry_at=now - 20 * MINUTE),
        piece("p", "processing", created_at=long_ago),
        piece("d1", "dead", created_at=long_ago, finished_at=now - 5 * MINUTE),
        piece("d2", "dead", created_at=long_ago, finished_at=now - 30 * MINUTE),
        piece("d3", "dead", created_at=long_ago, finished_at=long_ago),
        piece("h", "held", created_at=long_ago, finished_at=now - 30 * MINUTE),
        piece("u", tenant_id="u", created_at=now - 90 * MINUTE),
        piece("u2", "failed", tenant_id="u", finished_at=now),
    )  # fmt: skip
    found = await figures.standing("t")
    assert found.counts == {"queued": 4, "processing": 1, "dead": 3, "held": 1}
    assert found.last_hour == {"dead": 2, "held": 1}
    assert found.last_minutes == {"dead": 1}
    assert 60 <= found.oldest_seconds / 60 < 61
    assert 20 <= found.due_seconds / 60 < 21
    whole = await figures.standing(None)
    assert whole.counts == {"queued": 5, "processing": 1, "dead": 3, "held": 1, "failed": 1}
    assert 90 <= whole.oldest_seconds / 60 < 91
    backlog = await PostgresBacklog(pool).waiting()
    assert (backlog.queued, backlog.processing) == (5, 1)
    assert 90 <= backlog.oldest_seconds / 60 < 91
    ended = await PostgresBacklog(pool).ended()
    assert ended == {"dead": 3, "held": 1, "failed": 1}
    assert await PostgresReader(pool).counts() == {**whole.counts}


async def test_what_ended_is_told_by_steps_of_time(pool: Pool, figures: PostgresFigures) -> None:
    now = datetime.now(UTC)
    await put_all(
        pool, *(piece(f"f{n}", "completed", finished_at=now - n * 60 * MINUTE) for n in range(5)),
        piece("u", "failed", tenant_id="u", finished_at=now),
    )  # fmt: skip
    series = await figures.ended("t", 3600, 3)
    hour = now.replace(minute=0, second=0, microsecond=0)
    assert [one.at for one in series.buckets] == [hour - n * 60 * MINUTE for n in (2, 1, 0)]
    assert [one.by_status for one in series.buckets] == [{"completed": 1}] * 3
    whole = await figures.ended(None, 3600, 1)
    assert [one.by_status for one in whole.buckets] == [{"completed": 1, "failed": 1}]


async def test_changes_are_counted_by_what_came_of_them(
    pool: Pool, figures: PostgresFigures
) -> None:
    now = datetime.now(UTC)

    def made(name: str, days: float, **more: object) -> Row:
        return change(name, target_id=name, created_at=now - days * DAY, **more)

    await put_all(
        pool, made("a", 0.5), made("b", 2), made("old", 31), made("p", 0, status="prepared"),
        made("u", 0, tenant_id="u"), made("r", 0, kind="DMN_RULE"),
        made("d", 0, operation="DELETE"),
        made("h", 0, status="held", held=["x"], prepared_at=now - 5 * MINUTE),
        made("s", 0, status="stale", held=["x"], prepared_at=now - 9 * MINUTE),
        made("n", 0, status="stale", held=[], prepared_at=now - 30 * MINUTE),
        made("hu", 0, status="held", held=["x"], tenant_id="u", prepared_at=now - 20 * MINUTE),
        made("done", 0, status="applied", held=["x"], prepared_at=now - 60 * MINUTE),
    )  # fmt: skip
    found = await figures.outcomes("t")
    assert [(one.kind, one.operation, one.status, one.day, one.month) for one in found] == [
        ("DMN_RULE", "CREATE", "applied", 1, 1), ("MEMORY", "CREATE", "applied", 2, 3),
        ("MEMORY", "CREATE", "held", 1, 1), ("MEMORY", "CREATE", "stale", 2, 2),
        ("MEMORY", "DELETE", "applied", 1, 1),
    ]  # fmt: skip
    waiting = await figures.reviews("t")
    assert (waiting.held, waiting.stale) == (1, 1)
    assert 9 <= waiting.oldest_seconds / 60 < 10
    whole = await figures.reviews(None)
    assert (whole.held, whole.stale) == (2, 1)
    undecided = await PostgresBacklog(pool).undecided()
    assert (undecided.held, undecided.stale) == (2, 1)
    assert 20 <= undecided.oldest_seconds / 60 < 21


async def test_workers_are_told_with_what_they_work_on(
    pool: Pool, figures: PostgresFigures
) -> None:
    now = datetime.now(UTC)
    ages = {1: 10, 2: 40, 3: 50}

    def job(number: int, of: str, worker: int, status: str = "doing") -> Row:
        row = {"id": number, "queue_name": "x", "task_name": "x", "args": {"feedback_id": of}}
        return "procrastinate_jobs", row | {"worker_id": worker, "status": status}

    await put_all(
        pool, *(("procrastinate_workers", {"id": n, "last_heartbeat": now - timedelta(seconds=s)})
                for n, s in ages.items()),
        ("worker_cards", {"id": 1, "name": "one", "pid": 7, "started_at": now}),
        ("worker_cards", {"id": 9, "name": "gone", "started_at": now}),
        piece("f"), piece("g"), piece("u", tenant_id="u"), job(3, "f", 1), job(2, "g", 1),
        job(4, "u", 1), job(5, "g", 1, "failed"), job(6, "u", 2),
    )  # fmt: skip
    one, two, three = await figures.workers("t")
    assert (one.name, one.pid, one.is_alive, one.working, one.feedback_ids) == (
        "one", 7, True, 3, ("g", "f"),
    )  # fmt: skip
    assert (two.name, two.is_alive, two.working, two.feedback_ids) == (None, False, 1, ())
    assert (three.working, three.feedback_ids) == (0, ())
    whole, _, _ = await figures.workers(None)
    assert whole.feedback_ids == ("g", "f", "u")
    # Who is silent and works on nothing is forgotten, and so is the card of who is gone.
    await take_over(Jobs(pool), stalled_after=30)
    assert [worker.id for worker in await figures.workers(None)] == [1, 2]
    async with connection(pool) as conn:
        cards = await (await conn.execute(b"SELECT id FROM worker_cards")).fetchall()
    assert [row["id"] for row in cards] == [1]


async def no_sleep(_: float) -> None:
    raise AssertionError("nothing stands in the way")


def budgets(pool: Pool, default: str | None = "10", **by_tenant: str | None) -> PostgresBudgets:
    own = {name: None if one is None else Decimal(one) for name, one in by_tenant.items()}
    daily = DailyBudgets(Decimal(default) if default else None, own, currency="USD")
    return PostgresBudgets(pool, daily, PRICED, sleep=no_sleep, longest_wait=0.0)


def spent(tenant: str, cost: float, days_ago: int = 0, **more: object) -> Row:
    day = (datetime.now(UTC) - days_ago * DAY).date()
    row = {"tenant_id": tenant, "day": day, "model": "m", "cost": cost, "model_calls": 1}
    return "spending", row | more


async def test_a_budget_is_of_what_its_tenant_spent_today(pool: Pool) -> None:
    own = budgets(pool, v="3", w=None)
    await put_all(
        pool, spent("t", 6), spent("t", 4, model="n"), spent("t", 99, 1), spent("u", 9.5),
        spent("v", 3), spent("w", 500), piece("1"), piece("2", "processing"), piece("3", "dead"),
        piece("4", tenant_id="u"), piece("5", tenant_id="v"), piece("6", tenant_id="w"),
        piece("7", tenant_id="x"), spent("y", 50),
    )  # fmt: skip
    for tenant in "tv":
        with pytest.raises(BudgetUsedUp):
            await own.require(tenant)
    for tenant in "uwx":
        await own.require(tenant)
    used = await own.used_up()
    assert [(one.tenant_id, one.waiting, one.budget, one.spent) for one in used] == [
        ("t", 2, 10, 10), ("v", 1, 3, 3),
    ]  # fmt: skip
    assert await budgets(pool, None).used_up() == ()
    today = await own.today(None)
    assert [(one.tenant_id, one.budget, one.spent, one.waiting) for one in today] == [
        ("t", 10, 10, 2), ("u", 10, Decimal("9.5"), 1), ("v", 3, 3, 1), ("w", None, 500, 1),
        ("y", 10, 50, 0),
    ]  # fmt: skip
    assert [(one.tenant_id, one.spent) for one in await own.today("v")] == [("v", 3)]
    assert [(one.tenant_id, one.waiting) for one in await own.today("x")] == [("x", 1)]


async def test_a_call_sets_aside_what_the_dearest_lately_cost(pool: Pool) -> None:
    now = datetime.now(UTC)

    def aside(name: str, tenant: str, amount: float, minutes: float = 1) -> Row:
        row = {"id": name, "tenant_id": tenant, "amount": amount}
        return "reservations", row | {"expires_at": now + minutes * MINUTE}

    async def reserved() -> dict[str, Decimal]:
        async with connection(pool) as conn:
            rows = await (await conn.execute(b"SELECT id, amount FROM reservations")).fetchall()
        return {row["id"]: row["amount"] for row in rows}

    await put_all(
        pool, spent("t", 2, dearest=1), spent("t", 3, 1, dearest=4), spent("t", 5, 400, dearest=9),
        spent("u", 9, dearest=8), aside("running", "t", 7), aside("dead", "t", 50, -1),
        aside("of-u", "u", 50), aside("dead-u", "u", 50, -1), spent("v", 1),
    )  # fmt: skip
    async with budgets(pool).call("t", "call"):
        assert await reserved() == {"running": 7, "call": 4, "of-u": 50, "dead-u": 50}
    assert await reserved() == {"running": 7, "of-u": 50, "dead-u": 50}
    async with budgets(pool).call("v", "first"):
        assert (await reserved())["first"] == 9
    await put_all(pool, aside("more", "t", 1))
    with pytest.raises(CircuitOpen):
        async with budgets(pool, "10.0").call("t", "late"):
            pass
    async with budgets(pool, "10.5").call("t", "late"):
        assert (await reserved())["late"] == 4
    async with budgets(pool, "5").call("t", "running"):  # its own is no other's
        assert (await reserved())["running"] == 4


async def test_days_of_spending_are_listed_the_newest_first(pool: Pool) -> None:
    spending = PostgresSpending(pool)
    await put_all(
        pool, spent("u", 1), spent("t", 2, model="z"), spent("t", 3), spent("t", 4, 1),
        spent("t", 5, 2), piece("f"), ("reservations", {"id": "call", "tenant_id": "t"}),
        ("reservations", {"id": "other", "tenant_id": "t"}),
    )  # fmt: skip

    async def costs(tenant: str | None, days: int) -> list[Decimal | None]:
        return [one.usage.cost for one in await spending.of_days(tenant, days)]

    assert await costs(None, 2) == [3, 2, 1, 4]
    assert await costs("t", 2) == [3, 2, 4]
    assert await costs("t", 3) == [3, 2, 4, 5]
    await spending.pay("t", "call", Usage(model_calls=0))
    assert await costs("t", 1) == [3, 2]
    async with connection(pool) as conn:
        left = await (await conn.execute(b"SELECT id FROM reservations")).fetchall()
    assert [row["id"] for row in left] == ["other"]


async def test_runs_of_what_ended_long_ago_are_forgotten_and_their_costs_kept(pool: Pool) -> None:
    now = datetime.now(UTC)
    old, new = now - 11 * DAY, now - 9 * DAY
    statuses = ("completed", "no_action", "failed", "dead", "cancelled", "held", "queued",
                "processing")  # fmt: skip

    def event(of: str | None, at: datetime = old) -> Row:
        return "run_events", {"feedback_id": of, "at": at, "name": "x", "tenant_id": "t"}

    def reply(key: str, cost: int, **more: object) -> Row:
        return "model_replies", {"key": key, "tenant_id": "t", "cost": cost, "ordinal": 1} | more

    run = {"tenant_id": "t", "agent_id": "a"}
    await put_all(
        pool, *(piece(one, one, finished_at=old) for one in statuses),
        piece("new", "completed", finished_at=new), piece("tagged", "dead", finished_at=old),
        piece("pruned", "dead", finished_at=old, pruned=True),
        ("run_tags", {"run": "x:1", "feedback_id": "tagged", "tag": "x", "tenant_id": "t"}),
        *(event(one) for one in (*statuses, "new", "tagged", "pruned", None)), event(None, new),
        ("candidates", run | {"id": "c", "feedback_id": "completed"}),
        ("candidates", run | {"id": "d", "feedback_id": "held"}),
        reply("match:completed:1", 1), reply("match:completed:2", 2), reply("c:1:1", 4),
        reply("c:1:1:author:1", 8), reply("c:1:1:author:2", 16), reply("c:1:2:author", 32),
        reply("d:1:1", 64), reply("match:held:1", 128), reply("cc:1:1", 256), reply("b:1", 512),
    )  # fmt: skip
    assert await PostgresRetention(pool).prune(10 * 86_400) == 5
    async with connection(pool) as conn:
        rows = await (await conn.execute(b"SELECT feedback_id FROM run_events")).fetchall()
        kept = await (await conn.execute(b"SELECT key, cost FROM model_replies")).fetchall()
        marked = await conn.execute(b"SELECT id FROM feedback WHERE pruned")
        pruned = {row["id"] for row in await marked.fetchall()}
    assert sorted(str(row["feedback_id"]) for row in rows) == [
        "None", "held", "new", "processing", "pruned", "queued", "tagged",
    ]  # fmt: skip
    assert pruned == {*statuses[:5], "pruned"}
    costs = {row["key"]: row["cost"] for row in kept}
    assert {key: cost for key, cost in costs.items() if cost >= 64} == {
        "d:1:1": 64, "match:held:1": 128, "cc:1:1": 256, "b:1": 512,
    }  # fmt: skip
    assert sorted(cost for cost in costs.values() if cost < 64) == [7, 24, 32]
    assert costs["c:1:1:author"] == 24


async def listed(
    reader: PostgresReader, wanted: FeedbackFilter | ChangeFilter | HistoryFilter, limit: int = 9
) -> list[str]:
    """Return the ids of all pages of a list."""
    ids: list[str] = []
    cursor: str | None = None
    while True:
        page: Sequence[object]
        if isinstance(wanted, FeedbackFilter):
            page, cursor = await reader.feedback(wanted, limit=limit, cursor=cursor)
        elif isinstance(wanted, ChangeFilter):
            page, cursor = await reader.changes(wanted, limit=limit, cursor=cursor)
        else:
            page, cursor = await reader.history(wanted, limit=limit, cursor=cursor)
        assert len(page) <= limit
        ids += [str(getattr(one, "id", "")) for one in page]
        if cursor is None:
            return ids


async def test_lists_of_feedback_have_what_is_asked_for_newest_first(pool: Pool) -> None:
    reader = PostgresReader(pool, reach=4)
    base = {"created_at": AT}
    await put_all(
        pool, piece("a", **base), piece("b", **base), piece("held", "held", **base),
        piece("u", **base, tenant_id="u"), piece("of-b", **base, agent_ids=["x", "b"]),
        piece("new", created_at=AT + DAY), piece("old", created_at=AT - DAY),
        piece("says", **base, content="50% Off"), piece("id-50% off", **base),
    )  # fmt: skip
    whole = ["new", "u", "says", "of-b", "id-50% off", "held", "b", "a", "old"]
    for limit in (1, 2, 9):
        assert await listed(reader, FeedbackFilter(), limit) == whole
    for given, expected in (
        ({"statuses": ("held",)}, ["held"]), ({"tenant_id": "u"}, ["u"]),
        ({"agent_id": "b"}, ["of-b"]), ({"since": AT}, whole[:-1]), ({"until": AT}, ["old"]),
        ({"since": AT + DAY / 2}, ["new"]), ({"until": AT + DAY}, whole[1:]),
        ({"text": "50% off"}, ["says", "id-50% off"]), ({"text": "FF"}, ["says"]),
        ({"text": "old"}, ["old"]), ({"agent_id": "b", "text": "x"}, []),
    ):  # fmt: skip
        for limit in (1, 3):
            assert await listed(reader, FeedbackFilter.model_validate(given), limit) == expected
    # A page of what is rare is cut where so many rows were looked through.
    page, cursor = await reader.feedback(FeedbackFilter(text="old"), limit=3, cursor=None)
    assert (page, cursor is None) == ([], False)


async def test_lists_of_changes_and_history_have_what_is_asked_for(pool: Pool) -> None:
    reader = PostgresReader(pool)
    more: dict[str, dict[str, object]] = {
        "a": {}, "b": {}, "u": {"tenant_id": "u"}, "of-b": {"agent_id": "b"}, "failed": {},
        "new": {"created_at": AT + DAY}, "old": {"created_at": AT - DAY}, "f": {}, "m": {}, "r": {},
    }  # fmt: skip
    own = {
        "failed": {"status": "failed"}, "f": {"feedback_id": "f"}, "m": {"target_id": "x"},
        "r": {"kind": "DMN_RULE"},
    }  # fmt: skip
    told = {
        "failed": {"status": "failed"}, "f": {"feedback_id": "f"}, "m": {"knowledge_id": "x"},
        "r": {"knowledge_type": "DMN_RULE"},
    }  # fmt: skip
    base = {"created_at": AT, "feedback_id": None, "knowledge_type": "MEMORY", "knowledge_id": "m"}
    await put_all(
        pool, *(change(one, **given | own.get(one, {})) for one, given in more.items()),
        *(history(one, 1, **base | {"id": one} | given | told.get(one, {}))
          for one, given in more.items()),
    )  # fmt: skip
    whole = ["new", "u", "r", "of-b", "m", "failed", "f", "b", "a", "old"]
    kinds: tuple[tuple[type[ChangeFilter] | type[HistoryFilter], str], ...] = (
        (ChangeFilter, "target_id"), (HistoryFilter, "item_id"),
    )  # fmt: skip
    for kind, target in kinds:
        for limit in (2, 20):
            assert await listed(reader, kind(), limit) == whole
        for given, expected in (
            ({"statuses": ("failed",)}, "failed"), ({"tenant_id": "u"}, "u"),
            ({"agent_id": "b"}, "of-b"), ({"kind": Kind.DMN_RULE}, "r"),
            ({"feedback_id": "f"}, "f"), ({target: "x"}, "m"),
        ):  # fmt: skip
            assert await listed(reader, kind.model_validate(given)) == [expected]
    assert (await reader.history_record("of-b")).agent_id == "b"

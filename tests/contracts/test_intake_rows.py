"""What is ahead, waits, is due or was left behind: told of pieces and jobs, each by its own row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.duplicate_waiters import PostgresDuplicateWaiters
from core.adapters.postgres.inbox import PostgresDeliveries, PostgresInbox, PostgresIntake
from core.adapters.postgres.job_sweep import end_left, reconcile, take_over
from core.adapters.postgres.jobs import QUEUE, Jobs
from core.adapters.postgres.queries import Pool, connection
from core.domain.errors import LeaseLost
from core.domain.models import Change, Feedback, FeedbackStatus, Kind, Outcome
from core.domain.models.feedback import NewFeedback
from core.testing.determinism import counting_ids
from tests.support.change_rows import change
from tests.support.react import item_change
from tests.support.seeding import AT, DAY, Row, put_all

DONE = Outcome(status=FeedbackStatus.COMPLETED)


@pytest.fixture
def jobs(pool: Pool) -> Jobs:
    return Jobs(pool)


@pytest.fixture
def inbox(pool: Pool, jobs: Jobs) -> PostgresInbox:
    return PostgresInbox(pool, jobs, counting_ids("feedback"))


def piece(feedback_id: str, status: str = "processing", **more: object) -> Row:
    row: dict[str, object] = {
        "id": feedback_id, "source_id": feedback_id, "tenant_id": "t", "agent_ids": ["a"],
        "content": "words", "status": status, "epoch": 4, "attempts": 2, "said_at": AT,
        "created_at": AT,
    }  # fmt: skip
    return "feedback", row | more


async def rows_of(
    pool: Pool, what: str = "*", table: str = "feedback"
) -> dict[str, dict[str, object]]:
    async with connection(pool) as conn:
        rows = await conn.execute(f"SELECT id, {what} FROM {table}".encode())
        return {row["id"]: row for row in await rows.fetchall()}


async def test_ahead_is_what_was_said_before_to_one_of_the_agents(
    pool: Pool, inbox: PostgresInbox
) -> None:
    before, later = {"said_at": AT - DAY}, {"said_at": AT + DAY}
    await put_all(
        pool, piece("now", agent_ids=["a", "b"]), piece("1", **before),
        piece("2", "queued", said_at=AT - 2 * DAY), piece("3", created_at=AT - DAY),
        piece("aa"), piece("zz"), piece("of-b", said_at=AT - 3 * DAY, agent_ids=["c", "b"]),
        piece("of-c", **before, agent_ids=["c"]), piece("foreign", **before, tenant_id="u"),
        piece("ended", "completed", **before), piece("again", "queued", **before, retry_at=AT),
        piece("later", **later), piece("in-later", created_at=AT + DAY),
        piece("retried", **before, retry_at=AT),
    )  # fmt: skip
    now = await inbox.get("now")
    assert [one.id for one in await inbox.earlier(now, 9)] == [
        "aa", "3", "retried", "1", "2", "of-b",
    ]  # fmt: skip
    assert [one.id for one in await inbox.earlier(now, 2)] == ["aa", "3"]


def verdict(feedback_id: str, *categories: str, position: int = 1) -> Row:
    receipts = [{"status": "none", "category": one} for one in categories]
    row = {"feedback_id": feedback_id, "tenant_id": "t", "agent_id": "a", "position": position}
    return "candidates", row | {"verdict": {"receipts": receipts}}


async def test_passed_over_is_what_was_said_later_and_came_to_nothing(
    pool: Pool, inbox: PostgresInbox
) -> None:
    names = ("d", "u", "both", "other", "early", "foreign", "of-c", "done", "aa", "zz", "said-late")
    more: dict[str, dict[str, object]] = {
        "d": {"said_at": AT + 2 * DAY}, "u": {"said_at": AT + DAY},
        "both": {"created_at": AT + DAY},
        "early": {"said_at": AT - DAY}, "foreign": {"said_at": AT + DAY, "tenant_id": "u"},
        "of-c": {"said_at": AT + DAY, "agent_ids": ["c"]}, "other": {"said_at": AT + DAY},
        "done": {"said_at": AT + DAY, "status": "completed"},
        "said-late": {"said_at": AT + DAY, "agent_ids": ["c", "a"], "created_at": AT + DAY},
    }  # fmt: skip
    rows = [piece(one, **{"status": "no_action", **more.get(one, {})}) for one in names]
    await put_all(
        pool, piece("now"), *rows,
        *(verdict(one, "unclear" if one in {"u", "both"} else "duplicate")
          for one in names if one != "other"),
        verdict("other", "unrelated"), verdict("both", "nothing", position=2),
    )  # fmt: skip
    now = await inbox.get("now")
    found = [one.id for one in await inbox.passed_over(now, 9)]
    assert found == ["zz", "both", "u", "said-late", "d"]
    assert [one.id for one in await inbox.passed_over(now, 1)] == ["zz"]


async def test_a_piece_waits_for_what_is_ahead_and_its_claimer_alone_lets_it(
    pool: Pool, inbox: PostgresInbox
) -> None:
    await put_all(
        pool, piece("ahead"), piece("queued", "queued"), piece("ended", "completed"),
        piece("later", "queued", retry_at=AT), *(piece(f"w{n}") for n in range(5)),
        piece("taken", epoch=5), piece("over", "completed"), piece("beside"),
    )  # fmt: skip

    def claimed(feedback_id: str) -> Feedback:
        return Feedback.model_validate(
            {"id": feedback_id, "source": "x", "source_id": "x", "tenant_id": "t", "epoch": 4,
             "agent_ids": ["a"], "content": "x", "status": "processing", "said_at": AT,
             "created_at": AT}
        )  # fmt: skip

    for n, earlier in enumerate(("ahead", "queued", "ended", "later", "none")):
        assert await inbox.wait_for(claimed(f"w{n}"), earlier) is (n < 2)
    for name in ("taken", "over"):
        with pytest.raises(LeaseLost):
            await inbox.wait_for(claimed(name), "ahead")
    found = await rows_of(pool, "status, attempts, waits_for")
    assert {one: row["waits_for"] for one, row in found.items() if row["waits_for"]} == {
        "w0": "ahead", "w1": "queued",
    }  # fmt: skip
    assert (found["w0"]["status"], found["w0"]["attempts"]) == ("queued", 1)
    assert (found["w2"]["status"], found["w2"]["attempts"]) == ("processing", 2)


async def test_an_end_releases_what_waited_for_it(
    pool: Pool, inbox: PostgresInbox, jobs: Jobs
) -> None:
    waits = {"status": "queued", "waits_for": "f"}
    await put_all(
        pool, piece("f"), piece("g"), piece("w", **waits, turn=3), piece("v", **waits),
        piece("running", **{**waits, "status": "processing"}),
        piece("other", "queued", waits_for="g"),
    )  # fmt: skip
    stale = (await inbox.get("f")).model_copy(update={"epoch": 3})
    with pytest.raises(LeaseLost):
        await inbox.finish(stale, DONE)
    assert all(row["waits_for"] == "f" for one, row in (await rows_of(pool, "waits_for")).items()
               if one in {"w", "v", "running"})  # fmt: skip
    await inbox.finish(await inbox.get("f"), DONE)
    found = await rows_of(pool, "waits_for, job_id, status")
    assert {one: row["waits_for"] for one, row in found.items() if row["waits_for"]} == {
        "running": "f", "other": "g",
    }  # fmt: skip
    assert {one for one, row in found.items() if row["job_id"]} == {"w", "v"}
    assert await jobs.unfinished() == 5


async def test_what_is_given_back_goes_behind_what_its_tenant_has_waiting(
    pool: Pool, inbox: PostgresInbox
) -> None:
    await put_all(
        pool, piece("now", turn=2), piece("at-once", turn=3), piece("free", turn=2),
        piece("w1", "queued", turn=7), piece("w2", "queued", turn=5),
        piece("u", "queued", turn=9, tenant_id="u"), piece("done", "completed", turn=11),
        piece("taken", epoch=5), piece("ended", "completed"),
    )  # fmt: skip
    await inbox.give_back(await inbox.get("now"), "down", 60.0)
    await inbox.give_back(await inbox.get("at-once"), "stopped", 0.0, counts=False)
    await inbox.give_back(await inbox.get("free"), "down", 60.0, counts=False)
    for name in ("taken", "ended"):
        with pytest.raises(LeaseLost):
            await inbox.give_back((await inbox.get(name)).model_copy(update={"epoch": 4}), "x", 1.0)
    found = await rows_of(pool, "status, turn, attempts, retry_at, error")
    assert [found[one]["turn"] for one in ("now", "at-once", "free")] == [8, 3, 9]
    assert [found[one]["attempts"] for one in ("now", "at-once", "free")] == [2, 1, 1]
    assert [found[one]["error"] for one in ("now", "at-once", "w1")] == ["down", "stopped", None]
    assert found["at-once"]["retry_at"] is None
    retry = found["now"]["retry_at"]
    assert isinstance(retry, datetime)
    assert timedelta(seconds=30) < retry - datetime.now(UTC) <= timedelta(seconds=60)
    assert {one: row["turn"] for one, row in found.items() if row["status"] == "queued"} == {
        "now": 8, "at-once": 3, "free": 9, "w1": 7, "w2": 5, "u": 9,
    }  # fmt: skip


def spending(number: int) -> dict[str, object]:
    return {"model_calls": number, "input_tokens": 10 * number, "output_tokens": 100 * number,
            "cost": number}  # fmt: skip


async def test_an_end_sums_what_was_spent_on_the_piece_and_nothing_else(
    pool: Pool, inbox: PostgresInbox
) -> None:
    def reply(key: str, number: int) -> Row:
        return "model_replies", {"key": key, "tenant_id": "t", "ordinal": 1, **spending(number)}

    run = {"tenant_id": "t", "agent_id": "a"}
    await put_all(
        pool, piece("f"), piece("g"), piece("h", epoch=9),
        ("candidates", run | {"id": "c", "feedback_id": "f"} | spending(1)),
        ("candidates", run | {"id": "d", "feedback_id": "f", "position": 2} | spending(2)),
        ("candidates", run | {"id": "e", "feedback_id": "g"} | spending(4)),
        reply("match:f:1", 8), reply("match:g:1", 16), reply("c:1:x", 32),
        reply("d:1:x:author", 64),
        reply("e:1", 128), reply("cc:1", 256), reply("b:1", 512),
    )  # fmt: skip
    await inbox.finish(await inbox.get("f"), DONE)
    for name in ("g", "h"):
        with pytest.raises(LeaseLost):
            await inbox.finish((await inbox.get(name)).model_copy(update={"epoch": 5}), DONE)
    found = await rows_of(
        pool, "status, model_calls, input_tokens, output_tokens, cost, finished_at"
    )
    ended = found["f"]
    assert ended["status"] == "completed"
    spent = [ended[f"{one}"] for one in ("model_calls", "input_tokens", "output_tokens", "cost")]
    assert spent == [107, 1070, 10700, 107]
    assert [found[one]["status"] for one in "gh"] == ["processing"] * 2
    assert found["g"]["finished_at"] is None


async def test_new_pieces_take_turns_behind_their_own_tenants(
    pool: Pool, inbox: PostgresInbox
) -> None:
    await put_all(
        pool, piece("running", turn=4), piece("w", "queued", turn=9), piece("v", "queued", turn=7),
        piece("done", "completed", turn=20), piece("u", "completed", turn=30, tenant_id="u"),
        piece("known", "completed", source="mail", content="x"),
        piece("elsewhere", "completed", source="chat", source_id="new"),
    )  # fmt: skip
    given = [
        NewFeedback(id=name, tenant_id=tenant, agent_ids=("a",), content="x")
        for name, tenant in (("new", "t"), ("other", "u"), ("next", "t"), ("more", "u"))
    ]
    added = await inbox.add("mail", given)
    assert all(is_new for _, is_new in added)
    turns = await rows_of(pool, "source_id, turn, created_at")
    made = {
        row["source_id"]: row["turn"] for one, row in turns.items() if one.startswith("feedback")
    }
    assert made == {"new": 10, "next": 11, "other": 5, "more": 6}
    assert [is_new for _, is_new in await inbox.add("mail", given)] == [False] * 4


async def test_only_what_ended_is_revived_and_only_what_waits_cancelled(
    pool: Pool, inbox: PostgresInbox, jobs: Jobs
) -> None:
    run = {"tenant_id": "t", "agent_id": "a", "verdict": {"status": "x"}, "epoch": 6}
    await put_all(
        pool, piece("f", "failed", turn=1, error="why", generation=3), piece("g", "dead"),
        piece("w", "queued", turn=8), piece("w2", "queued", turn=6), piece("c", "queued"),
        piece("waits", "queued", waits_for="c"), piece("u", "queued", turn=50, tenant_id="u"),
        *(("candidates", run | {"id": f"r{one}", "feedback_id": one}) for one in "fgc"),
    )  # fmt: skip
    intake = PostgresIntake(pool, jobs)
    revived = await intake.revive("f")
    assert (revived.status, revived.generation, revived.epoch) == ("queued", 4, 5)
    assert (revived.attempts, revived.error, revived.finished_at) == (0, None, None)
    cancelled = await intake.cancel("c", "no use")
    assert (cancelled.status, cancelled.error) == ("cancelled", "no use")
    found = await rows_of(pool, "status, turn, waits_for, job_id")
    assert (found["f"]["turn"], found["g"]["status"], found["waits"]["waits_for"]) == (
        9,
        "dead",
        None,
    )
    assert {one for one, row in found.items() if row["job_id"]} == {"f", "waits"}
    runs = await rows_of(pool, "verdict, epoch", "candidates")
    assert {one: row["verdict"] is None for one, row in runs.items()} == {
        "rf": True, "rg": False, "rc": False,
    }  # fmt: skip
    assert {one: row["epoch"] for one, row in runs.items()} == {"rf": 6, "rg": 6, "rc": 7}


JOB = 1_000  # behind the ids that new jobs get


def job(number: int, feedback_id: str, status: str = "todo", **more: object) -> Row:
    row: dict[str, object] = {
        "id": JOB + number, "queue_name": QUEUE, "task_name": "x", "status": status, "priority": 0,
        "args": {"feedback_id": feedback_id},
    }  # fmt: skip
    return "procrastinate_jobs", row | more


async def test_the_turn_being_served_is_the_latest_or_that_of_the_next_job(
    pool: Pool, jobs: Jobs
) -> None:
    async def turn() -> int:
        async with connection(pool) as conn:
            return await jobs.turn(conn)

    async def now(*rows: Row) -> int:
        async with connection(pool) as conn:
            await conn.execute("DELETE FROM feedback")
            await conn.execute("DELETE FROM procrastinate_jobs")
        await put_all(pool, *rows)
        return await turn()

    soon = {"scheduled_at": datetime.now(UTC) + DAY}
    due = {"scheduled_at": datetime.now(UTC) - DAY}
    assert await now() == 0
    assert await now(piece("f", turn=5), piece("g", turn=7), piece("q", "queued", turn=9)) == 7
    waiting = [job(1, "a", priority=-6), job(2, "b", priority=-4)]
    assert await now(*waiting) == 4
    assert await now(*waiting, job(3, "c", priority=-3, **due)) == 3
    assert await now(*waiting, job(3, "c", priority=-3, **soon)) == 4
    assert await now(*waiting, job(3, "c", "doing", priority=-3)) == 4
    assert await now(*waiting, job(3, "c", priority=-3, queue_name="other")) == 4
    assert await now(job(1, "a", priority=-6, **soon), job(2, "b", priority=-5, **soon)) == 5
    assert await now(job(1, "a", priority=-6, **soon), job(2, "b", "failed", priority=-5)) == 6
    later = job(1, "a", priority=-6, **soon)
    assert await now(later, job(2, "b", priority=-5, queue_name="other")) == 6
    assert await now(piece("f", turn=5), *waiting) == 5
    assert await now(piece("f", turn=3), *waiting) == 4


async def test_what_waits_of_some_tenants_is_not_counted(pool: Pool, jobs: Jobs) -> None:
    await put_all(
        pool, piece("1"), piece("2", "queued"), piece("3", "queued", tenant_id="u"),
        piece("4", tenant_id="u"), piece("5", "completed"), piece("6", "queued", tenant_id="v"),
    )  # fmt: skip
    assert await jobs.unfinished() == 5
    assert await jobs.unfinished(["u"]) == 4
    assert await jobs.unfinished(["u", "v"]) == 3


async def test_jobs_of_workers_that_are_gone_are_taken_over_and_no_others(
    pool: Pool, jobs: Jobs
) -> None:
    beat = {"alive": timedelta(seconds=20), "silent": timedelta(seconds=40)}
    now = datetime.now(UTC)
    await put_all(
        pool,
        *(("procrastinate_workers", {"id": n, "last_heartbeat": now - beat[name]})
          for n, name in ((1, "alive"), (2, "silent"))),
        job(1, "of-alive", "doing", worker_id=1), job(2, "of-silent", "doing", worker_id=2),
        job(3, "of-nobody", "doing"), job(4, "waits"),
        job(5, "elsewhere", "doing", queue_name="other"), job(6, "moved", "doing"),
        job(7, "ended", "doing"), job(8, "queued", "doing"),
        piece("of-alive", job_id=JOB + 1), piece("of-silent", job_id=JOB + 2, turn=7),
        piece("of-nobody", job_id=JOB + 3), piece("waits", "queued", job_id=JOB + 4),
        piece("elsewhere", job_id=JOB + 5), piece("moved", job_id=JOB + 99),
        piece("ended", "completed", job_id=JOB + 7),
        piece("queued", "queued", job_id=JOB + 8, retry_at=AT),
    )  # fmt: skip
    assert await take_over(jobs, stalled_after=30) == 3
    found = await rows_of(pool, "status, retry_at, job_id")
    assert {one for one, row in found.items() if row["status"] == "queued"} == {
        "of-silent", "of-nobody", "waits", "queued",
    }  # fmt: skip
    assert found["queued"]["retry_at"] is None
    left = await rows_of(
        pool, "status, priority, args ->> 'feedback_id' AS of", "procrastinate_jobs"
    )
    assert {row["of"]: row["status"] for row in left.values()} == {
        "of-alive": "doing", "of-silent": "todo", "of-nobody": "todo", "waits": "todo",
        "elsewhere": "doing", "queued": "todo",
    }  # fmt: skip
    assert {row["priority"] for row in left.values() if row["of"] == "of-silent"} == {-7}
    assert {*await rows_of(pool, "id", "procrastinate_workers")} == {1}


async def test_unfinished_feedback_without_a_live_job_gets_one(pool: Pool, jobs: Jobs) -> None:
    await put_all(
        pool, job(1, "has"), job(2, "runs", "doing"), job(3, "failed", "failed"),
        piece("has", "queued", job_id=JOB + 1), piece("runs", job_id=JOB + 2),
        piece("failed", job_id=JOB + 3),
        piece("none", retry_at=AT), piece("gone", "queued", job_id=JOB + 99),
        piece("ended", "completed"),
        piece("waits", "queued", waits_for="runs"), piece("waits-2", "queued", waits_for="has"),
        piece("over", "queued", waits_for="ended"), piece("later", "queued", waits_for="again"),
        piece("again", "queued", retry_at=AT, job_id=JOB + 1),
        piece("lost", "queued", waits_for="x"),
    )  # fmt: skip
    assert await reconcile(jobs) == 6
    found = await rows_of(pool, "status, retry_at, job_id")
    new = {one for one, row in found.items() if row["job_id"] not in {None, JOB + 1, JOB + 2}}
    assert new == {"failed", "none", "gone", "over", "later", "lost"}
    assert (found["none"]["status"], found["none"]["retry_at"]) == ("queued", None)
    assert {one for one, row in found.items() if row["status"] == "processing"} == {"runs"}
    assert await reconcile(jobs) == 0
    assert await reconcile(jobs, every=60.0) == 0


async def test_what_has_a_job_keeps_nothing_else_from_getting_one(pool: Pool, jobs: Jobs) -> None:
    await put_all(
        pool, piece("lost", created_at=AT + DAY), job(1, "first"), piece("first", job_id=JOB + 1)
    )
    async with connection(pool) as conn:
        await conn.execute(b"""
            INSERT INTO feedback SELECT c.* FROM feedback x, generate_series(1, 1000) AS n,
            jsonb_populate_record(x, jsonb_build_object('id', 'f' || n, 'source_id', 's' || n)) c
            WHERE x.id = 'first'""")
    assert await reconcile(jobs) == 1
    found = await rows_of(pool, "job_id")
    assert found["lost"]["job_id"] is not None


async def test_a_job_that_was_left_is_ended_while_it_is_doing(pool: Pool, jobs: Jobs) -> None:
    await put_all(pool, job(1, "a", "doing"), job(2, "b"), job(3, "c", "doing"))
    await jobs.app.open_async(jobs.pool)
    assert await end_left(jobs, [JOB + 1, JOB + 2, JOB + 9]) == set()
    left = await rows_of(pool, "status", "procrastinate_jobs")
    assert {one: row["status"] for one, row in left.items()} == {JOB + 2: "todo", JOB + 3: "doing"}
    assert await end_left(jobs, []) == set()


async def test_a_source_is_told_the_ends_of_its_own_pieces(pool: Pool) -> None:
    def of_mail(name: str, status: str = "completed", **more: object) -> Row:
        return piece(name, status, **{"source": "mail", "finished_at": AT, **more})

    await put_all(
        pool, of_mail("a", finished_at=AT + DAY), of_mail("b", "failed"), of_mail("q", "queued"),
        of_mail("p", "processing"), of_mail("told", acknowledged=True),
        piece("c", "completed", source="chat", finished_at=AT), of_mail("later", generation=2),
    )  # fmt: skip
    deliveries = PostgresDeliveries(pool)
    waiting = [one.id for one in await deliveries.unacknowledged("mail", 9)]
    assert sorted(waiting) == ["a", "b", "later"]
    assert len(await deliveries.unacknowledged("mail", 1)) == 1
    assert await deliveries.known("mail", ["a", "q", "c", "none"]) == {
        "a": "completed",
        "q": "queued",
    }
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("x"))
    for name, wrong in (
        ("a", {}),
        ("b", {"status": FeedbackStatus.COMPLETED}),
        ("later", {"generation": 1}),
    ):
        ended = (await inbox.get(name)).model_copy(update=wrong)
        await deliveries.acknowledged(ended)
    overtaken = (await inbox.get("b")).model_copy(update={"epoch": 3})
    await deliveries.acknowledged(overtaken)
    assert sorted(one.id for one in await deliveries.unacknowledged("mail", 9)) == ["b", "later"]


def asked(**given: object) -> Change:
    made = item_change(Kind.MEMORY, "m", "m", "x")
    update = {"tenant_id": "t", "agent_id": "a", "base_hash": "base", "feedback_id": "new",
              "candidate_id": None, **given}  # fmt: skip
    return made.model_copy(update=update)


async def test_only_what_waits_with_the_same_outcome_is_joined(pool: Pool) -> None:
    waiters = PostgresDuplicateWaiters(pool)
    after = asked().after
    assert after is not None
    same: dict[str, object] = {
        "status": "held", "held": ["why"], "base_hash": "base", "feedback_id": "old",
        "after": after.model_dump(mode="json"), "created_at": AT,
    }  # fmt: skip

    def held(name: str, **more: object) -> Row:
        return change(name, **same | {"target_id": name} | more)

    await put_all(
        pool, held("d"), held("c"), held("b", created_at=AT + DAY),
        held("foreign", created_at=AT - DAY, tenant_id="u"),
        held("table", created_at=AT - DAY, kind="DMN_RULE"),
        held("of-b", created_at=AT - DAY, agent_id="b"),
        held("update", created_at=AT - DAY, operation="UPDATE"),
        held("moved", created_at=AT - DAY, base_hash="other"),
        held("text", created_at=AT - DAY, after={"content": "other", "name": "m"}),
        held("stale", created_at=AT - DAY, status="stale"),
        held("never", created_at=AT - DAY, held=[]),
        held("revert", created_at=AT - DAY, reverts="x"),
        held("retract", created_at=AT - DAY, retracts=["x"]),
        held("gone", operation="DELETE", after=None), held("gone-2", operation="DELETE", after=None,
                                                           created_at=AT - DAY),
    )  # fmt: skip
    joined = await waiters.join(asked())
    assert joined is not None
    assert joined.id == "c"
    updated = await waiters.join(asked(operation="UPDATE", target_id="update"))
    assert updated is not None
    assert updated.id == "update"
    assert await waiters.join(asked(operation="UPDATE", target_id="c")) is None
    deleted = await waiters.join(asked(operation="DELETE", target_id="gone", after=None))
    assert deleted is not None
    assert deleted.id == "gone"
    assert await waiters.join(asked(base_hash="none")) is None
    own = await waiters.join(asked(feedback_id="old"))
    assert own is not None
    assert own.id == "c"
    told = await waiters.of_feedback("new")
    assert [(one.target_id, one.change_id) for one in told] == [
        ("c", "c"), ("update", "update"), ("gone", "gone"),
    ]  # fmt: skip
    assert [one.feedback_id for one in await waiters.at(Kind.MEMORY, "t", "c")] == ["new"]
    for kind, tenant, target in ((Kind.DMN_RULE, "t", "c"), (Kind.MEMORY, "u", "c"),
                                 (Kind.MEMORY, "t", "d")):  # fmt: skip
        assert await waiters.at(kind, tenant, target) == []
    assert await waiters.of_feedback("old") == []
    await put_all(pool, ("echoes", {"feedback_id": "kept", "tenant_id": "t", "kind": "MEMORY"}))
    await waiters.forget("new")
    assert await waiters.of_feedback("new") == []
    assert len(await waiters.of_feedback("kept")) == 1

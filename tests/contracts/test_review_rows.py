"""What waits for a person, what decides it and what is known beside it: of its own rows alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.inbox import end_held_feedback
from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.reviews import (
    PostgresReviewQueue,
    PostgresReviews,
    PostgresScreenRecords,
)
from core.domain.errors import Decided
from core.domain.hashing import state_hash
from core.domain.models import Change, ChangeStatus, Finding, Kind, Reach, RunEvent, Scope, Snapshot
from tests.support.change_rows import change
from tests.support.react import item_change
from tests.support.seeding import AT, DAY, Row, put_all

HAPPENED = RunEvent(name="change.held")
HELD: dict[str, object] = {"status": "held", "held": ["why"], "content_hash": "seen"}


def held(change_id: str, **more: object) -> Row:
    return change(change_id, **{"target_id": change_id, **HELD, **more})


def shown(change_id: str, **more: object) -> Change:
    """Return a change as a person has seen it who now decides."""
    given = {"id": change_id, "tenant_id": "t", "content_hash": "seen", **more}
    made = item_change(Kind.MEMORY, change_id, change_id, "x")
    return made.model_copy(update={"feedback_id": None, "candidate_id": None, **given})


def piece(feedback_id: str, author: str | None = "kim", **more: object) -> Row:
    row = {"id": feedback_id, "source_id": feedback_id, "tenant_id": "t", "author": author}
    return "feedback", row | {"status": "completed", "agent_ids": ["a"]} | more


async def statuses(pool: Pool, table: str = "changes") -> dict[str, str]:
    async with connection(pool) as conn:
        rows = await conn.execute(f"SELECT id, status FROM {table}".encode())
        return {row["id"]: row["status"] for row in await rows.fetchall()}


NOT_HELD = {"status": "stale"}
DECIDABLE = [
    ("held", {}),
    ("stale", NOT_HELD),
    ("applied", {"status": "applied"}),
    ("edited", {"content_hash": "other"}),
    ("never-held", NOT_HELD | {"held": []}),
]


async def test_what_was_seen_and_waits_is_approved_and_nothing_else(pool: Pool) -> None:
    reviews = PostgresReviews(pool)
    run = {"feedback_id": "f", "tenant_id": "t", "agent_id": "a"}
    await put_all(
        pool, piece("f"), ("candidates", run | {"id": "mine", "epoch": 7}),
        ("candidates", run | {"id": "other", "epoch": 9, "position": 2}),
        *(held(name, candidate_id="mine", **more) for name, more in DECIDABLE),
        held("beside"),
    )  # fmt: skip
    for name, _ in DECIDABLE:
        if name == "held":
            assert (await reviews.approve(shown(name), "lee", HAPPENED)).epoch == 7
        else:
            with pytest.raises(Decided):
                await reviews.approve(shown(name), "lee", HAPPENED)
    assert await statuses(pool) == {
        "held": "applying", "stale": "stale", "applied": "applied", "edited": "held",
        "never-held": "stale", "beside": "held",
    }  # fmt: skip


async def test_what_was_seen_and_waits_is_ended_and_nothing_else(pool: Pool) -> None:
    reviews = PostgresReviews(pool)
    await put_all(
        pool, *(held(name, error="why not", **more) for name, more in DECIDABLE), held("moved"),
        held("beside"),
    )  # fmt: skip
    for name, _ in DECIDABLE:
        if name in {"held", "stale"}:
            await reviews.end(shown(name), ChangeStatus.REJECTED, "lee", "no", HAPPENED)
        else:
            with pytest.raises(Decided):
                await reviews.end(shown(name), ChangeStatus.REJECTED, "lee", "no", HAPPENED)
    await reviews.end(shown("moved"), ChangeStatus.STALE, "", "it moved", HAPPENED)
    async with connection(pool) as conn:
        query = b"SELECT id, status, error, decision, decided_by, decided_at FROM changes"
        rows = {row.pop("id"): row for row in await (await conn.execute(query)).fetchall()}
    for name in ("held", "stale"):
        ended = rows[name]
        assert (ended["status"], ended["error"], ended["decision"]) == ("rejected", "why not", "no")
        assert (ended["decided_by"], ended["decided_at"] is None) == ("lee", False)
    moved = rows["moved"]
    assert (moved["status"], moved["error"], moved["decision"]) == ("stale", "it moved", "")
    assert (moved["decided_by"], moved["decided_at"]) == (None, None)
    left = {
        one: row["status"] for one, row in rows.items() if one not in {"held", "stale", "moved"}
    }
    assert left == {"applied": "applied", "edited": "held", "never-held": "stale", "beside": "held"}


async def test_what_waits_is_replaced_as_it_was_seen(pool: Pool) -> None:
    reviews = PostgresReviews(pool)
    decided = {"decision": "no", "decided_by": "kim", "decided_at": AT, "reminded_at": AT}
    await put_all(
        pool, *(held(name, error="why", **decided, **more) for name, more in DECIDABLE),
        held("beside"),
    )  # fmt: skip
    for name, _ in DECIDABLE:
        fresh = shown(name, content_hash="fresh", target_name="new", said_at=None, heard_at=None)
        if name in {"held", "stale"}:
            await reviews.replace(fresh, shown(name), {}, HAPPENED)
        else:
            with pytest.raises(Decided):
                await reviews.replace(fresh, shown(name), {}, HAPPENED)
    async with connection(pool) as conn:
        query = b"""SELECT id, decision, decided_by, decided_at, reminded_at, error, said_at,
                           heard_at FROM changes WHERE target_name = 'new' AND status = 'held'"""
        rows = {row.pop("id"): row for row in await (await conn.execute(query)).fetchall()}
    assert {*rows} == {"held", "stale"}
    for row in rows.values():
        assert (row["decision"], row["said_at"], row["heard_at"]) == ("", AT, AT)
        assert {row[name] for name in ("decided_by", "decided_at", "reminded_at", "error")} == {
            None
        }


async def test_beside_a_change_waits_what_is_for_the_same_agent(pool: Pool) -> None:
    skill, listed = {"kind": "SKILL"}, {"kind": "AGENT_SKILLS"}
    await put_all(
        pool,
        held("own"), held("late", said_at=AT + DAY), held("early", said_at=AT - DAY),
        held("heard-late", heard_at=AT + DAY), held("stale", **NOT_HELD),
        held("applied", status="applied"), held("failed", status="stale", held=[]),
        held("foreign", tenant_id="u"), held("of-b", agent_id="b"), held("rule", kind="DMN_RULE"),
        held("skill", **skill), held("skill-of-b", **skill, agent_id="b"),
        held("list", **listed), held("list-of-b", **listed, agent_id="b"),
        held("skill-of-u", **skill, tenant_id="u"), held("list-of-u", **listed, tenant_id="u"),
    )  # fmt: skip
    reviews = PostgresReviews(pool)

    async def beside(limit: int = 9, **given: object) -> list[str]:
        found = await reviews.beside(shown("own", agent_id="a").model_copy(update=given), limit)
        return [one.id for one in found]

    assert await beside() == ["early", "stale", "heard-late", "late"]
    assert await beside(2) == ["early", "stale"]
    assert await beside(id="other") == ["early", "own", "stale", "heard-late", "late"]
    assert await beside(kind=Kind.DMN_RULE) == ["rule"]
    assert await beside(kind=Kind.SKILL) == ["list", "list-of-b", "skill", "skill-of-b"]
    assert await beside(kind=Kind.SKILL, id="skill") == ["list", "list-of-b", "skill-of-b"]
    assert await beside(kind=Kind.AGENT_SKILLS) == ["list"]
    assert await beside(agent_id="b") == ["of-b"]


async def test_what_waits_for_long_is_told_the_oldest_first_and_again_later(pool: Pool) -> None:
    reviews = PostgresReviews(pool)
    now = datetime.now(UTC)
    old, older, new = (now - timedelta(minutes=minutes) for minutes in (61, 99, 59))
    await put_all(
        pool,
        held("old", prepared_at=old), held("older", prepared_at=older, **NOT_HELD),
        held("a-old", prepared_at=old), held("new", prepared_at=new),
        held("done", prepared_at=old, status="applied"),
        held("never", prepared_at=old, **NOT_HELD | {"held": []}),
        held("told", prepared_at=older, reminded_at=new),
        held("told-long-ago", prepared_at=older, reminded_at=old),
        held("told-done", prepared_at=older, reminded_at=old, status="rejected"),
    )  # fmt: skip
    overdue = [one.id for one in await reviews.overdue(3600)]
    assert overdue == ["older", "told", "told-long-ago", "a-old", "old"]
    reminded = {one.id: one.reminded_at for one in await reviews.remind(3600)}
    assert {*reminded} == {"older", "told-long-ago", "a-old", "old"}
    assert all(at is not None and at >= now for at in reminded.values())
    assert await reviews.remind(3600) == []


async def test_of_a_thousand_and_one_the_oldest_thousand_are_told(pool: Pool) -> None:
    reviews = PostgresReviews(pool)
    await put_all(pool, held("x", prepared_at=datetime.now(UTC) - DAY))
    async with connection(pool) as conn:
        await conn.execute(b"""
            INSERT INTO changes SELECT c.* FROM changes x, generate_series(1, 1000) AS n,
            jsonb_populate_record(x, jsonb_build_object(
                'id', 'c' || n, 'key', 'k' || n, 'target_id', 't' || n,
                'prepared_at', x.prepared_at + make_interval(secs => n))) c""")
    overdue = [one.id for one in await reviews.overdue(3600)]
    assert (len(overdue), overdue[0], "c1000" in overdue) == (1000, "x", False)
    reminded = {one.id for one in await reviews.remind(3600)}
    assert reminded == {*overdue}


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ([held("c", feedback_id="f", status="applied")], "completed"),
        ([held("c", feedback_id="f", status="rejected")], "no_action"),
        ([held("c", feedback_id="f")], "held"),
        ([held("c", feedback_id="f", status="stale")], "held"),
        ([held("c", feedback_id="f", status="applying")], "held"),
        ([held("c", feedback_id="f", status="rejected"),
          change("d", feedback_id="f", status="applying")], "no_action"),
        ([held("c", feedback_id="f", status="rejected"),
          change("d", feedback_id="f")], "completed"),
        ([held("c", feedback_id="f", status="rejected"),
          change("d", feedback_id="f", reverts="x")], "no_action"),
        ([held("c", feedback_id="f", status="rejected"),
          change("d", feedback_id="f", retracts=["x"])], "no_action"),
        ([held("c", feedback_id="f", status="rejected"), held("d", feedback_id="g")], "no_action"),
        ([held("c", feedback_id="f", status="rejected"),
          change("d", feedback_id="g")], "no_action"),
        ([change("c", feedback_id="f")], "held"),
        ([held("c", feedback_id="g", status="rejected")], "held"),
    ],
)  # fmt: skip
async def test_a_piece_ends_once_nothing_of_it_waits(
    pool: Pool, rows: list[Row], status: str
) -> None:
    waits = {"status": "held"}
    await put_all(pool, piece("f", **waits), piece("g", **waits), piece("h"), *rows)
    async with connection(pool) as conn:
        for feedback_id in ("f", "h"):
            await end_held_feedback(conn, feedback_id)
    assert await statuses(pool, "feedback") == {"f": status, "g": "held", "h": "completed"}


def echo(change_id: str | None, feedback_id: str = "f", **more: object) -> Row:
    row = {"feedback_id": feedback_id, "change_id": change_id, "tenant_id": "t", "kind": "MEMORY"}
    return "echoes", row | {"target_id": "m", "hash": "same"} | more


@pytest.mark.parametrize(
    ("rows", "status"),
    [
        ([held("c"), echo("c")], "held"),
        ([held("c", status="stale"), echo("c")], "held"),
        ([held("c", status="applying"), echo("c")], "held"),
        ([held("c", status="applied"), echo("c")], "completed"),
        ([held("c", status="rejected"), echo("c")], "no_action"),
        ([held("c", status="rejected"), echo("c"), held("d"), echo("d", "g")], "no_action"),
        ([held("c", status="applied"), echo("c", "g")], "held"),
        ([change("c", status="applying"), echo("c")], "no_action"),
        ([echo(None)], "held"),
    ],
)  # fmt: skip
async def test_a_piece_ends_with_the_change_of_another_that_it_waits_for(
    pool: Pool, rows: list[Row], status: str
) -> None:
    await put_all(pool, piece("f", status="held"), piece("g", status="held"), *rows)
    async with connection(pool) as conn:
        await end_held_feedback(conn, "f")
    assert (await statuses(pool, "feedback"))["f"] == status


@pytest.mark.parametrize(
    ("receipts", "of", "status"),
    [
        (["known"], "f", "completed"), (["rejected", "attached"], "f", "completed"),
        (["held"], "f", "no_action"), ([], "f", "no_action"), (["known"], "g", "no_action"),
    ],
)  # fmt: skip
async def test_what_was_known_already_completes_a_piece_that_waited(
    pool: Pool, receipts: list[str], of: str, status: str
) -> None:
    verdict = {"receipts": [{"status": one} for one in receipts]}
    run = {"id": "r", "feedback_id": of, "tenant_id": "t", "agent_id": "a", "verdict": verdict}
    await put_all(
        pool, piece("f", status="held"), piece("g", status="held"), ("candidates", run),
    )  # fmt: skip
    async with connection(pool) as conn:
        await end_held_feedback(conn, "f")
        assert (await statuses(pool, "feedback"))["f"] == "held"
        await end_held_feedback(conn, "f", waits_for_nothing=True)
    assert (await statuses(pool, "feedback"))["f"] == status


async def test_the_queue_is_of_what_waits_and_of_its_tenant(pool: Pool) -> None:
    queue = PostgresReviewQueue(pool)
    names = ("b", "a", "e", "d", "c", "f", "g", "h")
    rows = [held(name, created_at=AT + n * DAY) for n, name in enumerate(names)]
    await put_all(
        pool, *rows, held("a-twin", created_at=AT + DAY),
        held("stale", **NOT_HELD, created_at=AT - DAY), held("never", **NOT_HELD | {"held": []}),
        held("done", status="applied", created_at=AT + DAY),
        held("u1", tenant_id="u", created_at=AT - DAY), held("u2", tenant_id="u"),
    )  # fmt: skip
    whole = ["stale", "u1", "b", "u2", "a", "a-twin", "e", "d", "c", "f", "g", "h"]
    of_t = [one for one in whole if not one.startswith("u")]
    for tenant, line in ((None, whole), ("t", of_t)):
        assert list(await queue.oldest(tenant_id=tenant, but=())) == line[:5]
        assert list(await queue.oldest(tenant_id=tenant, but=line[:2])) == line[2:7]
        for place, name in enumerate(line):
            found = (await queue.open(name, tenant_id=tenant, but=("b", "e"))).queue_position
            assert (found.waiting, found.position) == (len(line), place + 1)
            assert found.previous == (line[place - 1] if place else None)
            turned = [*line[place + 1 :], *line[:place]]
            assert [*found.following] == [one for one in turned if one not in {"b", "e"}][:5]
    done = (await queue.open("done", tenant_id="t", but=())).queue_position
    assert (done.waiting, done.position, done.previous) == (len(of_t), None, "a-twin")
    foreign = (await queue.open("a", tenant_id="u", but=())).queue_position
    assert (foreign.waiting, foreign.position) == (2, None)


async def test_a_change_is_opened_with_what_is_known_of_it(pool: Pool) -> None:
    queue = PostgresReviewQueue(pool)
    run = {"feedback_id": "f", "tenant_id": "t", "agent_id": "a"}
    gone = {"status": "reverted", "target_id": "m", "feedback_id": "f", "candidate_id": "r"}
    later = {"target_id": "m", "created_at": AT + DAY}
    await put_all(
        pool, piece("f", content="words"), piece("g", content="others"),
        ("candidates", run | {"id": "r", "agent_name": "Ann", "content": "hers"}),
        ("candidates", run | {"id": "s", "agent_name": "Ben", "position": 2}),
        change("c", **gone), change("d", **gone | {"feedback_id": None, "candidate_id": None}),
        change("by", **later, reverts="c"), change("by-now", **later | {"created_at": AT + 2 * DAY},
                                                   retracts=["x", "c"]),
        change("by-another", **later | {"created_at": AT + 3 * DAY}, reverts="d"),
        change("failed", **later | {"created_at": AT + 4 * DAY}, reverts="c", status="failed"),
        change("elsewhere", **later | {"created_at": AT + 4 * DAY, "target_id": "n"}, reverts="c"),
        change("foreign", **later | {"created_at": AT + 4 * DAY}, reverts="c", tenant_id="u"),
        change("table", **later | {"created_at": AT + 4 * DAY}, reverts="c", kind="DMN_RULE"),
        change("alive", target_id="m"), change("odd", **later, reverts="alive"),
    )  # fmt: skip

    async def opened(name: str) -> tuple[object, ...]:
        found = await queue.open(name, tenant_id=None, but=())
        cause, matched = found.cause, found.matched
        return cause and cause.content, matched and matched.agent_name, found.undone_by

    assert await opened("c") == ("words", "Ann", "by-now")
    assert await opened("d") == (None, None, "by-another")
    assert await opened("alive") == (None, None, None)


async def test_what_is_known_of_an_author_is_what_was_applied_of_theirs(pool: Pool) -> None:
    records = PostgresScreenRecords(pool)
    await put_all(
        pool,
        *(piece(f"{who}-{n}", who) for who in ("kim", "lee", "jo", "yu", "an") for n in (1, 2)),
        piece("kim-u", "kim", tenant_id="u"), piece("none", None, source="mail"),
        piece("none-2", None),
        change("lee", feedback_id="lee-2"),
        change("jo", feedback_id="jo-2", decided_by="x"),
        change("yu", feedback_id="yu-2", status="rejected", decided_by="x"),
        change("an", feedback_id="an-1"),
        change("kim-u", feedback_id="kim-u", tenant_id="u", decided_by="x"),
        change("none", feedback_id="none-2", decided_by="x"),
    )  # fmt: skip
    for who, known, accepted in (
        ("kim-1", False, False), ("lee-1", True, False), ("jo-1", True, True),
        ("yu-1", False, False), ("an-1", False, False), ("none", False, False),
    ):  # fmt: skip
        facts = await records.facts(shown("m", feedback_id=who))
        assert (facts.is_known, facts.is_accepted) == (known, accepted), who
    assert (facts.author, facts.source) == (None, "mail")
    facts = await records.facts(shown("m"))
    assert (facts.author, facts.source, facts.is_known, facts.spread) == (None, None, False, 1)


@pytest.mark.parametrize(
    ("source", "told"),
    [("inbox/t", "inbox"), ("inbox", "inbox"), ("api/t", "api/t"), ("inbox/u", "inbox/u")],
)
async def test_what_came_by_command_is_of_one_source_whoever_it_is_for(
    pool: Pool, source: str, told: str
) -> None:
    await put_all(pool, piece("one", "kim", source=source))
    facts = await PostgresScreenRecords(pool).facts(shown("m", feedback_id="one"))
    assert facts.source == told


async def test_others_who_said_the_same_are_counted_once_each(pool: Pool) -> None:
    records = PostgresScreenRecords(pool)
    made = shown("m", feedback_id="f")
    same = {"hash": state_hash(made.after)}
    people = ("kim", "lee", "lee", "jo", "x1", "x2", "x3", "x4")
    await put_all(
        pool, piece("f", "kim"), *(piece(f"g{n}", who) for n, who in enumerate(people)),
        *(echo(None, f"g{n}", **same) for n in range(4)),
        echo(None, "g4", **same, tenant_id="u"), echo(None, "g5", **same, kind="DMN_RULE"),
        echo(None, "g6", **same, target_id="n"), echo(None, "g7", hash="other"),
    )  # fmt: skip
    assert (await records.facts(made)).others == 2
    assert (await records.facts(made.model_copy(update={"feedback_id": None}))).others == 3


async def test_a_change_spreads_to_those_who_would_have_it(pool: Pool) -> None:
    records = PostgresScreenRecords(pool)
    whose = [("t", n) for n in range(5)] + [("u", n) for n in range(9)]
    await put_all(
        pool, piece("two", agent_ids=["a", "b"]), piece("many", agent_ids=[*"abcdefgh"]),
        *(("agents_of_tenants", {"id": f"{n}", "tenant_id": t, "sole_id": f"{t}{n}", "name": "A"})
          for t, n in whose),
        *(("agent_skills", {"tenant_id": t, "agent_id": f"{n}", "name": name})
          for t, n in whose for name in ("pay", "ship") if (t, name) != ("t", "pay") or n < 3),
    )  # fmt: skip
    shared = Snapshot(content="x", name="x", reach=Reach(scope=Scope.TENANT))
    skill = {"kind": Kind.SKILL, "target_id": "pay"}
    for given, spread in (
        ({}, 1), ({"feedback_id": "two"}, 2), ({"after": shared}, 5), (skill, 3),
        ({"after": None}, 1), ({"after": shared, "feedback_id": "many"}, 8),
        (skill | {"feedback_id": "two"}, 3), (skill | {"target_id": "none"}, 1),
    ):  # fmt: skip
        assert (await records.facts(shown("pay", **given))).spread == spread, given


def finding(digest: str, code: str = "payee") -> Finding:
    return Finding.model_validate(
        {"code": code, "severity": "hold", "text": "x", "start": 0, "end": 1, "digest": digest}
    )


async def test_what_a_person_allowed_is_allowed_in_their_tenant(pool: Pool) -> None:
    records = PostgresScreenRecords(pool)
    found = [finding("one"), finding("two", "secret")]
    await records.allow(shown("m"), found, by="kim", reason="it is ours", event=HAPPENED)
    again = [finding("one")]
    await records.allow(shown("n"), again, by="lee", reason="again", event=HAPPENED)
    foreign = shown("m", tenant_id="u")
    await records.allow(foreign, [finding("three")], by="jo", reason="u's", event=HAPPENED)
    digests = ["two", "one", "three"]
    allowed = await records.allowed("t", digests)
    assert [(one.digest, one.code, one.allowed_by, one.reason) for one in allowed] == [
        ("one", "payee", "kim", "it is ours"), ("two", "secret", "kim", "it is ours"),
    ]  # fmt: skip
    assert {one.change_id for one in allowed} == {"m"}
    assert [one.digest for one in await records.allowed("t", ["one"])] == ["one"]
    made = shown("m", findings=tuple(map(finding, digests)))
    assert (await records.facts(made)).allowed == {"one", "two"}
    assert (await records.facts(made.model_copy(update={"tenant_id": "u"}))).allowed == {"three"}


async def test_what_waits_for_a_finding_is_counted(pool: Pool) -> None:
    found = [{"severity": "note"}, {"severity": "hold"}]
    await put_all(
        pool,
        held("one", findings=found), held("two", findings=found, **NOT_HELD),
        held("noted", findings=found[:1]), held("clear"),
        held("done", findings=found, status="applied"),
        held("never", findings=found, status="stale", held=[]),
    )  # fmt: skip
    assert await PostgresScreenRecords(pool).waiting() == 2

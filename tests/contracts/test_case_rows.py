"""Cases are found, counted and noted by their own item, agent, kind and tenant, and no other."""

from __future__ import annotations

from itertools import product

import pytest

from core.adapters.postgres.case_figures import PostgresCaseFigures
from core.adapters.postgres.case_upkeep import PostgresCaseUpkeep
from core.adapters.postgres.cases import PostgresCases, seen_on
from core.adapters.postgres.queries import Pool, connection
from core.changes.cases.proposed import asked_words
from core.domain.models import Change, Kind, Reach, RunEvent, Scope, Snapshot
from core.domain.models.cases import CaseBody, CaseFilter, CaseResult, CaseStatus
from tests.support.react import item_change
from tests.support.seeding import AT, DAY, Row, put_all

WHOSE = [*product("tu", "ab", ("MEMORY", "DMN_RULE"), "mn")]


def case(case_id: str, tenant: str = "t", agent: str = "a", kind: str = "MEMORY", item: str = "m",
         check: str = "recall", **more: object) -> Row:  # fmt: skip
    row: dict[str, object] = {
        "id": case_id, "tenant_id": tenant, "agent_id": agent, "kind": kind, "item_id": item,
        "body": {"check": check, "text": "who?"}, "role": "proof", "origin": "model",
        "status": "green", "created_at": AT, "since": AT,
    }  # fmt: skip
    return "cases", row | more


def document(tenant: str, kind: str, item: str, agent: str | None = "a", **more: object) -> Row:
    row = {"tenant_id": tenant, "kind": kind, "item_id": item, "agent_id": agent}
    return "search_documents", row | {"name": f"name of {item}"} | more


def change(change_id: str, **more: object) -> Row:
    row: dict[str, object] = {
        "id": change_id, "key": change_id, "tenant_id": "t", "agent_id": "a", "kind": "MEMORY",
        "target_id": "m", "operation": "CREATE", "status": "applied", "created_at": AT,
        "origin": "AGENT", "said_at": AT, "heard_at": AT,
    }  # fmt: skip
    return "changes", row | more


DOCUMENTS = [document(t, k, i) for t, k, i in product("tu", ("MEMORY", "DMN_RULE"), "mn")]


async def ids(pool: Pool, **wanted: object) -> list[str]:
    found, _ = await PostgresCases(pool).page(
        CaseFilter.model_validate(wanted), limit=50, cursor=None
    )
    return [one.id for one in found]


async def test_a_list_has_the_live_cases_that_are_asked_for_newest_first(pool: Pool) -> None:
    rows = [case(f"k{n:02}", *one, created_at=AT + n * DAY) for n, one in enumerate(WHOSE)]
    await put_all(
        pool, *DOCUMENTS, *rows, change("done"), change("taken", status="reverted"),
        case("gone", item="nothing"), case("taken", change_id="taken"),
        case("retired", retired_by="done"), case("back", retired_by="taken"),
        case("red", status="red", check="unsaid", change_id="done"),
    )  # fmt: skip
    newest = [f"k{n:02}" for n in reversed(range(len(WHOSE)))]
    assert await ids(pool) == [*newest[:-1], "red", "k00", "back"]
    at = {one: f"k{n:02}" for n, one in enumerate(WHOSE)}
    for field, place in (("tenant_id", 0), ("agent_id", 1), ("kind", 2), ("item_id", 3)):
        for value in {one[place] for one in WHOSE}:
            expected = {name for one, name in at.items() if one[place] == value}
            more = {"red", "back"} if value in {"t", "a", "MEMORY", "m"} else set()
            assert {*await ids(pool, **{field: value})} == expected | more
    assert await ids(pool, status="red") == ["red"]
    assert await ids(pool, check="unsaid") == ["red"]
    assert await ids(pool, change_id="done") == ["red"]
    cases = PostgresCases(pool)
    first, cursor = await cases.page(CaseFilter(), limit=17, cursor=None)
    rest, end = await cases.page(CaseFilter(), limit=17, cursor=cursor)
    assert [one.id for one in (*first, *rest)] == await ids(pool)
    assert end is None
    assert first[0].item_name == "name of n"


async def test_counts_are_of_each_item_by_status(pool: Pool) -> None:
    statuses = ("green", "red", "unproved", "disabled")
    rows: list[Row] = []
    for n, (tenant, kind, item) in enumerate(product("tu", ("MEMORY", "DMN_RULE"), "mn")):
        for m, status in enumerate(statuses):
            rows += [
                case(f"{n}-{m}-{k}", tenant, "a", kind, item, status=status)
                for k in range(n + m + 1)
            ]
    await put_all(pool, *DOCUMENTS, *rows)
    wanted = [("t", Kind.DMN_RULE, "m"), ("u", Kind.MEMORY, "n"), ("t", Kind.MEMORY, "none")]
    counts = await PostgresCases(pool).counts([*wanted, *wanted])
    assert {
        key: (one.green, one.red, one.unproved, one.disabled) for key, one in counts.items()
    } == {wanted[0]: (3, 4, 5, 6), wanted[1]: (6, 7, 8, 9)}
    totals = await PostgresCaseFigures(pool).totals(
        CaseFilter(tenant_id="u", kind=Kind.MEMORY, status=CaseStatus.RED)
    )
    assert (totals.green, totals.red, totals.unproved, totals.disabled) == (11, 13, 15, 17)


@pytest.mark.parametrize(
    ("wanted", "green"),
    [
        ({}, 6), ({"tenant_id": "t"}, 5), ({"agent_id": "b"}, 1), ({"kind": "DMN_RULE"}, 1),
        ({"item_id": "n"}, 1), ({"change_id": "c"}, 1), ({"check": "unsaid"}, 1),
        ({"check": "behaviour"}, 0),
    ],
)  # fmt: skip
async def test_totals_are_of_what_is_asked_for(
    pool: Pool, wanted: dict[str, object], green: int
) -> None:
    await put_all(
        pool, *DOCUMENTS, change("c"), case("1", "u"), case("2", agent="b"),
        case("3", kind="DMN_RULE"), case("4", item="n"), case("5", change_id="c"),
        case("6", check="unsaid"),
    )  # fmt: skip
    asked = CaseFilter.model_validate(wanted)
    assert (await PostgresCaseFigures(pool).totals(asked)).green == green


def broken(came_to: str, change_id: str | None = None, **more: object) -> Row:
    data = {"came_to": came_to, "kind": more.pop("kind", "MEMORY")}
    row = {"name": "case.broken", "at": AT, "tenant_id": "t", "change_id": change_id}
    return "run_events", row | {"data": data, "candidate_id": "of-a"} | more


async def test_weeks_count_what_came_through_and_what_cases_stopped(pool: Pool) -> None:
    week = 7 * DAY
    await put_all(
        pool, *DOCUMENTS,
        ("feedback", {"id": "f", "tenant_id": "t"}),
        ("candidates", {"id": "of-a", "feedback_id": "f", "agent_id": "a", "tenant_id": "t"}),
        ("candidates", {"id": "of-b", "feedback_id": "f", "agent_id": "b", "tenant_id": "t",
                        "position": 2}),
        change("c1"), change("c2", status="reverted", created_at=AT + 6 * DAY),
        change("c3", created_at=AT - week), change("c4", created_at=AT - 2 * week),
        change("n1", status="held"), change("n2", kind="AGENT_SKILLS"),
        change("u1", tenant_id="u"), change("b1", agent_id="b"), change("r1", kind="DMN_RULE"),
        case("p1", change_id="c1"), case("p2", change_id="c1"),
        case("p3", change_id="c2", role="regression"), case("p4", change_id="c3"),
        broken("refused"), broken("refused", at=AT - week), broken("refused", tenant_id="u"),
        broken("refused", candidate_id="of-b"), broken("refused", kind="DMN_RULE"),
        broken("refused", at=AT - 2 * week), broken("refused", name="case.failed"),
        broken("held", "c1"), broken("held", "c1"), broken("held", "c2"), broken("came", "c3"),
        case("red", status="red"), case("old", status="red", since=AT - week),
        case("older", status="red", since=AT - 2 * week), case("ur", "u", status="red"),
        case("br", agent="b", status="red"), case("rr", kind="DMN_RULE", status="red"),
    )  # fmt: skip
    figures = PostgresCaseFigures(pool)
    whose = {"tenant_id": "t", "agent_id": "a", "kind": Kind.MEMORY}
    found = await figures.weeks(CaseFilter.model_validate(whose), until=AT + 6 * DAY, weeks=2)
    assert [
        (one.week, one.applied, one.proved, one.refused, one.held, one.red) for one in found
    ] == [((AT - week).date(), 1, 1, 1, 0, 1), (AT.date(), 2, 1, 1, 2, 1)]
    for leaves_out, expected in (
        ("tenant_id", (3, 2, 2)), ("agent_id", (3, 2, 2)), ("kind", (3, 2, 2)),
    ):  # fmt: skip
        given = {**whose, leaves_out: None}
        (one,) = await figures.weeks(CaseFilter.model_validate(given), until=AT, weeks=1)
        assert (one.applied, one.refused, one.red) == expected, leaves_out
    next_week = await figures.weeks(CaseFilter(), until=AT + week, weeks=1)
    assert [(one.week, one.applied) for one in next_week] == [((AT + week).date(), 0)]


TEXT = "Ms. Kim gets the weekly report on Fridays"


def learns(text: str = TEXT, item: str = "new", **more: object) -> Change:
    return item_change(Kind.MEMORY, item, item, text).model_copy(
        update={"tenant_id": "t", "agent_id": "a", **more}
    )


async def reached(pool: Pool, made: Change, limit: int = 50) -> list[str]:
    return [one.id for one in (await PostgresCases(pool).reach(made, limit)).cases]


async def stored(pool: Pool, *rows: Row) -> None:
    """Put rows there, and the words that cases ask with."""
    await put_all(pool, *rows)
    cases = PostgresCases(pool)
    async with connection(pool) as conn:
        for known in [await cases.get(str(row["id"])) for table, row in rows if table == "cases"]:
            for word in asked_words(known.body):
                row = [known.tenant_id, word, known.id, known.tenant_id]
                await conn.execute(b"INSERT INTO case_words SELECT search_key(%s, %s), %s, %s", row)


def asks(case_id: str, text: str, *of: str, **more: object) -> Row:
    body = {"check": more.pop("check", "recall"), "text": text}
    words = len(asked_words(CaseBody.model_validate(body)))
    return case(case_id, *of, **{"words": words, "body": body, **more})  # type: ignore[arg-type]


async def test_a_change_reaches_cases_of_its_item_and_of_its_words(
    pool: Pool,
) -> None:
    await stored(
        pool, *DOCUMENTS, document("t", "MEMORY", "new"), document("u", "MEMORY", "new"),
        document("t", "DMN_RULE", "new"),
        case("own", item="new"), case("own-off", item="new", status="disabled"),
        case("own-of-b", "t", "b", "MEMORY", "new", created_at=AT - DAY),
        case("foreign", "u", "a", "MEMORY", "new"), case("table", "t", "a", "DMN_RULE", "new"),
        asks("all", "weekly report"), asks("half", "weekly lunch"),
        asks("third", "weekly lunch menu"), asks("of-b", "weekly report", "t", "b"),
        asks("foreign-words", "weekly report", "u"),
        asks("off", "weekly report", status="disabled"),
        asks("derived", "weekly report", origin="derived"),
        asks("derived-more", "weekly report menu", origin="derived"),
        asks("derived-unsaid", "weekly report list", origin="derived", check="unsaid"),
        asks("unsaid", "weekly report", check="unsaid", created_at=AT + DAY),
        asks("task", "weekly report lunch menu coffee kitchen", check="behaviour"),
        asks("long-task", "weekly lunch menu coffee kitchen", check="behaviour"),
        asks("relies", "nothing at all"),
    )  # fmt: skip
    async with connection(pool) as conn:  # a word of another tenant may have the same key
        one_key = b"INSERT INTO case_words SELECT search_key('t', %s), 'foreign-words', 'u'"
        for word in asked_words(
            CaseBody.model_validate({"check": "recall", "text": "weekly report"})
        ):
            await conn.execute(one_key, [word])
    found = await reached(pool, learns())
    assert found[:2] == ["own", "own-of-b"]
    assert found[2] == "unsaid"
    assert {*found[3:]} == {"all", "half", "derived-more", "task"}
    assert found[-1] == "half"
    assert await reached(pool, learns(), limit=2) == ["own", "own-of-b"]
    assert await reached(pool, learns(), limit=0) == []


async def test_a_change_for_all_reaches_every_agent_of_its_tenant(pool: Pool) -> None:
    shared = Snapshot(content=TEXT, name="n", reach=Reach(scope=Scope.TENANT))
    await stored(
        pool, *DOCUMENTS, asks("a", "weekly report"), asks("b", "weekly report", "t", "b"),
        asks("u", "weekly report", "u"),
    )  # fmt: skip
    assert await reached(pool, learns(after=shared)) == ["a", "b"]
    assert await reached(pool, learns()) == ["a"]


async def test_what_is_deleted_breaks_no_case_of_its_own(pool: Pool) -> None:
    gone = Snapshot(content=TEXT, name="new")
    deletion = learns(before=gone, after=None)
    relies = {"body": {"check": "stands", "text": "x", "of": "new"}}
    await put_all(
        pool, *DOCUMENTS, document("t", "MEMORY", "new"), case("own", item="new"),
        case("relies", item="m", **relies), case("foreign", "u", "a", "MEMORY", "m", **relies),
        case("another-kind", "t", "a", "DMN_RULE", "m", **relies),
        case("of-another", item="m", body={"check": "stands", "text": "x", "of": "other"}),
    )  # fmt: skip
    assert await reached(pool, deletion) == ["relies"]


async def test_what_is_seen_is_the_newest_document_of_each_kind(pool: Pool) -> None:
    rows = [
        document("t", "MEMORY", "1", revision=1), document("t", "MEMORY", "2", revision=5),
        document("t", "MEMORY", "new", revision=9), document("t", "DMN_RULE", "3", revision=4),
        document("t", "MEMORY", "4", "b", revision=8), document("u", "MEMORY", "5", revision=7),
        document("t", "SKILL", "6", None, revision=6),
        document("t", "MEMORY", "7", None, revision=3),
        document("u", "SKILL", "8", None, revision=10),
        document("t", "SKILL", "new", None, revision=11),
    ]  # fmt: skip
    await put_all(pool, *rows)
    async with connection(pool) as conn:
        assert await seen_on(conn, learns()) == (5, 4, 0, 3, 0, 6)
        assert await seen_on(conn, learns(item="none")) == (9, 4, 0, 3, 0, 11)


async def test_how_cases_end_is_noted_of_each_alone(pool: Pool) -> None:
    cases = PostgresCases(pool)
    await put_all(
        pool, *DOCUMENTS, case("same"), case("turns"), case("off", status="disabled"),
        case("other"), case("unrun", unrun_why="no model", unrun_since=AT),
    )  # fmt: skip

    async def note(case_id: str, passed: bool | None, why: str = "") -> None:
        ended = CaseResult(case=await cases.get(case_id), passed=passed, why=why)
        await cases.note([ended], by_change="c1")

    await note("same", passed=True)
    await note("turns", passed=False, why="it is not found")
    await note("off", passed=False, why="x")
    await note("unrun", passed=True)
    found = {one: await cases.get(one) for one in ("same", "turns", "off", "other", "unrun")}
    assert [one.status for one in found.values()] == ["green", "red", "disabled", "green", "green"]
    assert [one.since == AT for one in found.values()] == [True, False, True, True, True]
    assert [one.by_change for one in found.values()] == [None, "c1", None, None, None]
    assert found["turns"].note == "it is not found"
    assert (found["unrun"].unrun_why, found["unrun"].unrun_since) == ("", None)
    await note("other", passed=None, why="no model")
    first = await cases.get("other")
    assert (first.status, first.unrun_why) == ("green", "no model")
    assert first.unrun_since is not None
    await note("other", passed=None, why="no pod")
    again = await cases.get("other")
    assert (again.unrun_why, again.unrun_since) == ("no pod", first.unrun_since)
    await note("off", passed=None, why="no model")
    assert (await cases.get("off")).unrun_why == ""
    assert (await cases.get("same")).unrun_why == ""


async def test_one_case_is_edited_or_disabled_and_no_other(pool: Pool) -> None:
    told: list[RunEvent] = []
    cases = PostgresCases(pool, lambda event, _: told.append(event))
    await put_all(pool, *DOCUMENTS, case("one", note="why", made_by="kim"), case("other"))
    one, other = await cases.get("one"), await cases.get("other")
    body = one.body.model_copy(update={"text": "who else?"})
    await cases.edit(one.model_copy(update={"body": body, "by": None}))
    edited = await cases.get("one")
    assert (edited.body.text, edited.status, edited.note) == ("who else?", "unproved", "")
    assert edited.by == "kim"
    off = await cases.disable("one", by="kim", reason="no longer asked")
    assert (off.status, off.note) == (CaseStatus.DISABLED, "no longer asked")
    assert (await cases.disable("one", by="kim", reason="again")).since == off.since
    assert await cases.get("other") == other
    (event,) = told
    assert (event.name, event.tenant_id) == ("case.disabled", "t")
    assert event.data == {"kind": "MEMORY", "case": "one", "by": "kim"}
    async with connection(pool) as conn:
        stored = await (await conn.execute(b"SELECT name, data FROM run_events")).fetchall()
    assert [(row["name"], row["data"]) for row in stored] == [(event.name, event.data)]


async def test_items_without_a_case_come_in_the_order_they_were_written(pool: Pool) -> None:
    def version(tenant: str, kind: str, item: str, **more: object) -> Row:
        row = {"tenant_id": tenant, "kind": kind, "item_id": item, "same_key": item + kind}
        named = {"name_key": item + kind, "agent_id": "owner", "content": f"text of {item}"}
        return "knowledge_versions", row | named | more

    await put_all(
        pool,
        document("t", "MEMORY", "m", revision=3), version("t", "MEMORY", "m", change_id="c1"),
        version("t", "MEMORY", "m", version=2, valid_to=AT, agent_id="before"),
        document("t", "DMN_RULE", "m", revision=2), document("t", "MEMORY", "n", revision=4),
        document("u", "MEMORY", "m", revision=5), case("k", "t", "a", "MEMORY", "n"),
        document("t", "SKILL", "pay", None, revision=6),
        document("t", "MEMORY", "old", revision=1),
        version("t", "MEMORY", "x", change_id="c2"), document("t", "MEMORY", "x", revision=7),
        change("c1", feedback_id="f"), change("c2", status="reverted"),
        ("agents", {"id": "s2", "tenant_id": "t", "name": "A"}),
        ("agents", {"id": "s1", "tenant_id": "t", "name": "A"}),
        *(("agent_skills", {"tenant_id": "t", "agent_id": s, "name": "pay"}) for s in ("s2", "s1")),
        ("agent_skills", {"tenant_id": "t", "agent_id": "s1", "name": "m"}),
        ("agents", {"id": "s0", "tenant_id": "t", "name": "A"}),
        ("agent_skills", {"tenant_id": "t", "agent_id": "s0", "name": "other"}),
    )  # fmt: skip
    found = await PostgresCaseUpkeep(pool).bare(1, 9)
    assert [(one.tenant_id, one.kind, one.item_id) for one in found] == [
        ("t", Kind.DMN_RULE, "m"), ("t", Kind.MEMORY, "m"), ("u", Kind.MEMORY, "m"),
        ("t", Kind.SKILL, "pay"), ("t", Kind.MEMORY, "x"),
    ]  # fmt: skip
    assert [one.agent_id for one in found] == ["a", "owner", "a", "s1", "owner"]
    assert [one.content for one in found] == ["", "text of m", "", "", "text of x"]
    assert [one.change_id for one in found] == [None, "c1", None, None, None]
    assert found[1].feedback_id == "f"
    assert [one.item_id for one in await PostgresCaseUpkeep(pool).bare(3, 1)] == ["m"]

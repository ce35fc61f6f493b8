"""Tokens, agents and what is on record for auditors: each found by its own id, name and tenant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.answers import PostgresAnswers
from core.adapters.postgres.audit import PostgresAudit, PostgresCalls
from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import Pool, connection, transaction
from core.adapters.postgres.tokens import PostgresTokens
from core.domain.errors import AlreadyExists, NotFound
from core.domain.models import Agent
from core.domain.models.access import AccessToken, Answer, TokenKind
from core.domain.models.audit import CallFilter
from core.domain.models.feedback import NewFeedback
from core.testing.determinism import counting_ids
from tests.support.change_rows import change, history
from tests.support.databases import of_owner
from tests.support.seeding import AT, DAY, Row, put, put_all

NOW = datetime.now(UTC)
HOUR = timedelta(hours=1)


def token(token_id: str, kind: str = "token", **more: object) -> Row:
    row: dict[str, object] = {
        "id": token_id, "kind": kind, "hash": f"h-{token_id}", "name": f"name of {token_id}",
        "roles": [], "created_at": AT,
    }  # fmt: skip
    return "access_tokens", row | more


OVER, LASTS = {"expires_at": NOW - HOUR}, {"expires_at": NOW + HOUR}


async def test_a_secret_lets_in_until_it_or_what_it_came_of_is_over(pool: Pool) -> None:
    tokens = PostgresTokens(pool)
    given: dict[str, tuple[dict[str, object], bool]] = {
        "always": ({}, True), "lasts": (LASTS, True), "over": (OVER, False),
        "of-always": ({"parent": "always"}, True), "of-lasts": ({"parent": "lasts"}, True),
        "of-over": ({"parent": "over"}, False),
        "over-of-lasts": (OVER | {"parent": "lasts"}, False),
        "of-nobody": ({"parent": None} | LASTS, True),
    }  # fmt: skip
    links = {name: "link-" + name for name in given}
    sessions = {name: "session-" + name for name in given}
    await put_all(
        pool, *(token(name, **row) for name, (row, _) in given.items()),
        *(token(links[name], "link", **row) for name, (row, _) in given.items()),
        *(token(sessions[name], "session", **row | {"created_at": AT - n * DAY})
          for n, (name, (row, _)) in enumerate(given.items())),
    )  # fmt: skip
    lets = {name for name, (_, is_let) in given.items() if is_let}
    for name in given:
        assert (await tokens.find(f"h-{name}") is not None) is (name in lets), name
    listed = [name for name, (row, _) in given.items() if row.get("expires_at") != NOW - HOUR]
    assert [one.id for one in await tokens.list()] == sorted(listed)
    assert [one.id for one in await tokens.sessions()] == [
        sessions[name] for name in given if name in lets
    ]
    for name in given:
        session = AccessToken(id=f"new-{name}", hash=f"n-{name}", name="", roles=(), **LASTS)  # type: ignore[arg-type]
        opened = await tokens.redeem(f"h-{links[name]}", session)
        assert (opened is not None) is (name in lets), name
        if opened is not None:
            assert (opened.kind, opened.name) == ("session", f"name of {links[name]}")
            assert await tokens.redeem(f"h-{links[name]}", session) is None
        assert await tokens.redeem(f"h-{sessions[name]}", session) is None
    for name, (row, _) in given.items():
        if row.get("expires_at") == NOW - HOUR:
            with pytest.raises(NotFound):
                await tokens.revoke(name)
        elif name not in {"always", "lasts"}:
            assert (await tokens.revoke(name)).id == name
    assert {one.id for one in await tokens.list()} == {"always", "lasts"}


async def test_a_name_is_free_again_once_its_token_is_over(pool: Pool) -> None:
    tokens = PostgresTokens(pool)
    await put_all(
        pool, token("over", name="a", **OVER), token("lasts", name="b", **LASTS),
        token("link", "link", name="c"), token("other", name="d", **OVER),
        token("old-link", "link", name="a", **OVER),
    )  # fmt: skip

    async def add(token_id: str, name: str) -> None:
        given = {"id": token_id, "hash": token_id, "name": name, "roles": ()}
        await tokens.add(AccessToken.model_validate(given | {"kind": TokenKind.TOKEN}))

    await add("new-a", "a")
    await add("new-c", "c")
    with pytest.raises(AlreadyExists):
        await add("new-b", "b")
    async with connection(pool) as conn:
        rows = await (await conn.execute(b"SELECT id FROM access_tokens")).fetchall()
    assert {row["id"] for row in rows} == {"lasts", "link", "other", "old-link", "new-a", "new-c"}


async def test_an_answer_is_kept_for_its_owner_and_key(pool: Pool) -> None:
    answers = PostgresAnswers(pool)

    def row(owner: str, key: str, minutes: float, status: int | None = None) -> Row:
        made = datetime.now(UTC) - timedelta(minutes=minutes)
        row = {"owner": owner, "key": key, "digest": "d", "created_at": made, "body": "b"}
        return "idempotent_answers", row | {"status": status}

    day = 24 * 60
    await put_all(
        pool, row("kim", "runs", 0.5), row("kim", "died", 2), row("kim", "done", 2, 200),
        row("kim", "old", day + 1, 200), row("kim", "kept", day - 1, 200), row("lee", "new", 0.5),
    )  # fmt: skip
    found = {key: await answers.begin("kim", key, "mine")
             for key in ("runs", "died", "done", "old", "kept", "new")}  # fmt: skip
    assert {key: answer and (answer.digest, answer.status) for key, answer in found.items()} == {
        "runs": ("d", None), "died": None, "done": ("d", 200), "old": None, "kept": ("d", 200),
        "new": None,
    }  # fmt: skip
    await answers.end("kim", "died", Answer(digest="mine", status=201, body="mine"))
    await answers.end("kim", "new", Answer(digest="other", status=201, body="x"))
    await answers.end("kim", "done", Answer(digest="d", status=500, body="x"))
    await answers.forget("kim", "old")
    await answers.forget("kim", "kept")
    async with connection(pool) as conn:
        query = b"SELECT owner, key, status, body FROM idempotent_answers"
        rows = await (await conn.execute(query)).fetchall()
    assert {(row["owner"], row["key"]): (row["status"], row["body"]) for row in rows} == {
        ("kim", "runs"): (None, "b"), ("kim", "died"): (201, "mine"), ("kim", "done"): (200, "b"),
        ("kim", "kept"): (200, "b"), ("kim", "new"): (None, ""), ("lee", "new"): (None, "b"),
    }  # fmt: skip


async def test_calls_are_listed_as_asked_for_newest_first(pool: Pool) -> None:
    calls = PostgresCalls(pool)

    def call(number: int, **more: object) -> Row:
        row = {"id": number, "tenant_id": "t", "at": AT, "via": "api", "caller": "kim"}
        return "calls", row | {"outcome": "done", "route": "x"} | more

    await put_all(
        pool, call(1), call(2), call(3, tenant_id="u"), call(4, caller="lee"),
        call(5, at=AT + DAY), call(6, at=AT - DAY), call(7, outcome="refused"),
    )  # fmt: skip

    async def ids(limit: int = 9, **wanted: object) -> list[int]:
        asked, cursor = CallFilter.model_validate(wanted), None
        found: list[int] = []
        while True:
            page, cursor = await calls.page(asked, limit=limit, cursor=cursor)
            found += [one.id for one in page]
            if cursor is None:
                return found

    whole = [5, 7, 4, 3, 2, 1, 6]
    for limit in (1, 3, 7):
        assert await ids(limit) == whole
    assert await ids(tenant_id="u") == [3]
    assert await ids(caller="lee") == [4]
    assert await ids(since=AT) == whole[:-1]
    assert await ids(since=AT + DAY) == [5]
    assert await ids(refused=True) == [7]
    assert await ids(refused=False) == [5, 4, 3, 2, 1, 6]
    old = (datetime.now(UTC) - (AT - DAY / 2)).total_seconds()
    assert await calls.prune(old) == 1
    assert await ids() == whole[:-1]


async def test_entries_come_with_the_rows_they_are_about(pool: Pool) -> None:
    def erasure(name: str, tenant: str = "t") -> Row:
        return "erasures", {"id": name, "tenant_id": tenant, "author_digest": name}

    def decision(number: int, tenant: str = "t") -> Row:
        row = {"id": number, "tenant_id": tenant, "change_id": "c", "verdict": "approved"}
        return "decisions", row

    await put_all(
        pool, change("c"), change("d"), history("c", 1, id="one"), history("d", 2, id="7"),
        decision(7), decision(8), erasure("7"), erasure("one"),
        change("u", tenant_id="u"), history("u", 3, tenant_id="u", id="u"), decision(9, "v"),
    )  # fmt: skip
    audit = PostgresAudit(pool, page=2)
    found = [one async for one in audit.entries("t")]
    assert [(one.seq, one.kind, one.subject) for one in found] == [
        (1, "history", "one"), (2, "history", "7"), (3, "decision", "7"), (4, "decision", "8"),
        (5, "erasure", "7"), (6, "erasure", "one"),
    ]  # fmt: skip
    assert {one.tenant_id for one in found} == {"t"}
    facts = [dict(one.facts or {}) for one in found]
    assert all(facts)
    assert len({str(one) for one in facts}) == 6
    whole = [one async for one in audit.entries(None)]
    assert [(one.tenant_id, one.seq) for one in whole] == [
        *(("t", n) for n in range(1, 7)), ("u", 1), ("v", 1),
    ]  # fmt: skip
    assert await audit.unchained(None) == []
    assert await audit.log_heads(60.0) == 3
    assert await audit.log_heads(60.0) == 0
    assert [(one.tenant_id, one.seq) for one in await audit.heads(None)] == [
        ("t", 6), ("u", 1), ("v", 1),
    ]  # fmt: skip
    assert [(one.tenant_id, one.digest) for one in await audit.heads("t")] == [
        ("t", found[-1].digest)
    ]
    assert await audit.log_heads(0.0) == 0
    await put_all(pool, decision(10))
    assert await audit.log_heads(0.0) == 1
    assert [one.seq for one in await audit.heads("t")] == [6, 7]


async def test_rows_that_were_put_past_the_chain_are_named_by_tenant_and_kind(pool: Pool) -> None:
    decision = {"tenant_id": "t", "change_id": "c", "verdict": "approved", "decided_at": AT}
    await put_all(pool, change("c"), history("c", 1, id="5"), ("decisions", decision | {"id": 6}))
    past = [
        ("history", history("c", 2, id="6", attempt=2)[1]),
        ("history", history("c", 3, id="a", attempt=3, tenant_id="u")[1]),
        ("decisions", decision | {"id": 5}), ("decisions", decision | {"id": 7, "tenant_id": "u"}),
        ("erasures", {"id": "6", "tenant_id": "t", "author_digest": "x", "erased_by": "x"}),
    ]  # fmt: skip
    async with open_pool(of_owner(pool.conninfo)) as owner, transaction(owner) as conn:
        await conn.execute("SET LOCAL session_replication_role = replica")
        for table, row in past:
            await put(conn, table, **row)
    audit = PostgresAudit(pool)
    of_t = [("t", "decision", "5"), ("t", "erasure", "6"), ("t", "history", "6")]
    of_u = [("u", "decision", "7"), ("u", "history", "a")]
    assert await audit.unchained(None) == [*of_t, *of_u]
    assert await audit.unchained("t") == of_t
    assert await audit.unchained("u") == of_u


async def test_an_agent_has_the_skills_of_its_own_list(pool: Pool) -> None:
    agents = PostgresAgents(pool)
    whose = ("ta", "tB", "ua", "ub")
    await put_all(
        pool,
        *(("agents_of_tenants", {"id": one[1], "tenant_id": one[0], "sole_id": one, "name": one})
          for one in whose),
        *(("agent_skills", {"tenant_id": one[0], "agent_id": one[1], "name": name})
          for n, one in enumerate(whose) for name in (f"z{n}", f"Y{n}", f"a{n}", "b")[: 4 - n % 2]),
    )  # fmt: skip
    assert (await agents.get("t", "a")).skills == ("Y0", "a0", "b", "z0")
    assert (await agents.get("u", "a")).skills == ("Y2", "a2", "b", "z2")
    with pytest.raises(NotFound):
        await agents.get("t", "b")
    assert [(one.tenant_id, one.skills[0]) for one in await agents.of_id("a")] == [
        ("t", "Y0"), ("u", "Y2"),
    ]  # fmt: skip
    listed = [(one.tenant_id, one.id, len(one.skills)) for one in await agents.list()]
    assert [one.skills for one in await agents.list("t")] == [
        ("Y1", "a1", "z1"), ("Y0", "a0", "b", "z0"),
    ]  # fmt: skip
    assert [one.skills for one in await agents.having("t", "b")] == [("Y0", "a0", "b", "z0")]
    assert listed == [("t", "B", 3), ("t", "a", 4), ("u", "a", 4), ("u", "b", 3)]
    assert [one.id for one in await agents.list("u")] == ["a", "b"]
    assert [one.id for one in await agents.having("t", "b")] == ["a"]
    assert [one.id for one in await agents.having("t", "z1")] == ["B"]
    assert await agents.having("t", "z2") == []
    saved = Agent(id="a", tenant_id="t", name="new", goal="g", skills=("none",))
    assert not await agents.save(saved)
    assert await agents.save(saved.model_copy(update={"tenant_id": "v"}))
    assert (await agents.get("t", "a")).skills == ("Y0", "a0", "b", "z0")
    assert ((await agents.get("v", "a")).skills, (await agents.get("u", "a")).name) == (
        ("none",), "ua",
    )  # fmt: skip


async def test_a_new_agent_with_a_goal_awaits_its_setup_until_one_begins_it(pool: Pool) -> None:
    agents = PostgresAgents(pool, sets_up_new=True)

    def agent(name: str, goal: str = "g", tenant: str = "t") -> Agent:
        return Agent(id=name, tenant_id=tenant, name=name, role="r", goal=goal)

    foreign = [agent("a", tenant="u"), agent("b", tenant="u")]
    for one in (agent("b"), agent("a"), agent("none", " "), *foreign):
        await agents.save(one)

    async def awaiting(limit: int = 9) -> list[str]:
        return [f"{one.tenant_id}{one.id}" for one in await agents.awaiting_setup(limit)]

    assert await awaiting() == ["ta", "ua", "tb", "ub"]
    assert await awaiting(1) == ["ta"]
    await agents.save(agent("none", "later"))
    assert await awaiting() == ["ta", "ua", "tb", "ub", "tnone"]
    inbox = PostgresInbox(pool, Jobs(pool), counting_ids("f"))
    first = NewFeedback(tenant_id="t", agent_ids=("b",), content="x")
    assert not await inbox.add_first("setup", first, agent("b", "other"))
    assert not await inbox.add_first("setup", first, agent("c"))
    assert await inbox.add_first("setup", first, agent("b"))
    assert not await inbox.add_first("setup", first, agent("b"))
    assert await awaiting() == ["ta", "ua", "ub", "tnone"]
    await agents.setup_begun("u", "a")
    assert await awaiting() == ["ta", "ub", "tnone"]
    await agents.save(agent("b", "new goal"))  # it was set up
    assert await awaiting() == ["ta", "ub", "tnone"]

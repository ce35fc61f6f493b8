"""What a search finds, knows of its words and takes from what was written: of its own rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from core.adapters.postgres.queries import Pool, connection, transaction
from core.adapters.postgres.scoped_search import DEPTH, PostgresTaskMatches, ScopedSearch
from core.adapters.postgres.search import (
    PostgresSearch,
    SearchIndex,
    drop_document,
    index_document,
    index_new,
    newest_revision,
    refuse_repeated,
    refuse_skill_beside,
)
from core.domain.errors import DatabaseDown, Repeated, TargetBusy
from core.domain.models import Agent, Change, Kind, Reach, Scope, Snapshot
from core.domain.models.context import TaskMatch, TaskMeaning
from core.domain.models.feedback import WORKER_AGENT
from core.knowledge.search.documents import SearchDocument
from core.knowledge.search.ranking import extrapolate
from tests.contracts.suites.rule_neighbours import ruled
from tests.support.change_rows import change, history
from tests.support.react import item_change
from tests.support.seeding import AT, DAY, Row, put, put_all

MEMORY, RULE, SKILL = Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL
NOW = AT + 9 * DAY
TEXT = "Refunds of damaged parcels are paid by the harbour office."
ASKS = "refunds of damaged parcels"


async def known(
    pool: Pool, item: str, text: str = TEXT, kind: Kind = MEMORY, tenant: str = "t",
    agent: str | None = "a", **version: object,
) -> None:  # fmt: skip
    """Put an item there with its version, and what a search finds it by."""
    document = SearchDocument(
        tenant_id=tenant, kind=kind, item_id=item, agent_id=agent, name=f"name of {item}",
        content=text,
    )  # fmt: skip
    async with transaction(pool) as conn:
        await index_document(conn, document)
        if kind is not SKILL:
            row = {"tenant_id": tenant, "agent_id": agent or "b", "kind": kind.value}
            names = {"name": item, "name_key": item, "same_key": item, "item_id": item}
            await put(conn, "knowledge_versions", **row, **names, content=text, **version)


AGENT = Agent(id="a", tenant_id="t", name="A", skills=("pay", "load"))
CANTEEN = "The canteen opens at noon."


async def found(
    pool: Pool, task: str = ASKS, user: str | None = None, **meant: Sequence[str]
) -> dict[str, TaskMatch]:
    async def near(task: str, **_: object) -> TaskMeaning:
        told = {"name": "", "agent_id": None, "content": "", "score": 0.5}
        items = [{**told, "kind": kind, "id": one} for kind, ids in meant.items() for one in ids]
        return TaskMeaning.model_validate({"items": items, "small_talk": 0.25})

    matches = PostgresTaskMatches(pool, lambda: NOW, near if meant else None)
    return {one.id: one for one in await matches.find(task, AGENT, user=user)}


async def test_a_task_finds_what_its_agent_may_know_and_what_holds(pool: Pool) -> None:
    await known(pool, "own", version=3)
    await known(pool, "shared", agent=None)
    await known(pool, "of-b", agent="b")
    await known(pool, "foreign", tenant="u")
    await known(pool, "over", valid_until=NOW - DAY / 9)
    await known(pool, "lasts", valid_until=NOW)
    await known(pool, "kims", scope="user", scope_user="kim")
    await known(pool, "ended", valid_to=AT)
    await known(pool, "table", kind=RULE)
    for name in ("pay", "unlisted"):
        await known(pool, name, f"# Pay\n\n{TEXT}", SKILL, agent=None)
    await known(pool, "pay", f"# Pay\n\n{TEXT}", SKILL, "u", None)
    await known(pool, "lunch", CANTEEN)
    hers = {"shared", "own", "lasts", "table", "pay"}
    assert {*await found(pool)} == hers
    assert {*await found(pool, user="kim")} == hers | {"kims"}
    assert {*await found(pool, user="lee")} == hers
    matches = await found(pool)
    assert (matches["own"].version, matches["own"].content, matches["own"].name) == (
        3, TEXT, "name of own",
    )  # fmt: skip
    assert matches["pay"].content == f"# Pay\n\n{TEXT}"
    assert all(one.closeness is None and one.matched > 1 for one in matches.values())
    kinds = [one.kind for one in matches.values()]
    assert kinds == sorted(kinds)
    assert await found(pool, "of the and") == {}


async def test_what_is_near_in_meaning_is_found_beside_what_shares_words(pool: Pool) -> None:
    await known(pool, "own")
    await known(pool, "lunch", CANTEEN)
    await known(pool, "menu", CANTEEN)
    await known(pool, "of-b", CANTEEN, agent="b")
    await known(pool, "foreign", CANTEEN, tenant="u")
    await known(pool, "over", CANTEEN, valid_until=AT)
    await known(pool, "lunch", CANTEEN, RULE)
    for name in ("load", "unlisted"):
        await known(pool, name, CANTEEN, SKILL, agent=None)
    near = ("own", "lunch", "of-b", "foreign", "over", "none")
    matches = await found(pool, MEMORY=near, SKILL=("load", "unlisted"))
    assert {*matches} == {"own", "lunch", "load"}
    assert {(one.kind, one.closeness) for one in matches.values()} == {
        (MEMORY, 0.5), (SKILL, 0.5),
    }  # fmt: skip
    assert (matches["lunch"].matched, matches["lunch"].score) == (0.0, 0.0)
    assert matches["own"].matched > 1
    assert {one.small_talk for one in matches.values()} == {0.25}
    whole = await found(pool, MEMORY=("own",))
    assert {one: match.closeness for one, match in whole.items()} == {"own": 0.5}
    assert whole["own"].score == (await found(pool))["own"].score


async def test_what_is_ranked_without_texts_comes_in_the_same_order(pool: Pool) -> None:
    await known(pool, "first", TEXT)
    await known(pool, "second", f"Damaged parcels: {CANTEEN * 9}")
    await known(pool, "pay", f"# Pay\n\n{TEXT}{'x' * 3000}", SKILL, agent=None)
    await put_all(
        pool, change("c1"), change("c2"), change("c3"), history("c1", 1), history("c2", 2),
        history("c3", 3, tenant_id="u"),
    )  # fmt: skip
    matches = PostgresTaskMatches(pool, lambda: NOW)
    ranked = await matches.rank(ASKS, AGENT, user=None)
    whole = await matches.find(ASKS, AGENT, user=None)
    assert [one.id for one in ranked] == [one.id for one in whole] == ["first", "second", "pay"]
    assert [one.score for one in ranked] == [one.score for one in whole]
    assert whole[0].score > whole[1].score
    assert [len(one.content) for one in ranked] == [0, 0, 2000]
    assert [one.version for one in whole] == [1, 1, 2]


async def test_hits_come_with_whose_they_are_and_when_they_were_taught(pool: Pool) -> None:
    await known(pool, "own", change_id="c", valid_until=NOW + DAY)
    await known(pool, "own", tenant="u")
    await known(pool, "shared", agent=None, scope="tenant")
    await known(pool, "kims", scope="user", scope_user="kim")
    await known(pool, "of-b", agent="b")
    await known(pool, "table", kind=RULE)
    await known(pool, "own", kind=RULE)
    await put_all(pool, change("c", said_at=AT + DAY), change("d"))
    search = PostgresSearch(pool, None)

    async def hits(
        agent: str | None = "a", kind: Kind | None = MEMORY, tenant: str = "t", limit: int = 9
    ) -> Mapping[str, tuple[object, ...]]:
        given = {"tenant_id": tenant, "agent_id": agent, "kind": kind, "limit": limit}
        return {
            f"{one.kind} {one.id}": (
                one.agent_id,
                one.taught_at,
                one.valid_until,
                one.scope,
                one.user,
            )
            for one in await search.search(ASKS, **given)  # type: ignore[arg-type]
        }

    assert await hits() == {
        "MEMORY own": ("a", AT + DAY, NOW + DAY, "agent", None),
        "MEMORY shared": ("b", None, None, "tenant", None),
        "MEMORY kims": ("a", None, None, "user", "kim"),
    }
    assert {*await hits(agent=None)} == {
        "MEMORY own",
        "MEMORY shared",
        "MEMORY kims",
        "MEMORY of-b",
    }
    assert {*await hits(kind=RULE)} == {"DMN_RULE table", "DMN_RULE own"}
    assert {*await hits(agent="b")} == {"MEMORY shared", "MEMORY of-b"}
    assert {*await hits(kind=None)} == {*await hits(), *await hits(kind=RULE)}
    assert {*await hits(tenant="u")} == {"MEMORY own"}
    assert len(await hits(limit=2)) == 2
    assert await hits(limit=0) == {}


async def test_what_is_over_or_for_others_makes_room_for_what_holds(pool: Pool) -> None:
    for n in range(9):
        await known(pool, f"over-{n}", valid_until=NOW - DAY)
    await known(pool, "kims", scope="user", scope_user="kim")
    await known(pool, "lesson", agent=WORKER_AGENT)
    await known(pool, "lasts", f"{TEXT} And so on, for a long time yet.", valid_until=NOW)
    await known(pool, "holds", f"{TEXT} And so on, for a long time yet, as it always was.")
    search = ScopedSearch(PostgresSearch(pool, None), lambda: NOW)

    async def ids(agent: str | None = "a", limit: int = 2, user: str | None = None) -> list[str]:
        given = {"tenant_id": "t", "agent_id": agent, "limit": limit, "user": user}
        hits = await search.search(ASKS, kind=MEMORY, **given)  # type: ignore[arg-type]
        near = await search.near(TEXT, kind=MEMORY, **given)  # type: ignore[arg-type]
        assert [one.id for one in hits] == [one.id for one in near.items][:limit]
        return [one.id for one in hits]

    assert await ids() == ["lasts", "holds"]
    assert await ids(limit=9) == ["lasts", "holds"]
    assert await ids(limit=1) == ["lasts"]
    assert await ids(user="kim", limit=9) == ["kims", "lasts", "holds"]
    assert await ids(agent=None, limit=9) == ["lasts", "holds"]
    assert await ids(agent=WORKER_AGENT, limit=9) == ["lesson"]
    assert await search.search(ASKS, tenant_id="t", agent_id="a", kind=MEMORY, limit=0) == []


async def test_the_best_is_found_however_many_share_its_words(pool: Pool) -> None:
    for n in range(41):  # more than are scored for one hit
        await known(pool, f"more-{n:02}", f"{TEXT} And so on, for a long time yet.")
    await known(pool, "best", TEXT)
    search = PostgresSearch(pool, None)
    for asked, first in ((ASKS, "best"), ("for a long time yet", "more-00")):
        hits = await search.search(asked, tenant_id="t", agent_id="a", kind=MEMORY, limit=1)
        assert [one.id for one in hits] == [first]


async def test_what_others_know_takes_no_place_of_what_an_agent_may_know(pool: Pool) -> None:
    for n in range(DEPTH):
        await known(pool, f"of-b-{n:03}", agent="b")
    await known(pool, "own", f"{TEXT} And so on, for a long time yet.")
    assert {*await found(pool)} == {"own"}


async def test_words_are_counted_in_their_tenants_documents(pool: Pool) -> None:
    async with connection(pool) as conn:
        empty = await SearchIndex(conn, "t").describe(["parcel"])
        assert (empty.documents, empty.frequencies, empty.mean) == (0, {}, 1.0)
    await known(pool, "first", tenant="u")
    for n in range(7):
        await known(pool, f"m{n}", TEXT if n % 2 else CANTEEN)
    await known(pool, "r", kind=RULE)
    await known(pool, "s", CANTEEN, agent=None)
    await known(pool, "b", agent="b")
    await known(pool, "u", tenant="u")
    await known(pool, "u2", CANTEEN, tenant="u")
    async with connection(pool) as conn:
        index = SearchIndex(conn, "t")
        whole = await index.describe(["parcel", "canteen", "zebra"])
        assert (whole.documents, whole.frequencies) == (10, {"parcel": 5, "canteen": 5})
        assert await index.count(["canteen", "zebra"]) == {"canteen": 5}
        assert await index.known(["canteen", "zebra", "parcel"]) == {"canteen", "parcel"}
        assert await SearchIndex(conn, "v").known(["canteen"]) == set()
        other = await SearchIndex(conn, "u").describe(["parcel", "canteen"])
        assert (other.documents, other.frequencies) == (3, {"parcel": 2, "canteen": 1})
        sampled = SearchIndex(conn, "t", sample=2)
        assert await sampled.count(["canteen"]) == {"canteen": 2}
        ids = b"SELECT item_id, id FROM search_documents WHERE tenant_id = 't'"
        places = {row["item_id"]: row["id"] for row in await (await conn.execute(ids)).fetchall()}
        ends = {"oldest": places["m0"], "newest": places["b"]}
        rough = await sampled.describe(["canteen", "parcel"])
        assert rough.frequencies == {
            "canteen": extrapolate(2, 2, last=places["m2"], **ends),
            "parcel": extrapolate(2, 2, last=places["m3"], **ends),
        }
        assert await sampled.describe([], ["canteen", "parcel"]) == whole  # each is in a few
        marks = {}
        for agent, kind in (
            ("a", MEMORY),
            ("b", MEMORY),
            (None, MEMORY),
            ("a", RULE),
            (None, RULE),
        ):
            one = SearchIndex(conn, "t", agent, kind)
            await one.describe(["parcel"])
            marks[agent, kind] = one.mark
            assert one.mark == await newest_revision(conn, "t", agent, kind)
        rows = await (
            await conn.execute(b"SELECT item_id, revision FROM search_documents")
        ).fetchall()
    newest = {row["item_id"]: row["revision"] for row in rows}
    assert marks == {
        ("a", MEMORY): newest["s"], ("b", MEMORY): newest["b"], (None, MEMORY): newest["s"],
        ("a", RULE): newest["r"], (None, RULE): 0,
    }  # fmt: skip


async def terms(pool: Pool) -> dict[str, int]:
    query = b"""SELECT d.tenant_id || ' ' || d.kind || ' ' || d.item_id AS one, count(p.*) AS terms
                FROM search_documents d LEFT JOIN search_postings p ON p.document_id = d.id
                GROUP BY 1"""
    async with connection(pool) as conn:
        return {row["one"]: row["terms"] for row in await (await conn.execute(query)).fetchall()}


def document(item: str, text: str, tenant: str = "t", kind: Kind = MEMORY) -> SearchDocument:
    return SearchDocument(
        tenant_id=tenant, kind=kind, item_id=item, agent_id="a", name=item, content=text
    )


async def test_a_document_is_written_again_or_dropped_and_no_other(pool: Pool) -> None:
    beside = [
        document("m", TEXT, "u"), document("m", TEXT, kind=RULE), document("n", TEXT),
    ]  # fmt: skip
    async with transaction(pool) as conn:
        for one in (document("m", TEXT), *beside):
            await index_document(conn, one)
    before = await terms(pool)
    assert {*before} == {"t MEMORY m", "u MEMORY m", "t DMN_RULE m", "t MEMORY n"}
    assert before["u MEMORY m"] == before["t MEMORY m"]
    async with transaction(pool) as conn:
        await index_document(conn, document("m", "Noon."))
    shorter = await terms(pool)
    assert 0 < shorter["t MEMORY m"] < before["t MEMORY m"]
    assert {**shorter, "t MEMORY m": 0} == {**before, "t MEMORY m": 0}
    async with connection(pool) as conn:
        assert await SearchIndex(conn, "t").count(["noon", "parcel"]) == {"noon": 1, "parcel": 2}
        await drop_document(conn, "t", MEMORY, "m")
        await drop_document(conn, "t", MEMORY, "none")
    left = await terms(pool)
    assert left == {one: n for one, n in before.items() if one != "t MEMORY m"}
    async with transaction(pool) as conn:
        await index_new(conn, [document("x", TEXT), document("y", "Noon.")])
    async with connection(pool) as conn:
        found = await SearchIndex(conn, "t").count(["noon", "parcel"])
    assert found == {"noon": 1, "parcel": 3}
    assert {*await terms(pool)} == {*left, "t MEMORY x", "t MEMORY y"}


async def test_some_terms_of_a_document_are_written_for_who_asks_for_no_others(
    pool: Pool,
) -> None:
    async with transaction(pool) as conn:
        whole = [document("m", TEXT), document("n", TEXT), document("m", TEXT, "u")]
        for one in (*whole, document("m", TEXT, kind=RULE)):
            await index_document(conn, one)
        await index_document(conn, document("m", CANTEEN), only=["parcel", "canteen"])
        await index_document(conn, document("new", CANTEEN), only=["noon"])
        index = SearchIndex(conn, "t")
        assert await index.count(["parcel", "canteen", "noon", "damag"]) == {
            "parcel": 2, "canteen": 1, "noon": 1, "damag": 3,
        }  # fmt: skip
        assert await SearchIndex(conn, "u").count(["parcel", "canteen"]) == {"parcel": 1}


def written(item: str = "new", text: str = TEXT, **more: object) -> Change:
    made = item_change(MEMORY, item, item, text)
    return made.model_copy(update={"tenant_id": "t", "agent_id": "a", **more})


async def test_what_was_written_since_by_the_same_agent_is_compared(pool: Pool) -> None:
    await known(pool, "lunch", CANTEEN)
    await known(pool, "of-b", agent="b")
    await known(pool, "foreign", tenant="u")
    await known(pool, "table", kind=RULE)
    async with connection(pool) as conn:
        seen = await newest_revision(conn, "t", "a", MEMORY)
    await known(pool, "new")

    async def refused(**given: object) -> str | None:
        async with transaction(pool) as conn:
            try:
                await refuse_repeated(conn, written(**given))  # type: ignore[arg-type]
            except Repeated as error:
                return error.item_id
        return None

    assert await refused(seen=seen) is None  # what it writes itself is none
    await known(pool, "old", TEXT)
    async with connection(pool) as conn:
        now = await newest_revision(conn, "t", "a", MEMORY)
    assert await refused(seen=0) == "old"
    assert await refused(seen=0, item="other") == "new"
    assert await refused(seen=now) is None
    assert await refused(seen=now - 1) == "old"
    assert await refused(seen=None) is None
    assert await refused(seen=0, after=None) is None
    assert await refused(seen=0, text=CANTEEN) == "lunch"
    assert await refused(seen=0, agent_id="b") == "of-b"


async def test_tables_that_were_written_since_are_compared_as_they_stand(pool: Pool) -> None:
    def table(item: str, column: str = "amount") -> Change:
        made = ruled(item, 0, column=column)
        return made.model_copy(update={"tenant_id": "t", "agent_id": "a"})

    async def put_table(item: str, column: str = "amount", tenant: str = "t", **more: str) -> int:
        after = table(item, column).after
        assert after is not None
        await known(pool, item, after.content, RULE, tenant, more.get("agent", "a"))
        async with connection(pool) as conn:
            return await newest_revision(conn, tenant, more.get("agent", "a"), RULE)

    async def refused(item: str, seen: int | None, column: str = "amount") -> str | None:
        async with transaction(pool) as conn:
            try:
                await refuse_repeated(conn, table(item, column).model_copy(update={"seen": seen}))
            except Repeated as error:
                return error.item_id
        return None

    await put_table("of-b", agent="b")
    await put_table("foreign", tenant="u")
    other = await put_table("other", "grade")
    assert await refused("new", 0) is None
    own = await put_table("own")
    assert await refused("new", 0) == "own"
    assert await refused("own", 0) is None
    assert await refused("new", own) is None
    assert await refused("new", own - 1) == "own"
    assert await refused("new", other, "grade") is None
    assert await refused("new", None) is None
    gone = {"tenant_id": "t", "kind": "DMN_RULE", "item_id": "bare", "agent_id": "a"}
    await put_all(pool, ("search_documents", gone))
    assert await refused("new", own) is None


def skill_of(text: str, name: str = "new", **more: object) -> Change:
    made = item_change(SKILL, name, name, text)
    return made.model_copy(update={"tenant_id": "t", "agent_id": "a", **more})


SKILL_TEXT = f"---\nname: {{}}\ndescription: {TEXT}\n---\n# Refunds\n\n{TEXT * 9}"


async def test_a_new_skill_waits_for_one_being_made_and_follows_one_made(pool: Pool) -> None:
    def made(name: str, status: str, **more: object) -> Row:
        after = {"content": SKILL_TEXT.format(name), "name": name}
        given = {"status": status, "target_id": name, "kind": "SKILL", "after": after}
        return change(f"c-{name}-{status}", **given | more)

    async def refused(*rows: Row, seen: int = 0, **given: object) -> str | None:
        async with connection(pool) as conn:
            await conn.execute("DELETE FROM changes")
        await put_all(pool, *rows)
        async with transaction(pool) as conn:
            try:
                text = SKILL_TEXT.format("new")
                await refuse_skill_beside(conn, skill_of(text, **{"seen": seen, **given}))
            except TargetBusy:
                return "busy"
            except Repeated as error:
                return error.item_id
        return None

    await known(pool, "like", SKILL_TEXT.format("like"), SKILL, agent=None)
    await known(pool, "like", SKILL_TEXT.format("like"), SKILL, "u", None)
    await known(pool, "other", SKILL_TEXT.format("other"), agent=None)
    async with connection(pool) as conn:
        newest = await newest_revision(conn, "t", None, SKILL)
    assert await refused(made("like", "applying")) == "busy"
    assert await refused(made("like", "applied")) == "like"
    assert await refused(made("like", "applied"), seen=newest) is None
    assert await refused(made("like", "applying"), seen=newest) == "busy"
    assert await refused(made("like", "applied"), seen=newest - 1) == "like"
    for row in (
        made("like", "failed"), made("other", "applied"), made("new", "applying"),
        made("like", "applying", tenant_id="u"), made("like", "applying", kind="MEMORY"),
        made("like", "applying", operation="UPDATE"), made("like", "applying", after=None),
    ):  # fmt: skip
        assert await refused(row) is None, row
    late = made("zoo", "applying", created_at=AT + DAY)
    assert await refused(late, made("like", "applied")) == "like"
    early = made("zoo", "applying", created_at=AT - DAY)
    assert await refused(early, made("like", "applied")) == "busy"
    busy = made("like", "applying")
    assert await refused(busy, before=Snapshot(content="x", name="x")) is None
    assert await refused(busy, seen=None) is None  # type: ignore[arg-type]


async def test_writers_of_one_agents_kind_wait_for_each_other(pool: Pool) -> None:
    async with transaction(pool) as first:
        await refuse_repeated(first, written(seen=0))
        for given in ({"agent_id": "b"}, {"tenant_id": "u"}, {"kind": RULE}):
            async with transaction(pool) as other:
                await other.execute("SET LOCAL lock_timeout = '1s'")
                await refuse_repeated(other, written(seen=0, **given))
        query = b"""SELECT count(*) AS held FROM pg_locks WHERE locktype = 'advisory'
                    AND pid = pg_backend_pid()"""
        row = await (await first.execute(query)).fetchone()
        assert row is not None
        assert row["held"] == 2  # that of the agent, and a part of its tenant's


async def test_who_writes_for_all_waits_for_every_agent(pool: Pool) -> None:
    reach = Reach(scope=Scope.TENANT)
    for_all = written(agent_id="b", after=Snapshot(content="x", name="x", reach=reach))

    async def write() -> None:
        async with transaction(pool) as other:
            await other.execute("SET LOCAL lock_timeout = '50ms'")
            await refuse_repeated(other, for_all)

    async with transaction(pool) as first:
        await refuse_repeated(first, written(seen=0))
        with pytest.raises(DatabaseDown, match="too long for a lock"):
            await write()
    await write()

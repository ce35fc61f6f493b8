"""What is known, was known and came of what: of one tenant, agent, kind and item, and no other."""

from __future__ import annotations

from itertools import product

import pytest

from core.adapters.postgres.knowledge import (
    PostgresKnowledge,
    PostgresKnowledgePages,
    PostgresKnowledgePast,
)
from core.adapters.postgres.lineage import PostgresLineage
from core.adapters.postgres.queries import Pool
from core.domain.errors import NotFound
from core.domain.hashing import name_key, same_key
from core.domain.models import Kind
from core.testing.skill_store import MemorySkillStore
from tests.support.change_rows import change, history
from tests.support.seeding import AT, DAY, Row, put_all

MEMORY, RULE, SKILL = Kind.MEMORY, Kind.DMN_RULE, Kind.SKILL
WHOSE = [*product("tu", "ab", ("MEMORY", "DMN_RULE"), "mn")]


def version(tenant: str, agent: str, kind: str, item: str, **more: object) -> Row:
    """Return a version of an item that is named and says after its agent and itself."""
    named = f"{agent} {item}"
    row: dict[str, object] = {
        "tenant_id": tenant, "agent_id": agent, "kind": kind, "item_id": f"{agent}-{item}",
        "name": named, "name_key": name_key(named), "content": named, "same_key": same_key(named),
        "valid_from": AT, "change_id": f"{tenant}{agent}{kind}{item}",
    }  # fmt: skip
    return "knowledge_versions", row | more


ALL = [version(*one) for one in WHOSE]


@pytest.fixture
def knowledge(pool: Pool) -> PostgresKnowledge:
    return PostgresKnowledge(pool, MemorySkillStore())


async def test_an_item_is_found_by_its_id_name_or_content(
    pool: Pool, knowledge: PostgresKnowledge
) -> None:
    gone = {"valid_to": AT + DAY, "item_id": "gone", "name_key": "gone", "same_key": "gone"}
    await put_all(
        pool, *ALL, version("t", "a", "MEMORY", "x", **gone),
        version("t", "a", "DMN_RULE", "x", **gone),
        version("t", "a", "MEMORY", "m", version=2, valid_to=AT, content="was"),
    )  # fmt: skip
    for kind in (MEMORY, RULE):
        item = await knowledge.get(kind, "u", "b-n")
        assert (item.kind, item.tenant_id, item.agent_id, item.id) == (kind, "u", "b", "b-n")
        same = await knowledge.find_same(kind, "t", "a", "a m")
        assert same is not None
        assert (same.kind, same.tenant_id, same.id, same.version) == (kind, "t", "a-m", 1)
        for tenant, agent, content in (("t", "a", "b m"), ("t", "a", "gone"), ("v", "a", "a m")):
            assert await knowledge.find_same(kind, tenant, agent, content) is None
        with pytest.raises(NotFound):
            await knowledge.get(kind, "t", "gone")
    named = await knowledge.find_named(RULE, "u", "b", "B  M")
    assert named is not None
    assert (named.tenant_id, named.id) == ("u", "b-m")
    for kind, tenant, agent, name in (
        (MEMORY, "t", "a", "a m"), (RULE, "v", "a", "a m"), (RULE, "t", "b", "a m"),
        (RULE, "t", "a", "a x"), (RULE, "t", "a", "gone"),
    ):  # fmt: skip
        assert await knowledge.find_named(kind, tenant, agent, name) is None


async def test_what_is_for_one_end_user_is_another_memory(
    pool: Pool, knowledge: PostgresKnowledge
) -> None:
    own = {"scope": "user", "scope_user": "kim", "item_id": "own"}
    await put_all(pool, version("t", "a", "MEMORY", "m"), version("t", "a", "MEMORY", "m", **own))
    for user, item in ((None, "a-m"), ("kim", "own"), ("lee", None)):
        found = await knowledge.find_same(MEMORY, "t", "a", "a m", user=user)
        assert (found.id if found else None) == item


async def test_what_is_taken_is_found_by_ids_of_all_and_contents_of_the_agent(
    pool: Pool, knowledge: PostgresKnowledge
) -> None:
    await put_all(pool, *ALL, version("t", "a", "MEMORY", "old", valid_to=AT + DAY))
    found = await knowledge.taken(
        MEMORY, "t", "a", ids=["b-n", "none", "a-old"], contents=["a m", "b m", "a old"]
    )
    assert {(one.tenant_id, one.kind, one.id) for one in found} == {
        ("t", MEMORY, "b-n"), ("t", MEMORY, "a-m"),
    }  # fmt: skip
    some = await knowledge.some(MEMORY, "t", "a", since=None, limit=9)
    assert {(one.tenant_id, one.id) for one in some} == {("t", "a-m"), ("t", "a-n")}
    assert len(await knowledge.some(MEMORY, "t", "a", since=None, limit=1)) == 1
    assert await knowledge.some(MEMORY, "t", "a", since=AT, limit=9) == []
    assert len(await knowledge.some(MEMORY, "t", "a", since=AT - DAY, limit=9)) == 2


SKILLS: list[Row] = [
    *(("search_documents", {"tenant_id": t, "kind": "SKILL", "item_id": s, "name": s,
                            "content": f"{t} {s}"}) for t, s in product("tu", ("pay", "ship"))),
    ("search_documents", {"tenant_id": "t", "kind": "MEMORY", "item_id": "a-m", "content": "doc"}),
    *(("agents_of_tenants", {"id": f"{t}{a}", "tenant_id": t, "sole_id": f"{t}{a}", "name": "A"})
      for t, a in product("tu", "ab")),
    ("agent_skills", {"tenant_id": "t", "agent_id": "ta", "name": "pay", "added_at": AT}),
    ("agent_skills", {"tenant_id": "t", "agent_id": "tb", "name": "ship", "added_at": AT}),
    ("agent_skills", {"tenant_id": "u", "agent_id": "ua", "name": "ship", "added_at": AT}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tenant", "agent", "kind"),
    [
        (None, None, None), ("t", None, None), (None, "a", None), (None, None, MEMORY),
        (None, None, RULE), ("u", "b", RULE), ("v", None, None), ("t", "c", MEMORY),
    ],
)  # fmt: skip
async def test_a_list_has_what_stands_of_those_asked_for(
    pool: Pool, knowledge: PostgresKnowledge, tenant: str | None, agent: str | None,
    kind: Kind | None,
) -> None:  # fmt: skip
    over = {"valid_until": AT, "item_id": "over", "same_key": "over", "name_key": "over"}
    await put_all(
        pool, *ALL, *(version(*one, version=2, valid_to=AT) for one in WHOSE),
        version("t", "a", "MEMORY", "o", **over),
        version("t", "b", "MEMORY", "l", valid_until=AT + 9_000 * DAY),
    )  # fmt: skip
    whole = [*WHOSE, ("t", "b", "MEMORY", "l")]
    expected = sorted(
        (one[0], one[2], f"{one[1]}-{one[3]}")
        for one in whole
        if tenant in {None, one[0]} and agent in {None, one[1]} and kind in {None, one[2]}
    )
    given = {"tenant_id": tenant, "agent_id": agent, "kind": kind}
    found = await knowledge.list(**given)  # type: ignore[arg-type]
    assert sorted((one.tenant_id, one.kind.value, one.id) for one in found) == expected
    pages = PostgresKnowledgePages(pool)
    browsed = await pages.browse(**given, after=None, limit=99)  # type: ignore[arg-type]
    assert [(one.tenant_id, one.kind.value, one.id) for one in browsed] == expected
    if kind is not None:
        page = await pages.page(**given, after=None, limit=99)  # type: ignore[arg-type]
        standing = [one for one in expected if one[2] != "over"]
        assert [
            (one.tenant_id, one.kind.value, one.id) for one in page if one.id != "over"
        ] == standing
    is_of_a = tenant in {None, "t"} and agent in {None, "a"} and kind in {None, MEMORY}
    ended = await knowledge.list(**given, expired=True)  # type: ignore[arg-type]
    assert [one.id for one in ended] == (["over"] if is_of_a else [])
    old = await pages.browse(**given, after=None, limit=9, expired=True)  # type: ignore[arg-type]
    assert [one.id for one in old] == (["over"] if is_of_a else [])


async def test_pages_follow_each_other_by_tenant_kind_and_id(pool: Pool) -> None:
    await put_all(pool, *ALL, *SKILLS)
    pages = PostgresKnowledgePages(pool)
    whose: dict[str, None] = {"tenant_id": None, "agent_id": None}
    seen: list[tuple[str, str, str]] = []
    while True:
        after = seen[-1] if seen else None
        page = await pages.browse(**whose, kind=None, after=after, limit=5)
        if not page:
            break
        seen += [(one.tenant_id, one.kind.value, one.id) for one in page]
    assert seen == sorted(seen)
    assert len(seen) == len(WHOSE) + 4
    first = await pages.page(MEMORY, **whose, after=None, limit=3)
    rest = await pages.page(MEMORY, **whose, after=first[-1], limit=99)
    found = [(one.tenant_id, one.id) for one in (*first, *rest)]
    assert found == [(t, f"{a}-{i}") for t, a, i in product("tu", "ab", "mn")]


async def test_skills_are_listed_with_their_last_change(
    pool: Pool, knowledge: PostgresKnowledge
) -> None:
    await put_all(
        pool, *SKILLS, version("t", "a", "MEMORY", "m"),
        change("c1", relationship="EXTENDS"), change("c2", relationship="REFINES"), change("c3"),
        change("c4"),
        history("c1", 1), history("c2", 2), history("c3", 3, status="failed"),
        history("c4", 4, knowledge_id="ship", operation="DELETE"),
    )  # fmt: skip
    pages = PostgresKnowledgePages(pool)
    for tenant, agent, expected in (
        (None, None, ["t pay", "t ship", "u pay", "u ship"]), ("t", None, ["t pay", "t ship"]),
        (None, "ta", ["t pay"]), ("t", "tb", ["t ship"]), ("u", "ua", ["u ship"]), ("u", "ub", []),
        ("t", "ua", []),
    ):  # fmt: skip
        given = {"tenant_id": tenant, "agent_id": agent, "kind": SKILL}
        listed = await knowledge.list(**given)  # type: ignore[arg-type]
        assert sorted(f"{one.tenant_id} {one.id}" for one in listed) == expected
        browsed = await pages.browse(**given, after=None, limit=9)  # type: ignore[arg-type]
        assert [one.excerpt for one in browsed] == expected
    pay = next(one for one in await knowledge.list(tenant_id="t", agent_id=None, kind=SKILL))
    assert (pay.id, pay.version, pay.change_id, pay.feedback_id) == ("pay", 2, "c2", "f2")
    shown = await pages.browse(tenant_id="t", agent_id=None, kind=None, after=None, limit=9)
    assert [(one.id, one.version, one.change_id, one.excerpt) for one in shown] == [
        ("a-m", 1, "taMEMORYm", "doc"), ("pay", 2, "c2", "t pay"), ("ship", 1, None, "t ship"),
    ]  # fmt: skip
    assert (shown[1].relationship, shown[1].valid_from) == ("REFINES", AT + 2 * DAY)
    assert await knowledge.list(tenant_id="t", agent_id=None, kind=SKILL, expired=True) == []


def archived(item: str, **more: object) -> Row:
    row: dict[str, object] = {
        "id": f"p-{item}", "tenant_id": "t", "agent_id": "a", "kind": "MEMORY", "item_id": item,
        "action": "archive", "status": "accepted", "change_id": f"c-{item}",
    }  # fmt: skip
    return "proposals", row | more


def put_away(item: str, *, kind: str = "MEMORY", **more: object) -> list[Row]:
    """Return an item that a person put away, and what would keep it from being listed."""
    gone = {"valid_to": AT + DAY, "item_id": item, "content": f"text of {item}"}
    rows: list[Row] = [archived(item, kind=kind)]
    rows.append(change(f"c-{item}", target_id=item, kind=kind, operation="DELETE"))
    return [*rows, version("t", "a", kind, item, **gone | more)]


async def away(pool: Pool, **given: object) -> list[str]:
    asked: dict[str, object] = {"tenant_id": None, "agent_id": None, "kind": None, "after": None}
    pages = PostgresKnowledgePages(pool)
    found = await pages.browse(**asked | {"limit": 9} | given, archived=True)  # type: ignore[arg-type]
    return [one.id for one in found]


async def test_what_a_person_put_away_is_listed_until_it_comes_back(pool: Pool) -> None:
    later = {"applied_at": AT + 2 * DAY, "key": "later"}
    await put_all(
        pool, *put_away("m"), *put_away("table", kind="DMN_RULE"),
        *put_away("back", valid_to=None), *put_away("erased", content="[erased]"),
        *put_away("since"), change("x1", target_id="since", **later),
        *put_away("not-since"),
        change("x2", target_id="not-since", **later | {"key": "2", "status": "failed"}),
        change("x3", target_id="not-since", **later | {"key": "3", "tenant_id": "u"}),
        change("x4", target_id="not-since", **later | {"key": "4", "kind": "DMN_RULE"}),
        change("x5", target_id="not-since", key="5", applied_at=AT - DAY),
        *put_away("waits")[1:], archived("waits", status="waiting"),
        *put_away("rewrite")[1:], archived("rewrite", action="rewrite"),
        *put_away("undone")[::2], change("c-undone", target_id="undone", status="reverted"),
        *put_away("before", version=1), version("t", "a", "MEMORY", "before", item_id="before",
                                                version=2, name="newest", valid_to=AT + DAY),
    )  # fmt: skip
    assert await away(pool) == ["table", "before", "m", "not-since"]
    assert await away(pool, kind=MEMORY) == ["before", "m", "not-since"]
    assert await away(pool, agent_id="b") == []
    assert await away(pool, tenant_id="u") == []
    assert await away(pool, limit=1) == ["table"]
    assert await away(pool, after=("t", "MEMORY", "before")) == ["m", "not-since"]
    pages = PostgresKnowledgePages(pool)
    given = {"tenant_id": "t", "agent_id": "a", "kind": MEMORY}
    first, second, _ = await pages.browse(**given, after=None, limit=9, archived=True)  # type: ignore[arg-type]
    assert (first.name, first.version) == ("newest", 2)
    assert (second.excerpt, second.archived_at, second.change_id) == ("text of m", AT, "c-m")


async def test_a_skill_is_away_while_it_is_off_the_list(pool: Pool) -> None:
    def drops(name: str, number: int, before: str, **more: object) -> Row:
        state = {"before": {"content": before}, "kind": "AGENT_SKILLS", "target_id": "ta"}
        return change(name, **state | {"applied_at": AT + number * DAY} | more)

    skill = {"kind": "SKILL", "agent_id": "ta"}
    await put_all(
        pool, *SKILLS, archived("pay", **skill), archived("ship", **skill),
        archived("none", **skill), drops("c-pay", 1, "pay\nship"), drops("c-ship", 1, "ship"),
        drops("c-none", 1, "none"), drops("other", 2, "load"),
    )  # fmt: skip
    assert await away(pool) == ["ship"]  # pay is on the list, none is no skill any more
    await put_all(pool, drops("again", 3, "load\nship"))
    assert await away(pool) == []


async def test_what_was_known_at_a_time_is_that_version(
    pool: Pool, knowledge: PostgresKnowledge
) -> None:
    def of(tenant: str, kind: str, item: str) -> list[Row]:
        return [
            version(tenant, "a", kind, item, version=n, content=f"{tenant} {kind} {item} {n}",
                    valid_from=AT + n * DAY, valid_to=AT + (n + 1) * DAY if n < 3 else None)
            for n in (1, 2, 3)
        ]  # fmt: skip

    rows = [row for one in product("tu", ("MEMORY", "DMN_RULE"), "mn") for row in of(*one)]
    await put_all(pool, *rows)
    for days, number in ((1, 1), (1.5, 1), (2, 2), (3, 3), (99, 3)):
        item, _ = await knowledge.as_of(RULE, "u", "a-m", AT + days * DAY)
        assert item.content == f"u DMN_RULE m {number}"
    with pytest.raises(NotFound):
        await knowledge.as_of(RULE, "u", "a-m", AT)
    versions = await knowledge.versions(MEMORY, "t", "a-n")
    assert [one.content for one in versions] == [f"t MEMORY n {n}" for n in (1, 2, 3)]
    past = PostgresKnowledgePast(pool)
    item, _ = await past.version(MEMORY, "u", "a-n", 2)
    assert item.content == "u MEMORY n 2"
    with pytest.raises(NotFound):
        await past.version(MEMORY, "u", "a-n", 4)
    last = await past.last("a-m", tenant_id=None, kind=None)
    assert [(one.tenant_id, one.kind, one.version) for one in last] == [
        ("t", RULE, 3), ("t", MEMORY, 3), ("u", RULE, 3), ("u", MEMORY, 3),
    ]  # fmt: skip
    assert [one.tenant_id for one in await past.last("a-m", tenant_id="u", kind=RULE)] == ["u"]


async def test_a_skill_as_it_was_is_read_from_its_history(
    pool: Pool, knowledge: PostgresKnowledge
) -> None:
    await put_all(
        pool, *(change(f"c{n}") for n in range(1, 7)), history("c1", 1, new_content="one"),
        history("c2", 2, new_content="two"), history("c3", 3, operation="DELETE"),
        history("c4", 4, new_content="four", operation="CREATE"),
        history("c5", 5, new_content="foreign", tenant_id="u"),
        history("c6", 6, new_content="other", knowledge_id="ship"),
    )  # fmt: skip
    versions = await knowledge.versions(SKILL, "t", "pay")
    assert [(one.version, one.content) for one in versions] == [(1, "one"), (2, "two"), (3, "four")]
    for days, content in ((1, "one"), (2.5, "two"), (4, "four"), (9, "four")):
        item, _ = await knowledge.as_of(SKILL, "t", "pay", AT + days * DAY)
        assert item.content == content
    for days in (0, 3):
        with pytest.raises(NotFound):
            await knowledge.as_of(SKILL, "t", "pay", AT + days * DAY)
    past = PostgresKnowledgePast(pool)
    assert (await past.version(SKILL, "t", "pay", 3))[0].content == "four"
    assert (await past.version(SKILL, "u", "pay", 1))[0].content == "foreign"
    last = await past.last("pay", tenant_id=None, kind=None)
    assert [(one.tenant_id, one.version) for one in last] == [("t", 3), ("u", 1)]
    last = await past.last("ship", tenant_id=None, kind=None)
    assert [(one.tenant_id, one.id, one.version) for one in last] == [("t", "ship", 1)]


async def test_how_an_item_came_about_is_told_in_order(pool: Pool) -> None:
    of = {"knowledge_type": "MEMORY", "knowledge_id": "a-m"}
    await put_all(
        pool, change("taMEMORYm", reason="why", relationship="EXTENDS"), change("c2"), change("c3"),
        change("c4"), change("c5"), change("c6"), change("c7"),
        version("t", "a", "MEMORY", "m", version=7, valid_from=AT + DAY / 2),
        version("u", "a", "MEMORY", "m", change_id="c2", version=9),
        ("feedback", {"id": "f1", "source_id": "1", "tenant_id": "t", "author": "kim"}),
        ("feedback", {"id": "f2", "source_id": "2", "tenant_id": "u", "author": "lee"}),
        history("taMEMORYm", 1, **of), history("c2", 2, **of),
        history("c3", 3, **of | {"operation": "DELETE"}),
        history("c4", 4, **of | {"status": "reverted"}),
        history("c5", 5, **of | {"status": "failed"}),
        history("c6", 6, **of | {"tenant_id": "u"}),
        history("c7", 7, **of | {"knowledge_type": "DMN_RULE"}),
    )  # fmt: skip
    lineage = PostgresLineage(pool)
    made = await lineage.made(MEMORY, "t", "a-m", limit=9, max_bytes=1000)
    assert [one.by.change_id for one in made] == ["taMEMORYm", "c2", "c3", "c4"]
    assert [one.version for one in made] == [7, 2, None, 3]
    assert [one.takes_back for one in made] == [False, False, False, True]
    assert [one.valid_from for one in made] == [
        AT + DAY / 2,
        AT + 2 * DAY,
        AT + 3 * DAY,
        AT + 4 * DAY,
    ]
    assert [one.valid_to for one in made] == [None, AT + 3 * DAY, AT + 4 * DAY, None]
    first, second = made[:2]
    assert (first.by.author, first.by.reason) == ("kim", "why")
    assert second.by.author is None
    assert first.before is not None
    assert first.after is not None
    assert (first.before.content, first.after.content) == ("old", "new")
    short = await lineage.made(MEMORY, "t", "a-m", limit=2, max_bytes=0)
    assert [(one.by.change_id, one.after) for one in short] == [("c3", None), ("c4", None)]
    little = await lineage.made(MEMORY, "t", "a-m", limit=9, max_bytes=13)
    assert [one.by.change_id for one in little] == ["c3", "c4"]
    least = await lineage.made(MEMORY, "t", "a-m", limit=9, max_bytes=1)
    assert [one.by.change_id for one in least] == ["c4"]


async def test_what_stands_is_told_by_whose_words_taught_it(pool: Pool) -> None:
    of = {"knowledge_type": "MEMORY", "knowledge_id": "a-m"}
    await put_all(
        pool, *ALL, *SKILLS, *(change(f"c{n}") for n in range(1, 7)),
        change("c7", status="reverted"), *(change(f"c{n}") for n in range(8, 13)),
        ("feedback", {"id": "f1", "source_id": "1", "tenant_id": "t", "author": "kim"}),
        history("c1", 1, **of), history("c2", 2, **of | {"feedback_id": "f1"}),
        history("c3", 3), history("c4", 4, **of | {"knowledge_id": "gone"}),
        history("c5", 5, **of | {"feedback_id": None}),
        history("c6", 6, **of | {"status": "reverted"}),
        history("c7", 7, **of), history("c8", 8, **of | {"agent_id": "b", "knowledge_id": "b-m"}),
        history("c9", 9, knowledge_id="gone"), history("c10", 10, **of | {"tenant_id": "u"}),
        history("c11", 11, **of | {"knowledge_type": "DMN_RULE", "feedback_content": "x" * 400}),
    )  # fmt: skip
    lineage = PostgresLineage(pool)
    found = await lineage.taught("t", agent_id=None, limit=9)
    assert [(one.change_id, one.item_id, one.author) for one in found] == [
        ("c11", "a-m", None), ("c8", "b-m", None), ("c3", "pay", None), ("c2", "a-m", "kim"),
    ]  # fmt: skip
    assert (len(found[0].words), found[3].words) == (300, "words 2")
    assert [one.change_id for one in await lineage.taught("t", agent_id="b", limit=9)] == ["c8"]
    assert len(await lineage.taught("t", agent_id=None, limit=1)) == 1
    counts = await lineage.counts("u")
    assert [(one.agent_id, one.kind, one.count) for one in counts] == [
        (a, k, 2) for a, k in product("ab", (RULE, MEMORY))
    ]

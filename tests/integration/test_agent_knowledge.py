"""What one agent may use of what is known, and what is put on record of that."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from core.app.bootstrap.stores import utc_now
from core.domain.errors import Forbidden, InvalidInput, NotFound
from core.domain.models.access import Principal, Role
from core.domain.models.effect import EffectFilter
from core.domain.models.uses import UsedItem
from core.entrypoints.service.agent_knowledge import (
    MOST_HITS,
    MOST_INPUT,
    MOST_NOTE,
    MOST_QUERY,
    MOST_USED,
    AgentKnowledge,
)
from core.entrypoints.service.session import Session
from tests.support.api import EVERYTHING, Api, one_of, opened_api
from tests.support.learning import Teacher
from tests.support.seeding import AT, put_all

REFUND = "Refunds of damaged parcels are paid within 3 days"
REPORT = "The weekly report goes to Ms. Kim on Fridays"


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path, review_policy="auto") as opened:
        yield opened


def of(api: Api, who: Principal = EVERYTHING, tenant_id: str | None = "t") -> AgentKnowledge:
    return AgentKnowledge(Session(api.app, who), tenant_id)


def agent(agent_id: str, tenant_id: str = "t") -> Principal:
    roles = frozenset({Role.READ})
    return Principal(token_id="3", name="x", tenant_id=tenant_id, agent_id=agent_id, roles=roles)


async def effects(api: Api) -> dict[tuple[str, str], tuple[int, int]]:
    await api.app.uses.flush()
    found = await api.app.stores.effects.items(EffectFilter(), after=None, limit=50)
    return {(one.agent_id, one.item_id): (one.shown, one.opened) for one in found}


async def test_an_agent_finds_its_own_memories_and_that_is_on_record(api: Api) -> None:
    mine = str((await Teacher(api.app).memory(REFUND)).target_id)
    await Teacher(api.app, agent_id="b").memory(REPORT)
    knowledge = of(api)
    found = await knowledge.search_memories("a", "damaged parcels refunds")
    assert [(one.id, one.content, one.version) for one in found.items] == [(mine, REFUND, 1)]
    assert 0 < found.items[0].score <= 1
    assert found.items[0].taught_at is not None
    assert (await knowledge.search_memories("b", "damaged parcels refunds")).items == ()
    assert (await effects(api))["a", mine] == (1, 0)
    by_itself = of(api, agent("a"), None)
    assert len((await by_itself.search_memories(None, "damaged parcels")).items) == 1
    with pytest.raises(NotFound):
        await by_itself.search_memories("b", "damaged parcels")
    with pytest.raises(NotFound):
        await of(api, one_of("u"), None).search_memories("a", "damaged parcels")
    with pytest.raises(Forbidden):
        await of(api, one_of("t", Role.SUBMIT), None).search_memories("a", "damaged parcels")
    with pytest.raises(InvalidInput):
        await of(api).search_memories(None, "damaged parcels")


@pytest.mark.parametrize(
    ("query", "limit"),
    [("x" * (MOST_QUERY + 1), 5), ("parcels", 0), ("parcels", MOST_HITS + 1), ("?!", 5)],
)
async def test_a_question_that_cannot_be_asked_is_refused(api: Api, query: str, limit: int) -> None:
    with pytest.raises(InvalidInput):
        await of(api).search_memories("a", query, limit)


async def test_the_longest_question_and_most_hits_are_allowed(api: Api) -> None:
    longest = ("parcels " * MOST_QUERY)[:MOST_QUERY]
    assert (await of(api).search_memories("a", longest, MOST_HITS)).items == ()
    assert (await of(api).search_memories("a", "parcels", 1)).items == ()


async def test_a_table_decides_by_its_name_or_id_and_tells_by_which_row(api: Api) -> None:
    table = str((await Teacher(api.app).rule((">= 100", "lead"), ("< 100", "clerk"))).target_id)
    knowledge = of(api)
    for name in ("approval", "APPROVAL", table):
        decided = await knowledge.evaluate_decision("a", name, {"amount": 7})
        assert (decided.id, decided.name, decided.version) == (table, "approval", 1)
        assert (decided.output, decided.missing) == ({"approver": "clerk"}, ())
        assert [row.counts for row in decided.matched] == [True]
    missing = await knowledge.evaluate_decision("a", "approval", {})
    assert [(one.name, one.type) for one in missing.missing] == [("amount", "number")]
    assert (missing.id, missing.version, missing.matched) == (table, 1, ())
    assert (await effects(api))["a", table] == (0, 3)
    listed = await knowledge.tables("a")
    assert [(one.id, one.name, one.version) for one in listed] == [(table, "approval", 1)]
    assert listed[0].inputs == {"amount": "number"}
    assert [*listed[0].outputs] == ["approver"]
    assert await knowledge.tables("b") == []
    with pytest.raises(NotFound) as none:
        await knowledge.evaluate_decision("b", "approval", {"amount": 7})
    with pytest.raises(NotFound) as other:
        await knowledge.evaluate_decision("a", "another", {"amount": 7})
    assert none.value.hint.code == "use.no_tables"  # type: ignore[union-attr]
    assert "approval" in other.value.hint
    with pytest.raises(InvalidInput):
        await knowledge.evaluate_decision("a", "approval", {"amount": "x" * MOST_INPUT})


async def test_a_table_that_cannot_be_read_is_left_out_of_a_list(api: Api) -> None:
    broken = {"tenant_id": "t", "agent_id": "a", "kind": "DMN_RULE", "item_id": "broken"}
    await put_all(api.app.stores.pool, ("knowledge_versions", broken | {"content": "<"}))
    assert await of(api).tables("a") == []


async def test_skills_on_the_list_are_shown_page_by_page(api: Api) -> None:
    teacher = Teacher(api.app)
    for name in ("load", "pay", "ship"):
        await teacher.skill(name, f"# {name}\n", {"notes.md": b"more\n", "a.bin": b"\0\xff"})
    await teacher.skill("pay", "# pay\n\nTwice.\n", {"notes.md": b"more\n"}, new=False)
    knowledge = of(api)
    whole = await knowledge.skills("a")
    assert [(one.name, one.version) for one in whole.items] == [
        ("load", 1),
        ("pay", 2),
        ("ship", 1),
    ]
    assert whole.next is None
    first = await knowledge.skills("a", limit=2)
    assert ([one.name for one in first.items], first.next) == (["load", "pay"], "pay")
    rest = await knowledge.skills("a", after="pay", limit=2)
    assert ([one.name for one in rest.items], rest.next) == (["ship"], None)
    assert (await knowledge.skills("a", limit=3)).next is None
    assert (await knowledge.skills("b")).items == ()
    pay = await knowledge.skill("a", "pay")
    assert (pay.id, pay.description, pay.version) == ("pay", "How to pay.", 2)
    assert len(pay.digest) == 64
    document = await knowledge.load_skill("a", "pay")
    assert (document.path, document.base64, document.version) == ("SKILL.md", None, 2)
    assert "Twice." in (document.text or "")
    notes = await knowledge.load_skill("a", "ship", "notes.md")
    assert (notes.path, notes.text) == ("notes.md", "more\n")
    data = await knowledge.load_skill("a", "ship", "a.bin")
    assert (data.text, data.base64) == (None, "AP8=")
    assert (await effects(api))["a", "ship"] == (0, 2)
    assert (await effects(api))["a", "load"] == (0, 0)
    with pytest.raises(NotFound) as file:
        await knowledge.load_skill("a", "ship", "none.md")
    assert "SKILL.md, a.bin, notes.md" in file.value.hint
    with pytest.raises(NotFound) as other:
        await knowledge.load_skill("b", "ship")
    assert other.value.hint == ""
    with pytest.raises(NotFound) as unknown:
        await knowledge.skill("a", "none")
    assert "load, pay, ship" in unknown.value.hint


async def test_a_file_of_a_skill_that_is_no_text_is_given_in_base64(api: Api) -> None:
    files = {"zero.bin": b"a\0", "latin.txt": b"caf\xe9", "utf8.txt": "café".encode()}
    await Teacher(api.app).skill("pay", "# pay\n", files)
    read = {path: await of(api).load_skill("a", "pay", path) for path in files}
    assert {path: (one.text, one.base64) for path, one in read.items()} == {
        "zero.bin": (None, "YQA="),
        "latin.txt": (None, "Y2Fm6Q=="),
        "utf8.txt": ("café", None),
    }


async def test_an_outcome_counts_for_what_stands_and_is_the_agents(api: Api) -> None:
    mine = str((await Teacher(api.app).memory(REFUND)).target_id)
    other = str((await Teacher(api.app, agent_id="b").memory(REPORT)).target_id)
    await Teacher(api.app).skill("pay", "# pay\n")
    await put_all(
        api.app.stores.pool,
        ("knowledge_versions", {"tenant_id": "t", "agent_id": "a", "kind": "MEMORY",
                                "item_id": "gone", "valid_from": AT, "valid_to": AT}),
        ("knowledge_versions", {"tenant_id": "t", "agent_id": "b", "kind": "MEMORY",
                                "item_id": "gone-b", "valid_from": AT, "valid_to": AT}),
    )  # fmt: skip
    used = [UsedItem(id=mine), UsedItem(id=mine, version=1), UsedItem(id=mine, version=2),
            UsedItem(id="pay"), UsedItem(id=other), UsedItem(id="gone"), UsedItem(id="gone-b"),
            UsedItem(id="never")]  # fmt: skip
    now = utc_now() - timedelta(minutes=5)
    knowledge = AgentKnowledge(Session(api.app, EVERYTHING), "t", now=lambda: now)
    note = "It went with the key ghp_0123456789abcdefghijABCDEFGHIJ012345"
    taken = await knowledge.report_outcome("a", used, True, note)
    assert [(one.id, one.version) for one in taken.kept] == [(mine, 1), ("pay", 1)]
    assert [(one.id, one.version, one.reason.code) for one in taken.refused] == [  # type: ignore[union-attr]
        (mine, 2, "use.no_version"), (other, None, "use.not_known"), ("gone", None, "use.gone"),
        ("gone-b", None, "use.not_known"), ("never", None, "use.not_known"),
    ]  # fmt: skip
    found = await api.app.stores.effects.items(EffectFilter(), after=None, limit=50)
    ends = {one.item_id: (one.used, one.ended.success) for one in found}
    assert (ends[mine], ends["pay"], ends[other]) == ((1, 1), (1, 1), (0, 0))
    nothing = await knowledge.report_outcome("a", [UsedItem(id="never")], False)
    assert nothing.kept == ()
    await knowledge.report_outcome("a", [], False)
    async with api.app.stores.pool.connection() as conn:
        rows = await (await conn.execute(b"SELECT * FROM outcomes ORDER BY id")).fetchall()
    assert [(row["success"], row["at"]) for row in rows] == [(True, now), (False, now)]
    assert "ghp_" not in rows[0]["note"]
    assert "It went with" in rows[0]["note"]
    assert rows[1]["note"] == ""


@pytest.mark.parametrize(("used", "note"), [(MOST_USED + 1, None), (1, "x" * (MOST_NOTE + 1))])
async def test_an_outcome_of_too_much_is_refused(api: Api, used: int, note: str | None) -> None:
    with pytest.raises(InvalidInput):
        await of(api).report_outcome("a", [UsedItem(id=f"m{n}") for n in range(used)], True, note)
    at_most = [UsedItem(id=f"m{n}") for n in range(MOST_USED)]
    taken = await of(api).report_outcome("a", at_most, True, "x" * MOST_NOTE)
    assert len(taken.refused) == MOST_USED


async def test_what_an_agent_was_told_comes_in_as_feedback_about_it(api: Api) -> None:
    submits = one_of("t", Role.READ, Role.SUBMIT)
    taken = await of(api, submits, None).give_feedback("a", "Not so fast", "a refund")
    piece = await api.app.stores.inbox.get(taken.id)
    assert (piece.content, piece.task, piece.agent_ids, piece.tenant_id) == (
        "Not so fast", "a refund", ("a",), "t",
    )  # fmt: skip
    plain = await of(api, submits, None).give_feedback("a", "Faster")
    assert (await api.app.stores.inbox.get(plain.id)).task == ""
    with pytest.raises(Forbidden):
        await of(api, one_of("t", Role.READ), None).give_feedback("a", "Not so fast")

"""Knowledge import: each line once, through the gate, and never over what it would lose."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import psycopg
import pytest
from pydantic import SecretStr

from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.hashing import same_key
from core.domain.input_formats.feedback import Problem
from core.domain.models import (
    ChangeStatus,
    HistoryFilter,
    Kind,
    MemoryRequest,
    Operation,
    Relationship,
    SubmitContext,
)
from core.knowledge.transfer.importer import Imported
from tests.support.importing import AGENTS, Line, Place, short

MEMORY: Line = {"kind": "MEMORY", "tenant_id": "t", "agent_id": "a", "content": "금액은 원 단위"}


@pytest.fixture
def settings(database: str, tmp_path: Path) -> Settings:
    return load_settings({"skill_worker_home": tmp_path}, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )


@pytest.fixture
async def place(settings: Settings) -> AsyncIterator[Place]:
    async with open_app(settings) as app:
        for agent in AGENTS:
            await app.stores.agents.save(agent)
        yield Place(app)


def rule(amount: str, **more: str) -> Line:
    table: Line = {
        "inputs": [{"name": "amount", "type": "number"}],
        "outputs": [{"name": "by", "type": "string"}],
        "rows": [{"inputs": {"amount": amount}, "outputs": {"by": '"manager"'}}],
    }
    return {"kind": "DMN_RULE", "agent_id": "a", "name": "approval", "rule": table, **more}


async def test_good_lines_go_in_and_bad_ones_are_named_in_their_order(place: Place) -> None:
    results = await place.take(
        MEMORY,
        b"",
        b"{oops",
        {**MEMORY, "agent_id": "nobody"},
        {**MEMORY, "agent_id": "c"},
        {"kind": "MEMORY", "agent_id": "c", "content": "its tenant is the agent's"},
        {"kind": "MEMORY", "tenant_id": "t", "content": "whose?"},
    )
    assert [result.line for result in results] == [1, 3, 4, 5, 6, 7]
    assert short(results)[2:4] == [
        "there is no agent 'nobody' (add it first: `skill-worker agents add`)",
        "agent 'c' does not belong to tenant 't'",
    ]
    assert "agent_id is missing" in short(results)[5]
    assert await place.contents() == sorted(["금액은 원 단위", "its tenant is the agent's"])


async def test_a_change_says_which_line_it_came_from(place: Place) -> None:
    await place.take(b"", MEMORY)
    (change,) = await place.changes()
    assert change.reason == "brought in from test.jsonl, line 2"
    assert change.relationship is Relationship.UNRELATED


async def test_the_first_line_that_says_a_thing_is_the_one_that_counts(place: Place) -> None:
    first = {**MEMORY, "content": "Reports are in PDF.", "id": "mine"}
    results = await place.take(first, {**MEMORY, "content": "reports  are in PDF."}, first)
    assert short(results) == ["created", "known", "known"]
    assert {r.id for r in results if isinstance(r, Imported)} == {"mine"}
    assert await place.contents() == ["Reports are in PDF."]


async def test_repeating_an_import_changes_nothing_wherever_its_lines_stand(place: Place) -> None:
    await place.take(MEMORY, rule("> 5"))
    again = await place.take(b"", rule("> 5"), MEMORY)
    assert short(again) == ["known", "known"]
    assert len(await place.changes()) == 2


async def test_lines_that_differ_in_the_case_of_a_path_or_unit_are_two(
    place: Place, database: str
) -> None:
    said = ["logs go to /data/A", "logs go to /data/a", "dose is 5 mg", "dose is 5 Mg"]
    assert short(await place.take(*memories(said))) == ["created"] * 4
    assert await place.contents() == sorted(said)
    # As an earlier version stored it, which folded all case.
    async with await psycopg.AsyncConnection.connect(database) as conn:
        await conn.execute("DELETE FROM knowledge_versions WHERE content = %s", [said[1]])
        await conn.execute(
            "UPDATE knowledge_versions SET same_key = %s WHERE content = %s",
            [same_key(said[1]), said[0]],
        )
    asked = Kind.MEMORY, "t", "a"
    found = await place.app.stores.knowledge.find_same(*asked, said[0])
    assert found is not None
    assert found.content == said[0]
    assert await place.app.stores.knowledge.find_same(*asked, said[1]) is None


async def test_what_was_deleted_since_comes_back(place: Place) -> None:
    (first,) = await place.take({**MEMORY, "id": "mine"})
    for key in ("once", "twice"):
        request = MemoryRequest(operation=Operation.DELETE, target_id="mine")
        await place.app.gate.submit(request, SubmitContext(key=key, tenant_id="t", agent_id="a"))
        assert await place.contents() == []
        assert short(await place.take({**MEMORY, "id": "mine"})) == ["created"]
    versions = await place.app.stores.knowledge.versions(Kind.MEMORY, "t", "mine")
    assert len(versions) == 3
    assert isinstance(first, Imported)
    assert first.id == "mine"


async def test_what_was_reverted_comes_back(place: Place) -> None:
    await place.take(MEMORY)
    await place.app.revert((await place.changes())[0].id, "wrong")
    assert short(await place.take(MEMORY)) == ["created"]
    assert await place.contents() == [MEMORY["content"]]


async def test_what_was_improved_since_is_left_as_it_is(place: Place) -> None:
    await place.take({**MEMORY, "id": "mine"})
    request = MemoryRequest(
        operation=Operation.UPDATE, target_id="mine", content="금액은 원 단위, 쉼표와 함께"
    )
    await place.app.gate.submit(request, SubmitContext(key="k", tenant_id="t", agent_id="a"))
    assert short(await place.take({**MEMORY, "id": "mine"})) == ["known"]
    assert await place.contents() == ["금액은 원 단위, 쉼표와 함께"]
    assert short(await place.take({**MEMORY, "id": "mine"}, replace=True)) == ["updated"]
    assert short(await place.take({**MEMORY, "id": "mine"}, replace=True)) == ["known"]
    assert await place.contents() == [MEMORY["content"]]


async def test_an_id_that_says_other_things_is_refused_unless_told_to_replace(place: Place) -> None:
    await place.take({**MEMORY, "id": "mine"})
    other = {**MEMORY, "id": "mine", "content": "something else"}
    assert "--replace puts this in its place" in short(await place.take(other))[0]
    of_another = {**other, "agent_id": "b"}
    assert "belongs to agent 'a'" in short(await place.take(of_another, replace=True))[0]
    assert short(await place.take(other, replace=True)) == ["updated"]
    assert await place.contents() == ["something else"]


async def test_a_rule_name_that_is_taken_is_refused_unless_told_to_replace(place: Place) -> None:
    results = await place.take(rule("> 5"), rule("> 7"))
    assert short(results)[0] == "created"
    assert "the name 'approval' is taken by DMN_RULE" in short(results)[1]
    assert short(await place.take(rule("> 7"), replace=True)) == ["updated"]
    (xml,) = await place.contents()
    assert "&gt; 7" in xml
    assert "&gt; 5" not in xml


async def test_a_rule_is_called_as_its_line_says(place: Place) -> None:
    await place.take(rule("> 5"))
    (line,) = await place.give(Kind.DMN_RULE)
    (result,) = await place.take({**line, "name": "other"})
    assert "name is 'other', but the rule itself says 'approval'" in short([result])[0]


async def test_a_refused_rule_names_its_rows_by_their_place_in_the_line(place: Place) -> None:
    table: Line = {
        "inputs": [{"name": "amount", "type": "number"}],
        "rows": [
            {"inputs": {"amount": test}, "outputs": {"by": f'"{by}"'}}
            for test, by in (("> 5", "manager"), ("> 9", "director"))
        ],
    }
    (refused,) = short(await place.take(rule("1", rule=table)))  # type: ignore[arg-type]
    assert refused.startswith("rows 1 and 2 both match where amount = 10")
    (refused,) = short(await place.take(rule("> > 5")))
    assert refused.startswith("row 1, input 'amount': FEEL `> > 5`")
    assert refused.endswith("Correct the cells that are named.")


async def test_a_line_that_would_take_another_item_s_name_says_which(place: Place) -> None:
    await place.take(rule("1"), rule("2", id="r2", name="other"))
    (refused,) = short(await place.take(rule("3", id="r2"), replace=True))
    assert "'approval' has this name already: change the line or take it out" in refused


async def test_a_dry_run_says_what_would_be_and_stores_nothing(settings: Settings) -> None:
    async with open_app(settings) as app:
        for agent in AGENTS:
            await app.stores.agents.save(agent)
        await Place(app).take(MEMORY)
    async with open_app(settings, dry_run=True) as app:
        lines = (MEMORY, {**MEMORY, "content": "new"}, {**MEMORY, "agent_id": "no"})
        results = await Place(app).take(*lines, dry_run=True)
        assert short(results) == [
            "known",
            "created",
            "there is no agent 'no' (add it first: `skill-worker agents add`)",
        ]
        assert await Place(app).contents() == [MEMORY["content"]]


SAID = {"kind": "MEMORY", "agent_id": "a"}
IN_EACH_OTHERS_WAY: tuple[Line, ...] = (
    {**SAID, "id": "m1", "content": "송장에는 부가세를 따로 적는다"},
    {**SAID, "id": "m1", "content": "회의록은 다음 날까지 올린다"},
    {**SAID, "id": "m1", "content": "송장에는 부가세를 따로 적는다"},
    {**SAID, "id": "m2", "content": "송장에는 부가세를 따로 적는다"},
    {**SAID, "id": "m1", "content": "다른 상담원의 것", "agent_id": "b"},
    {**SAID, "id": "m1", "content": "다른 테넌트의 것", "agent_id": "c"},
    rule("> 5", id="r1"),
    rule("> 7"),
    rule("> 5", name="sign-off"),
    rule("> 9", name="other", id="r1"),
    rule("> 7", agent_id="b"),
)

BESIDE_EACH_OTHER = (
    "created refused known known refused created created refused created refused created"
)
REPLACING = "created updated updated known refused created created updated created updated created"


@pytest.mark.parametrize("replace", [False, True])
async def test_a_dry_run_promises_what_the_import_then_says(
    settings: Settings, replace: bool
) -> None:
    said = []
    for dry_run in (True, False):
        async with open_app(settings, dry_run=dry_run) as app:
            await save_agents(app)
            lines = IN_EACH_OTHERS_WAY
            said.append(await Place(app).take(*lines, replace=replace, dry_run=dry_run))
    assert short(said[0]) == short(said[1])
    assert [len(told) for told in warned(said[0])] == [len(told) for told in warned(said[1])]
    outcomes = [one.outcome if isinstance(one, Imported) else "refused" for one in said[1]]
    assert outcomes == (REPLACING if replace else BESIDE_EACH_OTHER).split()


async def test_all_can_be_given_to_one_agent(place: Place) -> None:
    results = await place.take(MEMORY, {"kind": "MEMORY", "content": "no agent here"}, agent="c")
    assert short(results) == ["created", "created"]
    assert len(await place.contents("c")) == 2
    assert await place.contents("a") == []


async def test_two_imports_at_once_store_each_line_once(place: Place) -> None:
    lines = [{**MEMORY, "content": f"fact {number}"} for number in range(12)]
    both = await asyncio.gather(place.take(*lines), place.take(*lines))
    assert {word for results in both for word in short(results)} <= {"created", "known"}
    assert len(await place.contents()) == 12


async def test_a_skill_that_waits_for_a_list_waits_once_over_many_imports(
    settings: Settings,
) -> None:
    document = "---\nname: refund\ndescription: How to refund. Use it for refunds.\n---\n# R\n"
    line: Line = {"kind": "SKILL", "tenant_id": "t", "agent_id": "a", "name": "refund"}
    line = {**line, "content": document, "other_agent_ids": ["b"]}
    async with open_app(settings) as app:
        for agent in AGENTS:
            await app.stores.agents.save(agent)
        place = Place(app)
        assert short(await place.take({**line, "other_agent_ids": []})) == ["created"]
    async with open_app(settings.model_copy(update={"review_policy": "all"})) as app:
        place = Place(app)
        for _ in range(3):
            assert short(await place.take(b"", line)) == ["known"]
        (attach, _) = await place.changes()
        assert (attach.status, attach.target_id) == (ChangeStatus.HELD, "b")
        await app.gate.decisions.approve(attach.id, by="kim")
        await place.take(line)
        assert len(await place.changes()) == 2
        await app.revert(attach.id, "not for b")
        await place.take(line)
        await place.take(line)
        again, *others = await place.changes()
        assert (again.status, again.target_id, len(others)) == (ChangeStatus.HELD, "b", 3)


WORDINGS = (
    "환불은 배송이 끝난 뒤 7일 안에만 받습니다.",
    "배송이 끝나고 7일이 지나면 환불을 받지 않습니다.",
    "환불은 배송 완료 후 7일 이내에만 가능합니다.",
    "환불은 배송 완료 후 14일 이내에만 가능합니다.",
    "배송 완료 후 7일 이내 환불은 불가능합니다.",
    "환불 신청은 배송이 끝나고 7일까지 받습니다.",
)


def memories(texts: Sequence[str]) -> list[Line]:
    return [{**MEMORY, "content": text} for text in texts]


def warned(results: list[Imported | Problem]) -> list[set[str]]:
    """Return what each line was warned of, without ids."""
    return [{*map(without_ids, r.warnings)} for r in results if isinstance(r, Imported)]


def without_ids(text: str) -> str:
    return re.sub(r"(near MEMORY) \S+", r"\1", text)


async def test_lines_of_one_file_are_compared_with_each_other(place: Place) -> None:
    results = await place.take(*memories(WORDINGS))
    assert short(results) == ["created"] * len(WORDINGS)
    first, *later = warned(results)
    assert not first
    assert all(later)
    (changed,) = (w for w in later[2] if WORDINGS[2][:20] in w)
    assert "number: new says 14일, known says 7일" in changed
    assert any("negation" in told for told in later[3])


@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_file_is_warned_of_as_its_lines_one_by_one(
    settings: Settings, dry_run: bool
) -> None:
    async with open_app(settings, dry_run=dry_run) as app:
        await save_agents(app)
        at_once = warned(await Place(app).take(*memories(WORDINGS), dry_run=dry_run))
    async with open_app(settings) as app:
        one_by_one = []
        for line in memories(WORDINGS):
            one_by_one += warned(await Place(app).take(line, agent="b"))
    assert [len(told) for told in at_once] == [len(told) for told in one_by_one]
    assert [without_places(told) for told in at_once] == [
        without_places(told) for told in one_by_one
    ]


def without_places(told: set[str]) -> set[str]:
    """Return warnings without the place of the line."""
    return {re.sub(r"line \d+", "", text) for text in told}


async def save_agents(app: App) -> None:
    for agent in AGENTS:
        await app.stores.agents.save(agent)


async def test_no_line_is_told_the_secret_of_another(place: Place) -> None:
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
    texts = [
        f"결제는 키 {key} 로 합니다.",
        f"결제는 키 {key} 로 해요.",
        f"결제는 키 {key}1 로 합니다.",
    ]
    first, near, same = await place.take(*memories(texts))
    assert [short([one]) for one in (first, near, same)] == [["created"], ["created"], ["known"]]
    assert warned([near])[0]
    assert key not in repr((first, near, same, *await place.changes()))


async def test_tables_of_one_file_are_compared_with_each_other(place: Place) -> None:
    second = rule("> 7", name="sign-off")
    results = await place.take(rule("> 5"), second)
    assert short(results) == ["created", "created"]
    first, later = warned(results)
    assert not any("same columns" in told for told in first)
    assert any("same columns" in told and "approval" in told for told in later)


async def test_a_long_file_is_compared_as_a_short_one_is(place: Place) -> None:
    others = [
        f"{number}번 창고의 비밀 구호는 {number * 7919}-{number * 31}" for number in range(240)
    ]
    results = await place.take(*memories([WORDINGS[2], *others, WORDINGS[3]]))
    assert set(short(results)) == {"created"}
    assert any("14일" in told for told in warned(results)[-1])
    assert len(await place.contents()) == len(results)
    again = await place.take(*memories([WORDINGS[2], *others, WORDINGS[3]]))
    assert set(short(again)) == {"known"}


async def test_each_line_of_a_set_has_its_own_history(place: Place) -> None:
    await place.take(*memories(WORDINGS))
    history, _ = await place.app.stores.reader.history(HistoryFilter(), limit=50, cursor=None)
    assert {record.new_content for record in history} == {*WORDINGS}
    assert len({change.key for change in await place.changes()}) == len(WORDINGS)
    assert {change.status for change in await place.changes()} == {ChangeStatus.APPLIED}


async def test_a_line_that_waits_for_a_person_leaves_the_others_as_they_are(
    settings: Settings,
) -> None:
    async with open_app(settings.model_copy(update={"review_policy": "risky"})) as app:
        await save_agents(app)
        results = short(await Place(app).take(*memories(["로고는 파란색", *WORDINGS[:2]])))
        assert results == ["created", "created", "held"]
        assert len(await Place(app).contents()) == 2


async def test_later_lines_stand_beside_what_a_line_was_replaced_by(place: Place) -> None:
    old = {**memories([WORDINGS[0]])[0], "id": "own"}
    new = {**old, "content": "출장 숙소는 총무팀이 잡습니다."}
    near = "출장 숙소는 총무팀이 미리 잡습니다."
    results = await place.take(old, new, *memories([WORDINGS[1], near]), replace=True)
    assert short(results) == ["created", "updated", "created", "created"]
    told_of_the_old, told_of_the_new = warned(results)[2:]
    assert not told_of_the_old
    assert any("출장 숙소" in told for told in told_of_the_new)

"""What the read tools return, and what the write tools submit."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from langchain_core.messages import ToolMessage
from pydantic import JsonValue

from core.decision_table import draft_to_table, to_xml
from core.domain.models import (
    NO_USAGE,
    Bundle,
    Hit,
    Kind,
    ListEdit,
    MemoryRequest,
    MergeMode,
    Relationship,
    RuleDraft,
    RuleRequest,
    SkillFile,
    SkillListRequest,
    SkillRequest,
)
from core.domain.text import read_part
from core.react_tools import ANSWER_CHARS
from core.testing.scripted_model import ScriptedChatModel, calls, says
from core.testing.stores import MemoryReplies
from tests.support.react import FEEDBACK, MEMORY, Bench, FixedSearch, item_change

SEOUL = timezone(timedelta(hours=9))
END_OF_MAY = datetime(2026, 5, 31, 14, 59, 59, 999_999, tzinfo=UTC)
END = [calls(("commit_to_memory", MEMORY)), says("끝")]
RULE = {
    "name": "승인",
    "rows": [{"inputs": {"금액": "> 1000000"}, "outputs": {"승인자": '"팀장"'}}],
}


async def answer_to(bench: Bench) -> dict[str, JsonValue]:
    await bench.run()
    message = bench.model.seen[1][-1]
    assert isinstance(message, ToolMessage)
    found = json.loads(message.text)
    assert isinstance(found, dict)
    return found


def detail(kind: str, item_id: str) -> Bench:
    args: dict[str, JsonValue] = {"knowledge_type": kind, "knowledge_id": item_id}
    return Bench([calls(("get_knowledge_detail", args)), *END])


async def test_search_gives_hits_of_the_kind_asked_for() -> None:
    hits = [
        Hit(id="m1", kind=Kind.MEMORY, name="n", excerpt="e", score=0.9),
        Hit(id="s1", kind=Kind.SKILL, name="s1", excerpt="e", score=0.5),
    ]
    search = calls(("search_similar_knowledge", {"content": "x", "knowledge_type": "skill"}))
    found = await answer_to(Bench([search, *END], search=FixedSearch(hits)))
    assert found == {
        "hits": [{"id": "s1", "kind": "SKILL", "name": "s1", "excerpt": "e", "score": 0.5}]
    }


async def test_every_search_of_a_run_is_of_its_tenant_and_agent() -> None:
    turn = calls(
        ("search_similar_knowledge", {"content": "x", "knowledge_type": "DMN_RULE", "limit": 3}),
        ("search_similar_knowledge", {"content": "x"}),
        ("analyze_knowledge_conflict", {"content": "x", "knowledge_type": "MEMORY"}),
    )
    bench = Bench([turn, *END])
    await bench.run()
    assert {(tenant, agent) for tenant, agent, _, _ in bench.search.asked} == {("t1", "a1")}
    first, *later = [(kind, limit) for _, _, kind, limit in bench.search.asked]
    assert first == (None, bench.deps.search_limit)
    assert later == [(Kind.DMN_RULE, 3), (None, 8), (Kind.MEMORY, 5)]


async def test_what_another_tenant_knows_is_not_found() -> None:
    foreign = item_change(Kind.MEMORY, "m1", "이름", "전문").model_copy(update={"tenant_id": "t2"})
    bench = detail("MEMORY", "m1")
    bench.knowledge.write(foreign)
    assert (await answer_to(bench))["status"] == "not_found"
    bench = detail("SKILL", "refund")
    bench.skills.skills["t2", "refund"] = Bundle(name="refund", files={})
    assert (await answer_to(bench))["status"] == "not_found"


async def test_a_memory_is_read_whole() -> None:
    bench = detail("MEMORY", "m1")
    bench.knowledge.write(item_change(Kind.MEMORY, "m1", "이름", "전문"))
    found = await answer_to(bench)
    assert (found["id"], found["content"], found["version"]) == ("m1", "전문", 1)


async def test_a_rule_is_read_as_a_table_with_the_ids_of_its_rows() -> None:
    bench = detail("DMN_RULE", "r1")
    table = draft_to_table(RuleDraft.model_validate(RULE), new_row_id=lambda: "row-1")
    bench.knowledge.write(item_change(Kind.DMN_RULE, "r1", "승인", to_xml(table, decision_id="r1")))
    found = await answer_to(bench)
    assert found["table"] == table.model_dump(mode="json")


async def test_a_skill_is_read_with_all_its_files_binary_ones_by_size() -> None:
    bench = detail("SKILL", "refund")
    bench.skills.skills["t1", "refund"] = Bundle(
        name="refund",
        files={
            "SKILL.md": SkillFile(data="본문".encode()),
            "assets/a.bin": SkillFile(data=b"\xff\x00"),
        },
    )
    found = await answer_to(bench)
    assert found["files"] == {"SKILL.md": "본문", "assets/a.bin": {"binary": True, "bytes": 2}}


async def test_a_long_answer_is_read_on_by_its_handle_to_the_end() -> None:
    long = "".join(f"{line}. 환불 단계\n" for line in range(2500))
    bench = detail("SKILL", "refund")
    bench.skills.skills["t1", "refund"] = Bundle(
        name="refund", files={"SKILL.md": SkillFile(data=long.encode())}
    )
    more = [calls(("read_more", {"handle": "1:0", "offset": ANSWER_CHARS * n})) for n in (1, 2)]
    bench.model = ScriptedChatModel([bench.script[0], *more, *END])
    await bench.run()
    answers = [m.text for m in bench.model.seen[-2] if isinstance(m, ToolMessage)]
    parts = [read_part(answer) for answer in answers]
    assert [part.left for part in parts if part] == [15444, 0]
    assert json.loads("".join(part.text for part in parts if part))["files"]["SKILL.md"] == long
    assert f'15444 left: handle "1:0", offset {ANSWER_CHARS}' in answers[0]
    assert "the answer ends at character 31444" in answers[2]


@pytest.mark.parametrize(("handle", "candidate"), [("1:0", "c2"), ("2:0", "c1"), ("1:0:x", "c1")])
async def test_a_handle_of_another_run_reads_nothing(handle: str, candidate: str) -> None:
    replies = MemoryReplies()
    await replies.put("c1:1:more:1:0", 0, "비밀", NO_USAGE, tenant_id="t1")
    bench = Bench([calls(("read_more", {"handle": handle, "offset": 0})), *END], replies=replies)
    bench.candidate = bench.candidate.model_copy(update={"id": candidate})
    bench.runs.stored[candidate] = bench.candidate
    found = await answer_to(bench)
    assert found["status"] == "refused"
    assert "비밀" not in json.dumps(found)


@pytest.mark.parametrize("kind", ["MEMORY", "DMN_RULE", "SKILL"])
async def test_what_does_not_exist_is_said_to_be_not_found(kind: str) -> None:
    found = await answer_to(detail(kind, "x"))
    assert found == {"status": "not_found", "kind": kind, "id": "x"}


async def test_conflicts_are_looked_for_in_the_nearest_items_and_in_named_ones() -> None:
    ask = calls(
        (
            "analyze_knowledge_conflict",
            {"content": "원 단위", "knowledge_type": "MEMORY", "knowledge_ids": ["m1", "gone"]},
        )
    )
    bench = Bench([ask, *END])
    bench.knowledge.write(item_change(Kind.MEMORY, "m1", "이름", "원 단위"))
    found = await answer_to(bench)
    assert found["not_found"] == ["gone"]
    assert isinstance(found["compared"], list)
    assert isinstance(found["compared"][0], dict)
    assert found["compared"][0]["exact_duplicate"] is True


async def test_a_skill_is_asked_for_without_content_and_with_the_user_s_words() -> None:
    args: dict[str, JsonValue] = {
        "operation": "update",
        "skill_id": "refund",
        "merge_mode": "MERGE",
        "relationship": "extends",
        "relationship_analysis": "3단계 뒤에",
        "related_skill_ids": ["tax", " invoice "],
        "reason": "r",
    }
    bench = Bench([calls(("commit_to_skill", args)), says("끝")])
    await bench.run()
    request, context = bench.gate.submitted[0]
    assert isinstance(request, SkillRequest)
    assert request.artifact is None
    assert (request.target_id, request.merge_mode) == ("refund", MergeMode.EXTEND)
    assert request.relationship is Relationship.EXTENDS
    assert request.related_skill_ids == ("tax", "invoice")
    assert request.relationship_analysis == "3단계 뒤에"
    assert context.feedback_content == FEEDBACK.content


async def test_a_rule_and_an_attachment_are_submitted_as_given() -> None:
    turn = calls(
        ("commit_to_dmn_rule", {"rule": RULE, "operation": "CREATE", "reason": "r"}),
        ("attach_skills_to_agent", {"skill_ids": "a, b", "reason": "r"}),
        ("detach_skills_from_agent", {"skill_ids": ["c", "d"], "reason": "r"}),
    )
    bench = Bench([turn, says("끝")])
    await bench.run()
    rule, attach, detach = (request for request, _ in bench.gate.submitted)
    assert isinstance(rule, RuleRequest)
    assert rule.rule == RuleDraft.model_validate(RULE)
    assert isinstance(attach, SkillListRequest)
    assert (attach.skill_ids, attach.edit) == (("a", "b"), ListEdit.ADD)
    assert isinstance(detach, SkillListRequest)
    assert (detach.skill_ids, detach.edit) == (("c", "d"), ListEdit.REMOVE)


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({}, (None, False, None, None)),
        ({"valid_until": "2026-05-31"}, (END_OF_MAY, False, None, None)),
        ({"valid_until": "2026-05-31T23:59:59.999999+09:00"}, (END_OF_MAY, False, None, None)),
        ({"valid_until": " None "}, (None, True, None, None)),
        ({"valid_until": "", "scope": "", "user": ""}, (None, False, None, None)),
        ({"scope": "USER", "user": "u7"}, (None, False, "user", "u7")),
    ],
)
async def test_a_memory_is_submitted_with_how_long_and_for_whom(
    given: dict[str, JsonValue], asked: tuple[object, ...]
) -> None:
    bench = Bench([calls(("commit_to_memory", {**MEMORY, **given})), says("끝")], zone=SEOUL)
    await bench.run()
    ((request, context),) = bench.gate.submitted
    assert isinstance(request, MemoryRequest)
    stated = (request.valid_until, request.endless, request.scope, request.user)
    assert stated == asked
    assert context.author == FEEDBACK.author


@pytest.mark.parametrize("text", ["2026-02-30", "end of May", "2026-05-31T10:00:00"])
async def test_an_end_that_cannot_be_read_is_refused_with_one_that_can(text: str) -> None:
    bench = Bench([calls(("commit_to_memory", {**MEMORY, "valid_until": text})), *END])
    answer = await answer_to(bench)
    assert answer["status"] == "refused"
    assert "valid_until" in str(answer["message"])
    assert "2026-05-31" in str(answer["message"])

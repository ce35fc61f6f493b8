"""The review view over HTTP: all that is needed to decide, as data, whatever its content."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.adapters.postgres.queries import Pool, transaction
from core.domain.models import (
    AgentFeedback,
    Fence,
    InputColumn,
    LearningCandidate,
    MergeMode,
    NewFeedback,
    Operation,
    OutputColumn,
    Relationship,
    RowEdit,
    RuleDraft,
    RuleRequest,
    SkillListRequest,
    SkillRequest,
    SubmitContext,
    Usage,
)
from tests.support.api import opened_api
from tests.support.examples import at_night
from tests.support.reviewing import SKILL_MD, Reviewing, remember, skill

APART = {"relationship": Relationship.UNRELATED, "reason": "다른 문서의 일이다"}
SCRIPT = "<script>alert('원화')</script><img src=x onerror=alert(1)>"


@pytest.fixture
async def reviewing(database: str, tmp_path: Path) -> AsyncIterator[Reviewing]:
    async with opened_api(database, tmp_path, review_policy="all") as api:
        yield Reviewing(api)


def rule(*rows: tuple[str, str], **given: object) -> RuleRequest:
    """Request a table of rows: condition on an amount, who approves."""
    draft = RuleDraft(
        name="승인 한도",
        inputs=(InputColumn(name="금액", type="number"),),
        outputs=(OutputColumn(name="승인", type="string"),),
        rows=tuple(RowEdit(inputs={"금액": i}, outputs={"승인": f'"{o}"'}) for i, o in rows),
    )
    return RuleRequest.model_validate({"operation": "CREATE", "rule": draft, **given})


async def test_it_tells_the_feedback_what_was_made_of_it_and_why(reviewing: Reviewing) -> None:
    app = reviewing.app
    piece = NewFeedback(
        tenant_id="t", agent_ids=("a",), task="견적", content="원화로 써 주세요", author="이 대리"
    )
    ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
    claimed = await app.stores.inbox.claim(feedback_id)
    assert claimed is not None
    part = LearningCandidate(content="금액은 원화로", intent_hint="통화")
    (candidate,) = await app.stores.runs.save_candidates(
        claimed, [AgentFeedback(agent_id="a", agent_name="A", learning_candidate=part)]
    )
    candidate = await app.stores.runs.start(candidate, 1)
    context = SubmitContext(
        key="k",
        tenant_id="t",
        agent_id="a",
        feedback_id=feedback_id,
        fence=Fence(candidate_id=candidate.id, epoch=candidate.epoch),
    )
    request = remember("금액은 원화로", reason="사용자가 원한다")
    receipt = await app.gate.submit(request, context)
    review_view = await reviewing.review_view(receipt.change_id or "")
    cause, matched, change = review_view["cause"], review_view["matched"], review_view["change"]
    assert (cause["content"], cause["author"], cause["task"]) == (
        "원화로 써 주세요",
        "이 대리",
        "견적",
    )
    assert (matched["content"], matched["intent_hint"]) == ("금액은 원화로", "통화")
    assert matched["usage"]["model_calls"] == Usage().model_calls
    assert (change["reason"], change["held"]) == ("사용자가 원한다", ["every change is reviewed"])
    assert review_view["cost"]["cost"] == "0"


async def test_a_memory_is_shown_beside_what_it_was_and_what_is_like_it(
    reviewing: Reviewing,
) -> None:
    target = await reviewing.learnt(remember("금액은 원화로 적는다"))
    other = await reviewing.learnt(remember("견적서의 금액은 원화로 읽는다", **APART))
    change_id = await reviewing.held(
        remember("금액은 달러로 적는다", operation="UPDATE", target_id=target)
    )
    review_view = await reviewing.review_view(change_id)
    (file,) = review_view["diff"]["files"]
    (row,) = file["text"]["rows"]
    assert (file["path"], file["kind"], row["kind"]) == ("memory.txt", "changed", "changed")
    assert row["left"] == {
        "number": 1,
        "text": "금액은 원화로 적는다",
        "spans": [{"start": 4, "end": 6}],
        "cut": False,
    }
    assert [hit["id"] for hit in review_view["similar"]] == [other]
    assert review_view["similar"][0]["why"]
    assert review_view["problems"] == []


async def test_a_table_is_shown_by_rows_with_what_its_checks_find(reviewing: Reviewing) -> None:
    target = await reviewing.learnt(rule(("<= 1000", "팀장"), ("> 2000", "부장")))
    item = await reviewing.app.stores.knowledge.list(tenant_id="t", agent_id="a", kind=None)
    assert [known.id for known in item] == [target]
    change_id = await reviewing.held(
        RuleRequest(
            operation=Operation.UPDATE,
            target_id=target,
            merge_mode=MergeMode.EXTEND,
            rule=RuleDraft(
                rows=(RowEdit(inputs={"금액": "[1500..1800]"}, outputs={"승인": '"대표"'}),),
            ),
        )
    )
    diff = (await reviewing.review_view(change_id))["diff"]
    kinds = [row["kind"] for row in diff["table"]["rows"]]
    assert (kinds, diff["table_problem"]) == (["same", "same", "added"], "")
    assert diff["table"]["hit_policy"] == {"before": "UNIQUE", "after": "UNIQUE"}
    assert diff["table"]["findings"]
    assert diff["files"][0]["path"] == "table.dmn"
    assert diff["files"][0]["text"]["added"] > 0


async def test_a_table_that_cannot_be_read_is_shown_as_text_with_the_reason(
    reviewing: Reviewing, pool: Pool
) -> None:
    change_id = await reviewing.held(rule(("<= 1000", "팀장")))
    async with transaction(pool) as conn:
        await conn.execute(
            "UPDATE changes SET after = jsonb_set(after, '{content}', '\"<definitions\"')"
        )
    diff = (await reviewing.review_view(change_id))["diff"]
    assert diff["table"] is None
    assert diff["table_problem"]
    assert diff["files"][0]["text"]["rows"][0]["right"]["text"] == "<definitions"


async def test_a_skill_is_shown_file_by_file(reviewing: Reviewing) -> None:
    await reviewing.learnt(
        skill(
            {
                "references/a.md": b"a\n",
                "references/stays.md": b"s\n",
                "scripts/run.py": b"print(1)\n",
                "assets/logo.png": b"\x89PNG\0" + bytes(range(256)),
            }
        )
    )
    change_id = await reviewing.held(
        skill(
            {
                "references/b.md": b"b\n",
                "references/stays.md": b"s\n",
                "scripts/run.py": b"print(1)\n",
                "assets/logo.png": b"\x89PNG\0" + bytes(range(255)),
            },
            Operation.UPDATE,
            "scripts/run.py",
        )
    )
    diff = (await reviewing.review_view(change_id))["diff"]
    files = {file["path"]: file for file in diff["files"]}
    assert {path: file["kind"] for path, file in files.items()} == {
        "assets/logo.png": "changed",
        "references/a.md": "removed",
        "references/b.md": "added",
        "scripts/run.py": "changed",
    }
    assert diff["unchanged"] == 2
    logo, script = files["assets/logo.png"], files["scripts/run.py"]
    assert (logo["binary"], logo["text"]) == (True, None)
    assert (logo["before"]["size"], logo["after"]["size"]) == (261, 260)
    assert logo["before"]["sha256"] != logo["after"]["sha256"]
    assert "PNG" not in json.dumps(diff)
    assert (script["before"]["executable"], script["after"]["executable"]) == (False, True)
    assert script["text"] is None


@pytest.mark.parametrize("lines", [5_000, *at_night(40_000)])  # the last is two megabytes
async def test_much_comes_bounded_and_whole_by_another_way(
    reviewing: Reviewing, lines: int
) -> None:
    before = "\n".join(f"- 항목 {n} {'가' * 10}" for n in range(lines))
    after = "\n".join(f"- 항목 {n if n % 3 else -n} {'가' * 10}" for n in range(lines))
    await reviewing.learnt(skill({"references/long.md": before.encode()}))
    change_id = await reviewing.held(
        skill({"references/long.md": after.encode()}, Operation.UPDATE)
    )
    answer = await reviewing.api.call("GET", f"/v1/changes/{change_id}/review")
    (file,) = answer.json()["diff"]["files"]
    assert len(answer.content) < 1_000_000
    assert len(file["text"]["rows"]) == 1_000
    assert file["text"]["more"] > lines // 4
    for side, text in (("before", before), ("after", after)):
        path = f"/v1/changes/{change_id}/files?path=references/long.md&side={side}"
        whole = await reviewing.api.call("GET", path)
        assert whole.content == text.encode()


async def test_scripts_in_every_field_are_data(reviewing: Reviewing) -> None:
    document = SKILL_MD + SCRIPT
    files = {"SKILL.md": document.encode(), "references/a&b.html": SCRIPT.encode()}
    change_id = await reviewing.held(skill(files).model_copy(update={"reason": SCRIPT}))
    answer = await reviewing.api.call("GET", f"/v1/changes/{change_id}/review")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["change"]["reason"] == SCRIPT
    shown = {file["path"]: file["text"]["rows"] for file in answer.json()["diff"]["files"]}
    assert shown["references/a&b.html"][0]["right"]["text"] == SCRIPT
    file = await reviewing.api.call(
        "GET", f"/v1/changes/{change_id}/files", params={"path": "references/a&b.html"}
    )
    assert file.content == SCRIPT.encode()
    assert file.headers["content-type"] == "text/plain; charset=utf-8"
    assert file.headers["content-disposition"] == "attachment; filename*=UTF-8''a%26b.html"
    assert "sandbox" in file.headers["content-security-policy"]


@pytest.mark.parametrize("path", ["../../etc/passwd", "", "SKILL.md/", "\u0000"])
async def test_a_file_that_is_not_of_the_change_is_not_found(
    reviewing: Reviewing, path: str
) -> None:
    change_id = await reviewing.held(skill({}))
    answer = await reviewing.api.call(
        "GET", f"/v1/changes/{change_id}/files", params={"path": path}
    )
    assert answer.status_code in {404, 422}


async def test_a_binary_file_comes_as_bytes(reviewing: Reviewing) -> None:
    data = b"\x89PNG\0" + bytes(range(256))
    change_id = await reviewing.held(skill({"assets/logo.png": data}))
    answer = await reviewing.api.call(
        "GET", f"/v1/changes/{change_id}/files", params={"path": "assets/logo.png"}
    )
    assert (answer.content, answer.headers["content-type"]) == (data, "application/octet-stream")


async def test_a_deletion_shows_what_goes(reviewing: Reviewing) -> None:
    await reviewing.learnt(skill({"references/a.md": b"a\n"}))
    change_id = await reviewing.held(
        SkillRequest(operation=Operation.DELETE, target_id="refund", reason="쓰지 않는다")
    )
    diff = (await reviewing.review_view(change_id))["diff"]
    assert {file["kind"] for file in diff["files"]} == {"removed"}


async def test_a_list_of_skills_is_shown_as_names(reviewing: Reviewing) -> None:
    await reviewing.learnt(skill({}))
    change_id = await reviewing.held(SkillListRequest(skill_ids=("refund",)), agent_id="b")
    review_view = await reviewing.review_view(change_id)
    assert review_view["diff"]["names"] == {"added": ["refund"], "removed": [], "kept": []}


async def test_what_cannot_be_looked_up_is_said_and_hides_nothing_else(
    database: str, tmp_path: Path
) -> None:
    async with opened_api(database, tmp_path, review_policy="all") as api:
        reviewing = Reviewing(api)
        change_id = await reviewing.held(skill({}))
    down = {"skill_api_base_url": "http://127.0.0.1:9", "skill_api_max_retries": 0}
    async with opened_api(database, tmp_path, review_policy="all", **down) as api:
        review_view = await Reviewing(api).review_view(change_id)
    assert review_view["moved"] is None
    assert [problem.split(":")[0] for problem in review_view["problems"]] == [
        "the target as it is now"
    ]
    assert review_view["diff"]["files"]

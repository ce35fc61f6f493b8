"""Who brought each line of what is known, and the files of skills, over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain.models import (
    SKILL_MD,
    Bundle,
    Edited,
    MemoryRequest,
    Operation,
    SkillFile,
    SubmitContext,
)
from core.skills.bundle import bundle_hash
from tests.support.api import Api, opened_api
from tests.support.asking import ask, fails, restore
from tests.support.learning import Teacher

LOGO = b"\x89PNG\0\xff\xfe"


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path, skill_refresh_seconds=0.001) as opened:
        yield opened


async def test_each_line_tells_which_words_brought_it(api: Api) -> None:
    teacher = Teacher(api.app)
    made = await teacher.memory("원화로 적는다\n부가세를 더한다", said="원화로 해 주세요")
    target = str(made.target_id)
    await teacher.memory("원화로 적는다\n부가세를 뺀다", target, said="부가세는 빼 주세요")
    told = await ask(api, "knowledge/provenance", id=target)
    assert told["lines"] == ["원화로 적는다", "부가세를 뺀다"]
    assert told["parts"] == [
        {"first": 1, "last": 1, "source": "version", "version": 1},
        {"first": 2, "last": 2, "source": "version", "version": 2},
    ]
    assert isinstance(told["versions"], list)
    causes = [v["by"] for v in told["versions"] if isinstance(v, dict)]
    said = [(c["feedback"], c["author"], bool(c["said_at"])) for c in causes if isinstance(c, dict)]
    assert said == [("원화로 해 주세요", "kim", True), ("부가세는 빼 주세요", "kim", True)]
    await restore(api, id=target, version=1)
    again = await ask(api, "knowledge/provenance", id=target)
    assert again["parts"] == [{"first": 1, "last": 2, "source": "version", "version": 1}]


async def test_each_row_of_a_table_tells_which_words_brought_it(api: Api) -> None:
    teacher = Teacher(api.app)
    made = await teacher.rule(("> 100", "kim"), said="kim approves")
    target = str(made.target_id)
    await teacher.rule(("<= 100", "lee"), target=target, said="lee the rest")
    told = await ask(api, "knowledge/provenance", id="approval", kind="DMN_RULE")
    assert (told["lines"], told["id"]) == ([], target)
    assert isinstance(told["table"], dict)
    assert isinstance(told["parts"], list)
    assert [(p["first"], p["version"]) for p in told["parts"] if isinstance(p, dict)] == [
        (1, 1),
        (2, 2),
    ]


async def test_what_others_wrote_into_a_skill_is_told_apart(api: Api) -> None:
    store = api.app.stores.skills
    head = "---\nname: refund\ndescription: d\n---\n"
    theirs = Bundle(name="refund", files={SKILL_MD: SkillFile(data=f"{head}one\n".encode())})
    await store.upload(theirs, "t")
    alone = await ask(api, "knowledge/provenance", id="refund")
    assert alone["parts"] == [{"first": 1, "last": 5, "source": "others", "version": None}]
    by = (await ask(api, "knowledge/item", id="refund"))["by"]
    assert isinstance(by, dict)
    assert (by["origin"], by["feedback_id"], by["author"]) == ("OUTSIDE", None, None)
    head = "---\nname: refund\ndescription: How to refund.\n---\n"
    await Teacher(api.app).skill("refund", "one\ntwo\n", {"references/a.md": b"x\n"}, new=False)
    data = SkillFile(data=f"{head}one\ntwo\nthree\n".encode())
    held = await store.read("refund", "t")
    assert held is not None
    await store.put_file("refund", SKILL_MD, data, "t", base_hash=bundle_hash(held))
    told = await ask(api, "knowledge/provenance", id="refund", kind="SKILL")
    assert isinstance(told["parts"], list)
    shown = [(p["first"], p["source"], p["version"]) for p in told["parts"] if isinstance(p, dict)]
    assert shown == [
        (1, "others", None), (3, "version", 2), (4, "others", None),
        (6, "version", 2), (7, "others", None),
    ]  # fmt: skip
    other = await ask(api, "knowledge/provenance", id="refund", path="references/a.md")
    assert other["parts"] == [{"first": 1, "last": 1, "source": "version", "version": 2}]
    assert (await fails(api, "knowledge/provenance", id="refund", path="../x"))[0] == 404


async def test_files_are_read_by_any_path_and_binary_ones_without_text(api: Api) -> None:
    large = b"line of a large file\n" * 20_001
    files: dict[str, bytes | tuple[bytes, bool]] = {
        "assets/logo.png": LOGO,
        "references/빈 줄 #1&2.md": "내용\n".encode(),
        "references/large.md": large,
    }
    await Teacher(api.app).skill("refund", "R\n", files)
    logo = await ask(api, "knowledge/file", id="refund", path="assets/logo.png")
    assert (logo["text"], logo["is_text"], logo["size"]) == (None, False, len(LOGO))
    odd = await ask(api, "knowledge/file", id="refund", path="references/빈 줄 #1&2.md")
    assert odd["text"] == "내용\n"
    much = await ask(api, "knowledge/file", id="refund", path="references/large.md")
    assert len(str(much["text"])) == len(large)
    traced = await ask(api, "knowledge/provenance", id="refund", path="references/large.md")
    assert traced["parts"] == [{"first": 1, "last": 20_001, "source": "unread", "version": None}]
    assert (await ask(api, "knowledge/provenance", id="refund", path="assets/logo.png"))[
        "parts"
    ] == []
    assert (await fails(api, "knowledge/file", id="refund", path="nothing"))[0] == 404


async def test_a_line_tells_who_let_it_in_and_who_edited_it(database: str, tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("rules: []\notherwise: hold\n")
    async with opened_api(database, tmp_path, review_policy=str(policy)) as api:
        request = MemoryRequest(operation=Operation.CREATE, content="원화로 적는다")
        context = SubmitContext(
            key="k", tenant_id="t", agent_id="a", feedback_id="f", feedback_content="원화로"
        )
        held = await api.app.gate.submit(request, context)
        assert held.change_id is not None
        decisions = api.app.gate.decisions
        edited = Edited(content="원화로 적는다\n소수점 없이")
        change = await decisions.edit(held.change_id, edited, by="park")
        await decisions.approve(change.id, by="lee")
        told = await ask(api, "knowledge/provenance", id=change.target_id)
        assert told["lines"] == ["원화로 적는다", "소수점 없이"]
        assert isinstance(told["versions"], list)
        (version,) = told["versions"]
        assert isinstance(version, dict)
        assert isinstance(version["by"], dict)
        facts = [version["by"][name] for name in ("edited_by", "decided_by", "feedback", "author")]
        assert facts == ["park", "lee", "원화로", None]
        assert version["by"]["decided_at"]

"""What is known over HTTP: pages, items, versions, restoring, search and the graph."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest
from psycopg.sql import SQL, Identifier

from core.adapters.postgres.pool import open_pool
from core.adapters.postgres.queries import transaction
from core.domain.models import SKILL_MD, SkillFile
from core.domain.models.access import Role
from tests.support.api import Api, one_of, opened_api
from tests.support.asking import OF_T, OF_U, Data, ask, fails, restore
from tests.support.learning import Teacher

SCRIPT = b"#!/bin/sh\r\necho 1\n"
LOGO = b"\x89PNG\0\xff\xfe"


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path, skill_refresh_seconds=0.001) as opened:
        yield opened


async def test_before_the_first_feedback_there_is_nothing_and_no_mistake(api: Api) -> None:
    assert await ask(api, "knowledge") == {"items": [], "next": None, "warnings": []}
    assert await ask(api, "search", q="환불") == {"tenant_id": "t", "items": [], "warnings": []}
    assert (await fails(api, "knowledge/item", id="nothing"))[0] == 404
    assert (await fails(api, "knowledge/versions", id="nothing"))[0] == 404
    assert (await fails(api, "knowledge/provenance", id="nothing"))[0] == 404
    graph = await ask(api, "graph")
    assert isinstance(graph["nodes"], list)
    assert [node["label"] for node in graph["nodes"] if isinstance(node, dict)] == ["A", "B"]


async def test_all_kinds_come_in_pages_of_one_order(api: Api) -> None:
    teacher = Teacher(api.app)
    for number in range(4):
        await teacher.memory(f"fact number {number} about {'abcd'[number] * 9}")
    await teacher.rule(("> 100", "kim"))
    await teacher.skill("refund", "# R\n")
    await Teacher(api.app, "u", "c").memory("theirs")
    found: list[Data] = []
    params: dict[str, object] = {"limit": 2}
    while True:
        page = await ask(api, "knowledge", **params)
        assert isinstance(page["items"], list)
        found += [item for item in page["items"] if isinstance(item, dict)]
        if page["next"] is None:
            break
        params["cursor"] = page["next"]
    kinds = [item["kind"] for item in found]
    assert kinds == ["DMN_RULE", *["MEMORY"] * 4, "SKILL"]
    assert {item["tenant_id"] for item in found} == {"t"}
    assert "fact number" in str(found[1]["excerpt"])
    assert "How to refund" in str(found[-1]["excerpt"])
    status, said = await fails(api, "knowledge", cursor=params["cursor"], kind="MEMORY")
    assert (status, "other filters" in said) == (422, True)
    status, _ = await fails(api, "knowledge", who=OF_U, cursor=params["cursor"])
    assert status == 422
    everything = await api.call("GET", "/v1/knowledge", params={"agent_id": "a"})
    assert len(everything.json()["items"]) == 6
    assert (await ask(api, "knowledge", agent_id="b"))["items"] == []
    assert (await fails(api, "knowledge", agent_id="c"))[0] == 404


async def test_versions_and_what_stood_are_read_after_a_deletion(api: Api) -> None:
    teacher = Teacher(api.app)
    target = str((await teacher.memory("원화로")).target_id)
    await teacher.memory("달러로", target)
    await teacher.forget(target)
    status, said = await fails(api, "knowledge/item", id=target)
    assert (status, "was deleted at" in said) == (404, True)
    listed = await ask(api, "knowledge/versions", id=target)
    assert isinstance(listed["items"], list)
    versions = [item for item in listed["items"] if isinstance(item, dict)]
    assert [(v["version"], v["operation"]) for v in versions] == [
        (None, "DELETE"),
        (2, "UPDATE"),
        (1, "CREATE"),
    ]
    assert listed["left_out"] == 0
    first = await ask(api, "knowledge/item", id=target, version=1)
    assert isinstance(first["item"], dict)
    assert first["item"]["content"] == "원화로"
    stood = await ask(api, "knowledge/item", id=target, at=versions[1]["valid_from"])
    assert isinstance(stood["item"], dict)
    assert (stood["item"]["content"], stood["replaces"]) == ("달러로", 1)
    assert (await fails(api, "knowledge/item", id=target, version=9))[0] == 404
    assert (await fails(api, "knowledge/item", id=target, at="2001-01-01T00:00:00Z"))[0] == 404
    both = {"id": target, "version": 1, "at": "2026-01-01T00:00:00Z"}
    assert (await fails(api, "knowledge/item", **both))[0] == 422
    ahead = await restore(api, id=target, version=2, dry_run=True)
    assert (ahead["status"], ahead["operation"]) == ("prepared", "CREATE")
    assert (await fails(api, "knowledge/item", id=target))[0] == 404
    assert (await restore(api, id=target, version=2))["status"] == "applied"
    back = await ask(api, "knowledge/item", id=target)
    assert isinstance(back["item"], dict)
    assert isinstance(back["by"], dict)
    assert (back["item"]["content"], back["by"]["reason"]) == (
        "달러로",
        "restores version 2, asked for by lee",
    )


async def test_a_skill_is_restored_with_its_modes_and_binary_files(api: Api) -> None:
    teacher = Teacher(api.app)
    files: dict[str, bytes | tuple[bytes, bool]] = {
        "scripts/run.sh": (SCRIPT, True),
        "assets/logo.png": LOGO,
        "references/빈 줄.md": b"\n\n",
    }
    await teacher.skill("refund", "하나\r\n", files)
    before = await api.app.stores.skills.read("refund", "t")
    await teacher.skill("refund", "둘\n", {"scripts/run.sh": (SCRIPT, False)}, new=False)
    middle = await api.app.stores.skills.read("refund", "t")
    ahead = await restore(api, id="refund", version=1, dry_run=True)
    assert (ahead["status"], await api.app.stores.skills.read("refund", "t")) == (
        "prepared",
        middle,
    )
    assert (await restore(api, id="refund", version=1))["status"] == "applied"
    assert await api.app.stores.skills.read("refund", "t") == before
    assert before is not None
    assert before.files["scripts/run.sh"] == SkillFile(data=SCRIPT, executable=True)
    assert (await restore(api, id="refund", version=2))["status"] == "applied"
    assert await api.app.stores.skills.read("refund", "t") == middle
    listed = await ask(api, "knowledge/item", id="refund", version=1)
    assert isinstance(listed["files"], list)
    facts = [f for f in listed["files"] if isinstance(f, dict)]
    assert [(f["path"], f["size"], f["executable"], f["is_text"]) for f in facts] == [
        (SKILL_MD, before.files[SKILL_MD].data.__len__(), False, True),
        ("assets/logo.png", len(LOGO), False, False),
        ("references/빈 줄.md", 2, False, True),
        ("scripts/run.sh", len(SCRIPT), True, True),
    ]


@pytest.mark.parametrize(
    "item_id", ["a/b/versions", "공백 있는 id?&#%2F", "..", "<script>", "'; --"]
)
async def test_any_id_and_any_text_is_only_data(api: Api, database: str, item_id: str) -> None:
    text = "<script>alert(1)</script>\n{{7*7}} ${x} '; DROP TABLE changes; --"
    await Teacher(api.app).memory("something", said=text)
    (listed,) = await api.app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=None)
    await _rename(database, listed.id, item_id)
    found = await api.call("GET", f"/v1/knowledge/item?id={quote(item_id, safe='')}", who=OF_T)
    assert found.status_code == 200, found.text
    assert found.headers["content-type"] == "application/json"
    assert found.json()["by"]["feedback"] == text
    assert (await ask(api, "knowledge/versions", id=item_id))["id"] == item_id
    assert (await ask(api, "knowledge/provenance", id=item_id))["lines"] == ["something"]
    assert (await restore(api, id=item_id, version=1))["status"] == "known"


async def _rename(database: str, old: str, new: str) -> None:
    """Replace an item's id by one that only an import could bring."""
    async with open_pool(database) as pool, transaction(pool) as conn:
        for table, column in (("knowledge_versions", "item_id"), ("history", "knowledge_id")):
            update = SQL("UPDATE {} SET {} = %s WHERE {} = %s")
            names = Identifier(table), Identifier(column), Identifier(column)
            await conn.execute(update.format(*names), (new, old))


async def test_what_is_another_tenants_does_not_exist(api: Api) -> None:
    target = str((await Teacher(api.app).memory("secret of t", said="hush")).target_id)
    await Teacher(api.app).skill("refund", "R\n")
    for path in ("item", "versions", "provenance"):
        for item_id in (target, "refund", "secret of t"):
            status, said = await fails(api, f"knowledge/{path}", who=OF_U, id=item_id)
            assert (status, "hush" in said) == (404, False)
            wanted = {"id": item_id, "tenant_id": "t"}
            assert (await fails(api, f"knowledge/{path}", who=OF_U, **wanted))[0] == 404
    assert (await fails(api, "knowledge/file", who=OF_U, id="refund", path=SKILL_MD))[0] == 404
    body = {"id": target, "version": 1}
    answer = await api.call("POST", "/v1/knowledge/restore", body, who=OF_U)
    assert answer.status_code == 404
    assert (await ask(api, "knowledge", who=OF_U))["items"] == []
    assert (await ask(api, "search", who=OF_U, q="secret"))["items"] == []
    for path, params in (("search", {"q": "x"}), ("graph", {}), ("knowledge", {})):
        for more in ({"tenant_id": "t"}, {"agent_id": "a"}):
            assert (await fails(api, path, who=OF_U, **params, **more))[0] == 404


@pytest.mark.parametrize(
    ("method", "path", "role"),
    [
        ("GET", "knowledge", Role.READ),
        ("GET", "knowledge/item?id=x", Role.READ),
        ("GET", "knowledge/file?id=x&path=y", Role.READ),
        ("GET", "knowledge/versions?id=x", Role.READ),
        ("GET", "knowledge/provenance?id=x", Role.READ),
        ("GET", "search?q=x", Role.READ),
        ("GET", "graph", Role.READ),
        ("POST", "knowledge/restore", Role.REVIEW),
    ],
)
async def test_each_call_takes_its_role(api: Api, method: str, path: str, role: Role) -> None:
    body = {"id": "x", "version": 1} if method == "POST" else None
    others = [other for other in Role if other is not role]
    refused = await api.call(method, f"/v1/{path}", body, who=one_of("t", *others))
    assert (refused.status_code, refused.json()["kind"]) == (403, "forbidden")
    assert (await api.call(method, f"/v1/{path}", body, who=one_of("t", role))).status_code != 403


async def test_a_search_names_what_it_found(api: Api) -> None:
    await Teacher(api.app).memory("환불은 7일 안에 한다")
    await Teacher(api.app).skill("refund", "# 환불\n")
    hits = (await ask(api, "search", q="환불"))["items"]
    assert isinstance(hits, list)
    assert sorted(str(hit["kind"]) for hit in hits if isinstance(hit, dict)) == ["MEMORY", "SKILL"]
    only = (await ask(api, "search", q="환불", kind="SKILL", limit=1, agent_id="a"))["items"]
    assert isinstance(only, list)
    assert len(only) == 1
    assert (await fails(api, "search", q="  !? "))[0] == 422
    answer = await api.call("GET", "/v1/search", params={"q": "환불"})
    assert answer.status_code == 422  # a token of all tenants has to name one
    answer = await api.call("GET", "/v1/search", params={"q": "환불", "agent_id": "a"})
    assert len(answer.json()["items"]) == 2


async def test_the_graph_tells_who_taught_what(api: Api) -> None:
    teacher = Teacher(api.app)
    await teacher.memory("원화로", said='원화로"] click n0 "javascript:alert(1)"')
    await teacher.skill("refund", "See references/fees.md\n", {"references/fees.md": b"x\n"})
    graph = await ask(api, "graph", agent_id="a")
    assert isinstance(graph["nodes"], list)
    nodes = {node["id"]: node for node in graph["nodes"] if isinstance(node, dict)}
    assert isinstance(graph["links"], list)
    told = {
        (nodes[x["source"]]["kind"], x["kind"], nodes[x["target"]]["kind"])
        for x in graph["links"]
        if isinstance(x, dict)
    }
    assert told == {
        ("agent", "knows", "memories"),
        ("agent", "has", "skill"),
        ("skill", "contains", "file"),
        ("skill", "refers", "file"),
        ("feedback", "taught", "memories"),
        ("feedback", "taught", "skill"),
    }
    assert {n["author"] for n in nodes.values() if n["kind"] == "feedback"} == {"kim"}
    assert "click n0 #34;javascript#58;alert" in str(graph["mermaid"])
    assert '"javascript:' not in str(graph["mermaid"])
    small = await ask(api, "graph", nodes=4)
    assert isinstance(small["nodes"], list)
    assert isinstance(small["left_out"], dict)
    assert len(small["nodes"]) <= 4
    assert small["left_out"]

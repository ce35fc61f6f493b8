"""What was learnt reaches agents over MCP: the official client and LangChain's, on a real port."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl

from core.domain.hashing import text_hash
from core.domain.models import Kind, MemoryRequest, NewFeedback, Operation, Scope, SubmitContext
from core.domain.models.access import Limits, Role
from core.domain.models.uses import Way
from core.entrypoints.auth import Grant
from tests.support.learning import Teacher
from tests.support.mcp_agents import BEGIN, Knowing, client, knowing

SOON_ENOUGH = 2.0  # seconds from learning to an agent that acts on it
WON = "금액은 항상 원화로 적어 주세요"
INDEX = AnyUrl("knowledge://index")
Asking = Callable[[str, object], Awaitable[dict[str, Any]]]


@pytest.fixture
async def served(database: str, tmp_path: Path) -> AsyncIterator[Knowing]:
    async with knowing(database, tmp_path) as serving:
        yield serving


async def test_a_lesson_reaches_its_agent_at_once_and_goes_when_retracted(
    database: str, tmp_path: Path
) -> None:
    async with knowing(database, tmp_path, offline=True) as served:
        own, other = await served.of_agent("a", "t"), await served.of_agent("c", "u")
        async with client(served.url, own) as mine, client(served.url, other) as theirs:
            await mine.session.subscribe_resource(INDEX)
            assert await mine.found(WON) == []
            piece = NewFeedback(tenant_id="t", agent_ids=("a",), content=WON, author="kim")
            ((feedback, _),) = await served.app.stores.inbox.add("test", [piece])
            await served.app.run(True, 1, asyncio.Event(), lambda _: None)
            async with asyncio.timeout(SOON_ENOUGH):
                await mine.changed(str(INDEX))
                assert await mine.found(WON) == [WON]
            assert await theirs.found(WON) == []
            taught = await served.app.stores.inbox.get(feedback)
            await served.app.retractor.retract(taught, by="kim")
            async with asyncio.timeout(SOON_ENOUGH):
                await mine.changed(str(INDEX))
                assert await mine.found(WON) == []


async def test_an_agent_uses_what_it_knows_and_each_use_is_on_record(served: Knowing) -> None:
    teacher = Teacher(served.app)
    memory = await teacher.memory("금액은 원화로 적는다")
    rule = await teacher.rule(("> 100", "kim"), ("<= 100", "lee"))
    await teacher.skill("refund", "# refund\n", {"references/fees.md": b"# Fees\n"})
    token = await served.of_agent("a", "t", Role.SUBMIT)
    async with client(served.url, token) as agent:
        assert await agent.found("원화로 적나요") == ["금액은 원화로 적는다"]
        decided = await agent.call("evaluate_decision", name="approval", inputs={"amount": 500})
        assert (decided["output"], decided["version"]) == ({"approver": "kim"}, 1)
        assert [row["counts"] for row in _items(decided["matched"])] == [True]
        asked = await agent.call("evaluate_decision", name=rule.target_id, inputs={})
        assert (asked["output"], asked["missing"]) == (None, [{"name": "amount", "type": "number"}])
        loaded = await agent.call("load_skill", name="refund", path="references/fees.md")
        assert loaded["text"] == "# Fees\n"
        digest = hashlib.sha256(b"# Fees\n").hexdigest()
        assert {"references/fees.md": digest}.items() <= {
            str(file["path"]): file["sha256"] for file in _items(loaded["files"])
        }.items()
        used = [{"id": memory.target_id, "version": 1}, {"id": "refund"}]
        told = await agent.call("report_outcome", used=used, success=True, note="password=hunter2")
        assert [item["id"] for item in _items(told["kept"])] == [memory.target_id, "refund"]
        taken = await agent.call("give_feedback", text="원화가 아니라 달러로요", about="보고서")
        assert (taken["status"], taken["new"]) == ("queued", True)
    piece = await served.app.stores.inbox.get(str(taken["id"]))
    assert (piece.agent_ids, piece.task, piece.tenant_id) == (("a",), "보고서", "t")
    seen = [(use.way, use.kind, use.item_id, use.version) for use in served.noted.uses]
    assert seen == [
        (Way.RECALLED, Kind.MEMORY, memory.target_id, 1),
        (Way.DECIDED, Kind.DMN_RULE, rule.target_id, 1),
        (Way.LOADED, Kind.SKILL, "refund", 1),
    ]
    assert served.noted.uses[0].digest == text_hash("금액은 원화로 적는다")
    (outcome,) = served.noted.outcomes
    assert (outcome.success, outcome.agent_id) == (True, "a")
    assert "hunter2" not in outcome.note


async def test_skills_are_resources_and_an_extension_with_digests(served: Knowing) -> None:
    teacher = Teacher(served.app)
    await teacher.skill("refund", "# refund\n", {"assets/logo.png": b"\x89PNG\0\xff"})
    await Teacher(served.app, "t", "b").skill("audit", "# audit\n")
    token = await served.of_agent("a", "t")
    async with client(served.url, token) as agent, served.raw(token) as raw:
        await agent.session.subscribe_resource(AnyUrl("skill://refund/SKILL.md"))
        listed = (await agent.session.list_resources()).resources
        assert [str(one.uri) for one in listed] == [
            "knowledge://index",
            "skill://refund/SKILL.md",
            "skill://refund/assets/logo.png",
        ]
        (logo,) = (await agent.session.read_resource(listed[2].uri)).contents
        assert (logo.mimeType, logo.model_dump()["blob"]) == ("image/png", "iVBORwD/")
        with pytest.raises(McpError, match="nothing is served at skill://audit"):
            await agent.session.read_resource(AnyUrl("skill://audit/SKILL.md"))
        asking = await _began(raw)
        (skill,) = (await asking("skills/list", {}))["result"]["skills"]
        assert skill["frontmatter"] == {"name": "refund", "description": "How to refund."}
        (document,) = (await agent.session.read_resource(AnyUrl(skill["uri"]))).contents
        text = str(document.model_dump()["text"]).encode()
        assert skill["resources"][0] == {
            "uri": "skill://refund/SKILL.md",
            "digest": f"sha256:{hashlib.sha256(text).hexdigest()}",
            "size": len(text),
        }
        got = await asking("skills/get", {"uri": skill["uri"]})
        assert got["result"]["skill"] == skill
        for wrong in ({"uri": "skill://audit/SKILL.md"}, {"uri": 1}, {}):
            assert (await asking("skills/get", wrong))["error"]["code"] == -32602
        assert (await asking("skills/put", {}))["error"]["code"] == -32601
        await teacher.skill("refund", "# refund\n\n1. Ask.\n", new=False)
        async with asyncio.timeout(SOON_ENOUGH):
            await agent.changed("skill://refund/SKILL.md")


async def test_a_subscription_tells_of_no_skill_of_other_agents(served: Knowing) -> None:
    mine, theirs = Teacher(served.app), Teacher(served.app, "t", "b")
    await mine.skill("refund", "# refund\n")
    await theirs.skill("audit", "# audit\n")
    async with client(served.url, await served.of_agent("a", "t")) as agent:
        for name in ("audit", "refund"):
            await agent.session.subscribe_resource(AnyUrl(f"skill://{name}/SKILL.md"))
        async with asyncio.timeout(SOON_ENOUGH):
            await theirs.skill("audit", "# audit\n\n1. Count.\n", new=False)
            await mine.skill("refund", "# refund\n\n1. Ask.\n", new=False)
            assert await agent.next_changed() == "skill://refund/SKILL.md"


async def test_a_token_opens_so_many_sessions_and_another_after_one_ends(
    database: str, tmp_path: Path
) -> None:
    async with knowing(database, tmp_path, Limits(sessions_per_token=2)) as served:
        one, other = await served.of_agent("a", "t"), await served.of_agent("a", "t")
        async with served.raw(one) as raw, served.raw(other) as others:
            assert (await raw.post("/mcp", content=b"x")).status_code == 400  # opens none
            opened = [await _begin(raw) for _ in range(2)]
            refused = await _begin(raw)
            assert (refused.status_code, refused.json()["kind"]) == (429, "limit")
            assert "sessions_per_token" in refused.json()["hint"]
            assert (await _begin(others)).status_code == 200
            session = {"Mcp-Session-Id": opened[0].headers["mcp-session-id"]}
            listed = await raw.post("/mcp", headers=session, json=_message("tools/list"))
            assert listed.status_code == 200
            assert (await raw.delete("/mcp", headers=session)).status_code == 200
            assert (await _begin(raw)).status_code == 200
            assert (await _begin(raw)).status_code == 429


REFUSED: tuple[tuple[str, dict[str, object], str], ...] = (
    ("search_memories", {"query": {"x": 1}}, "query: input should be a valid string"),
    ("search_memories", {"query": "x", "user": "lee"}, "user: extra inputs"),
    ("search_memories", {"query": "가" * 1000, "limit": 51}, "limit is not from 1 to 50"),
    ("search_memories", {"query": "가" * 5000}, "longer than 4000"),
    ("search_memories", {"query": "a\0b"}, "NUL"),
    ("evaluate_decision", {"name": "approval", "inputs": {"amount": "x"}}, "'amount': 'x'"),
    ("evaluate_decision", {"name": "approval", "inputs": {"sum": 1}}, "'sum' is not known"),
    ("evaluate_decision", {"name": "approval", "inputs": []}, "inputs: input should be"),
    ("evaluate_decision", {"name": "other", "inputs": {}}, "no decision table 'other'"),
    ("evaluate_decision", {"name": "approval", "inputs": {"amount": "9" * 900_000}}, "64 KiB"),
    ("load_skill", {"name": "audit"}, "not on the list of agent 'a': audit"),
    ("load_skill", {"name": "refund", "path": "../x"}, "has no file '../x'"),
    ("report_outcome", {"used": [{"id": 3}], "success": "?"}, "used.0.id: input should be"),
    ("report_outcome", {"used": [{"id": "x"}] * 101, "success": True}, "at most 100 items"),
    ("give_feedback", {"text": "x"}, "no tool 'give_feedback'"),
)


async def test_what_cannot_be_answered_is_refused_with_the_reason(served: Knowing) -> None:
    await Teacher(served.app).rule(("> 100", "kim"))
    await Teacher(served.app).skill("refund", "# refund\n")
    await Teacher(served.app, "t", "b").skill("audit", "# audit\n")
    async with client(served.url, await served.of_agent("a", "t")) as agent:
        for tool, given, said in REFUSED:
            answer = await agent.session.call_tool(tool, given)
            error = (answer.structuredContent or {})["error"]
            assert answer.isError, tool
            assert said in error["message"], error
            assert len(json.dumps(error)) < 2_000
    assert served.noted.uses == []
    await _outcomes_are_for_what_is_still_known(served)


async def _outcomes_are_for_what_is_still_known(served: Knowing) -> None:
    teacher = Teacher(served.app)
    kept = await teacher.memory("금액은 원화로 적는다")
    gone = await teacher.memory("인사는 짧게 한다")
    theirs = await Teacher(served.app, "t", "b").memory("보고는 월요일에 한다")
    await teacher.forget(str(gone.target_id))
    ids = (kept.target_id, gone.target_id, theirs.target_id, "nothing", kept.target_id)
    versions = (None, None, None, None, 2)
    used = [{"id": one, "version": n} for one, n in zip(ids, versions, strict=True)]
    async with served.raw(await served.of_agent("a", "t")) as raw:
        answer = await raw.post("/v1/outcomes", json={"used": used, "success": False})
        none = await raw.post("/v1/outcomes", json={"used": used[1:], "success": False})
    assert answer.json()["kept"] == [{"id": kept.target_id, "version": 1}]
    reasons = [one["reason"] for one in answer.json()["refused"]]
    assert ["meanwhile" in why for why in reasons] == [True, False, False, False]
    assert reasons[1] == reasons[2].replace("nothing is", f"{theirs.target_id} is", 1)
    assert "stands at 1" in reasons[3]
    assert none.json()["kept"] == []
    (outcome,) = served.noted.outcomes  # of the second nothing was left
    assert [(item.id, item.version) for item in outcome.used] == [(kept.target_id, 1)]


async def test_a_token_leads_to_its_own_agent_and_the_user_it_names(served: Knowing) -> None:
    await Teacher(served.app).memory("금액은 원화로 적는다")
    own, other = await served.of_agent("a", "t"), await served.of_agent("c", "u")
    everyone = await served.token(Grant(name="all", roles=(Role.READ,)))
    blind = await served.token(Grant(name="no", tenant_id="t", roles=(Role.OPERATE,)))
    async with served.raw(own) as raw:
        opened = await _begin(raw)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
    for token, query, status in (
        (own, "?agent=b", 404),
        (own, "?tenant=u", 404),
        (other, "?agent=a&tenant=t", 404),
        (everyone, "", 422),
        (everyone, "?agent=nobody", 404),
        (blind, "?agent=a", 403),
        ("swk_" + "x" * 43, "", 401),
    ):
        async with served.raw(token) as raw:
            assert (await _begin(raw, query)).status_code == status, query
            taken = await raw.post(f"/mcp{query}", headers=session, json=_message("tools/list"))
            assert taken.status_code in {status, 404, 422}, query
    async with served.raw(everyone) as raw:
        given = {"agent": "a", "query": "원화"}
        found = await raw.post("/v1/memories/search", json={**given, "tenant_id": "t"})
        assert len(found.json()["items"]) == 1
        assert (await _begin(raw, "?agent=a&user=lee")).status_code == 200
        large = await raw.post("/mcp?agent=a", content=b"x" * (2**20 + 1))
        assert large.status_code == 413
    async with served.raw(await served.of_agent("a", "t", Role.SUBMIT)) as raw:
        assert (await raw.get("/console")).status_code == 403
        about = {"agent_ids": ["b"], "content": "x"}
        assert (await raw.post("/v1/feedback", json=about)).status_code == 404
    await _what_is_for_one_end_user_needs_that_user_named(served, own)


async def _what_is_for_one_end_user_needs_that_user_named(served: Knowing, token: str) -> None:
    mine = "Ms. Kim prefers short greetings"
    request = MemoryRequest(operation=Operation.CREATE, content=mine, scope=Scope.USER, user="kim")
    context = SubmitContext(key="k", tenant_id="t", agent_id="a")
    assert (await served.app.gate.submit(request, context)).status == "applied"
    for query, found in (("?user=lee", []), ("?user=kim", [mine])):
        url = f"{served.url}/mcp{query}"
        connection = {
            "transport": "streamable_http",
            "url": url,
            "headers": {"Authorization": f"Bearer {token}"},
        }
        tools = await MultiServerMCPClient({"learnt": connection}).get_tools()  # type: ignore[dict-item]
        search = next(tool for tool in tools if tool.name == "search_memories")
        message = await search.ainvoke(
            {
                "type": "tool_call",
                "id": "1",
                "name": "search_memories",
                "args": {"query": "greetings"},
            }
        )
        items = message.artifact["structured_content"]["items"]
        assert [item["content"] for item in items] == found


def _items(value: object) -> list[dict[str, object]]:
    assert isinstance(value, list)
    return value


def _message(method: str, params: object = None) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}


async def _begin(raw: httpx.AsyncClient, query: str = "") -> httpx.Response:
    return await raw.post(f"/mcp{query}", json=_message("initialize", BEGIN))


async def _began(raw: httpx.AsyncClient) -> Asking:
    """Begin a session; return what asks in it."""
    session = {"Mcp-Session-Id": (await _begin(raw)).headers["mcp-session-id"]}

    async def ask(method: str, params: object) -> dict[str, Any]:
        answer = await raw.post("/mcp", headers=session, json=_message(method, params))
        found: dict[str, Any] = answer.json()
        return found

    return ask

"""History, agents, the intake and the caller, over HTTP: each within tenant and role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from core.domain.models import MemoryRequest, Operation, Receipt, SkillRequest, SubmitContext
from core.domain.models.access import Role
from core.entrypoints.auth import Access, Grant
from tests.support.api import Api, one_of, opened_api
from tests.support.learning import Teacher

OF_T, OF_U = one_of("t"), one_of("u")


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path) as opened:
        yield opened


async def learnt(api: Api, tenant_id: str, agent_id: str, content: str) -> str:
    context = SubmitContext(key=content, tenant_id=tenant_id, agent_id=agent_id)
    request = MemoryRequest(operation=Operation.CREATE, content=content)
    receipt = await api.app.gate.submit(request, context)
    assert receipt.target_id
    return receipt.target_id


async def test_history_is_filtered_and_kept_within_its_tenant(api: Api) -> None:
    mine = await learnt(api, "t", "a", "금액은 원화로 적는다")
    await learnt(api, "u", "c", "인사는 짧게 한다")
    page = (await api.call("GET", "/v1/history", who=OF_T)).json()
    assert [item["knowledge_id"] for item in page["items"]] == [mine]
    assert len((await api.call("GET", "/v1/history")).json()["items"]) == 2
    record = page["items"][0]
    path = f"/v1/history/{record['id']}"
    assert (await api.call("GET", path, who=OF_T)).json() == record
    assert (await api.call("GET", path, who=OF_U)).status_code == 404
    for params, count in (
        ({"kind": "MEMORY", "item_id": mine}, 1),
        ({"kind": "SKILL"}, 0),
        ({"agent_id": "c"}, 1),
        ({"status": "failed"}, 0),
        ({"feedback_id": "none"}, 0),
        ({"tenant_id": "u"}, 1),
    ):
        found = await api.call("GET", "/v1/history", params=params)
        assert len(found.json()["items"]) == count, params
    strange = await api.call("GET", "/v1/history", params={"tenant_id": "u"}, who=OF_T)
    assert (strange.status_code, strange.json()["kind"]) == (404, "not_found")


async def test_a_cursor_is_of_no_other_list(api: Api) -> None:
    for n, content in enumerate(("금액은 원화로 적는다", "인사는 짧게 한다")):
        await learnt(api, "t", "a", content)
        piece = {"tenant_id": "t", "agent_ids": ["a"], "content": str(n)}
        assert (await api.call("POST", "/v1/feedback", piece)).status_code == 202
    lists = ("/v1/history", "/v1/agents", "/v1/feedback")
    cursors = {
        path: (await api.call("GET", path, params={"limit": 1})).json()["next"] for path in lists
    }
    for path in lists:
        for of, cursor in cursors.items():
            answer = await api.call("GET", path, params={"cursor": cursor})
            assert answer.status_code == (200 if of == path else 422), (path, of)
        theirs = await api.call("GET", path, params={"cursor": cursors[path]}, who=OF_T)
        assert theirs.status_code == 422, path


async def test_an_id_of_an_agent_may_hold_anything_in_its_address(api: Api) -> None:
    for agent_id in ("team/a", "a b%2F?", "/", "가/😀"):
        path = f"/v1/agents/{quote(agent_id, safe='')}"
        saved = await api.call("PUT", path, {"name": "D"}, who=OF_T)
        found = await api.call("GET", path, who=OF_T)
        assert (saved.status_code, found.status_code) == (201, 200), agent_id
        assert found.json()["id"] == agent_id


async def test_agents_are_listed_added_and_changed(api: Api) -> None:
    page = (await api.call("GET", "/v1/agents", params={"limit": 2})).json()
    assert [agent["id"] for agent in page["items"]] == ["a", "b"]
    rest = (await api.call("GET", "/v1/agents", params={"cursor": page["next"]})).json()
    assert ([agent["id"] for agent in rest["items"]], rest["next"]) == (["c"], None)
    new = await api.call("PUT", "/v1/agents/d", {"name": "D", "goal": "환불"}, who=OF_T)
    assert (new.status_code, new.json()["tenant_id"]) == (201, "t")
    changed = await api.call("PUT", "/v1/agents/d", {"name": "D2"}, who=OF_T)
    assert (changed.status_code, changed.json()["name"]) == (200, "D2")
    assert (await api.call("GET", "/v1/agents/d", who=OF_T)).json() == changed.json()
    assert (await api.call("GET", "/v1/agents/d", who=OF_U)).status_code == 404
    assert (await api.call("PUT", "/v1/agents/e", {"name": "E"})).status_code == 422
    for body in ({"name": " "}, {"name": "E", "skills": ["x"]}, {"name": "a\0b"}, {}, [], "x"):
        answer = await api.call("PUT", "/v1/agents/e", body, who=OF_T)
        assert answer.status_code == 422, body
    assert (await api.call("GET", "/v1/agents/e")).status_code == 404


async def test_work_is_paused_by_who_may_operate_all_tenants(api: Api) -> None:
    assert (await api.call("GET", "/v1/intake", who=OF_T)).json() == {"paused": False, "hold": None}
    for who in (OF_T, one_of(None, Role.READ, Role.REVIEW, Role.SUBMIT)):
        refused = await api.call("POST", "/v1/intake/pause", {"reason": "x"}, who=who)
        assert (refused.status_code, refused.json()["kind"]) == (403, "forbidden")
    paused = (await api.call("POST", "/v1/intake/pause", {"reason": "점검"})).json()
    assert (paused["paused"], paused["hold"]["reason"]) == (True, "점검")
    assert (await api.call("GET", "/v1/intake", who=OF_T)).json() == paused
    assert (await api.call("POST", "/v1/intake/resume", who=OF_T)).status_code == 403
    for _ in range(2):
        resumed = await api.call("POST", "/v1/intake/resume")
        assert resumed.json() == {"paused": False, "hold": None}


async def test_a_caller_is_told_who_they_are(api: Api) -> None:
    who = one_of("t", Role.READ, Role.OPERATE)
    told = (await api.call("GET", "/v1/me", who=who)).json()
    assert told == {
        "token_id": "2", "name": "lee", "tenant_id": "t", "agent_id": None,
        "roles": ["operate", "read"],
    }  # fmt: skip
    nobody = await api.call("GET", "/v1/me", who=None)
    assert (nobody.status_code, nobody.headers["WWW-Authenticate"]) == (401, "Bearer")


async def test_sessions_of_ones_tenant_are_listed_and_ended(api: Api) -> None:
    access = Access(api.app.stores.tokens, api.app.new_id)
    ours, other = [
        await access.admit(Grant(name="kim", tenant_id=tenant, subject=f"https://login {tenant}"))
        for tenant in ("t", "u")
    ]
    operator = one_of("t", Role.OPERATE)
    (listed,) = (await api.call("GET", "/v1/sessions", who=operator)).json()["items"]
    assert (listed["id"], listed["name"], listed["subject"]) == (
        ours.token.id, "kim", "https://login t"
    )  # fmt: skip
    assert len((await api.call("GET", "/v1/sessions")).json()["items"]) == 2
    path = f"/v1/sessions/{ours.token.id}"
    assert (await api.call("DELETE", path, who=one_of("t", Role.REVIEW))).status_code == 403
    ended = await api.call("DELETE", path, who=operator)
    assert (ended.status_code, ended.json()["id"]) == (200, ours.token.id)
    assert (await api.call("DELETE", path, who=operator)).status_code == 404
    (left,) = await access.tokens.sessions()
    assert left.id == other.token.id


async def test_reading_takes_its_role(api: Api) -> None:
    blind = one_of(None, Role.SUBMIT, Role.REVIEW, Role.OPERATE)
    for path in ("/v1/history", "/v1/history/x", "/v1/agents", "/v1/agents/a", "/v1/intake"):
        assert (await api.call("GET", path, who=blind)).status_code == 403, path
    body = {"name": "D", "tenant_id": "t"}
    who = one_of("t", Role.READ, Role.REVIEW, Role.SUBMIT)
    assert (await api.call("PUT", "/v1/agents/d", body, who=who)).status_code == 403


async def test_an_id_of_two_tenants_is_an_agent_of_each(api: Api) -> None:
    for who, name in ((OF_T, "T's"), (OF_U, "U's")):
        saved = await api.call("PUT", "/v1/agents/twin", {"name": name}, who=who)
        assert (saved.status_code, saved.json()["name"]) == (201, name)
        assert (await api.call("GET", "/v1/agents/twin", who=who)).json() == saved.json()
    said = {"agent_ids": ["twin"], "content": "원화로 적어 주세요"}
    for who in (OF_T, OF_U):
        assert (await api.call("POST", "/v1/feedback", said, who=who)).is_success
    refused = await api.call("GET", "/v1/agents/twin")
    assert (refused.status_code, refused.json()["kind"]) == (422, "invalid")
    assert refused.json()["detail"] == "several tenants have an agent 'twin': 't', 'u'"
    of_u = await api.call("GET", "/v1/agents/twin", params={"tenant_id": "u"})
    assert of_u.json()["name"] == "U's"
    first = (await api.call("GET", "/v1/agents", params={"limit": 4})).json()
    rest = (await api.call("GET", "/v1/agents", params={"cursor": first["next"]})).json()
    listed = [(agent["id"], agent["tenant_id"]) for agent in first["items"] + rest["items"]]
    assert listed == [("a", "t"), ("b", "t"), ("c", "u"), ("twin", "t"), ("twin", "u")]


async def with_skills(api: Api) -> None:
    """Let agent a have `refund`, b `refund` and `audit`; both are of tenant t."""
    teacher = Teacher(api.app)
    for name in ("refund", "audit"):
        await teacher.skill(name, f"# {name}\n")
    answers = [
        await api.call("PUT", "/v1/agents/b/skills/refund", who=OF_T),
        await api.call("PUT", "/v1/agents/b/skills/audit", who=OF_T),
        await api.call("DELETE", "/v1/agents/a/skills/audit", who=OF_T),
    ]
    assert [answer.json()["status"] for answer in answers] == ["attached", "attached", "applied"]
    assert all(answer.json()["said_at"] for answer in answers)


async def lists(api: Api) -> dict[str, list[str]]:
    return {
        agent: [
            item["name"]
            for item in (await api.call("GET", f"/v1/agents/{agent}/skills")).json()["items"]
        ]
        for agent in ("a", "b")
    }


async def test_an_agents_list_of_skills_is_edited_and_each_edit_undone(api: Api) -> None:
    await with_skills(api)
    assert await lists(api) == {"a": ["refund"], "b": ["audit", "refund"]}
    shared = (await api.call("GET", "/v1/agents/b/skills", who=OF_T)).json()["items"]
    assert [item["shared_with"] for item in shared] == [[], ["a"]]
    one = "/v1/agents/b/skills/refund"
    assert (await api.call("GET", one, who=OF_T)).json() == shared[1]
    assert (await api.call("GET", "/v1/agents/a/skills/audit", who=OF_T)).status_code == 404
    again = await api.call("PUT", one, who=OF_T)
    assert (again.status_code, again.json()["status"]) == (200, "known")
    path = "/v1/agents/b/skills"
    ahead = await api.call("PUT", path, {"skills": ["audit"], "dry_run": True}, who=OF_T)
    assert ahead.json()["status"] == "prepared"
    done = (await api.call("PUT", path, {"skills": ["audit"]}, who=OF_T)).json()
    assert (done["kind"], done["operation"], done["target_id"]) == ("AGENT_SKILLS", "UPDATE", "b")
    assert await lists(api) == {"a": ["refund"], "b": ["audit"]}
    revert = f"/v1/changes/{done['change_id']}/revert"
    assert (await api.call("POST", revert, {"reason": "x"}, who=OF_T)).is_success
    assert await lists(api) == {"a": ["refund"], "b": ["audit", "refund"]}
    records = (await api.call("GET", "/v1/history", params={"kind": "AGENT_SKILLS"})).json()
    assert [record["new_content"] for record in records["items"]][:2] == ["audit\nrefund", "audit"]


async def test_an_edit_of_a_list_that_cannot_be_is_answered_as_what_it_is(api: Api) -> None:
    await with_skills(api)
    for method, path, body, status in (
        ("PUT", "/v1/agents/a/skills/nope", None, 404),
        ("DELETE", "/v1/agents/a/skills/audit", None, 404),
        ("PUT", "/v1/agents/a/skills", {"skills": ["nope"]}, 422),
        ("PUT", "/v1/agents/a/skills", {"skills": "refund"}, 422),
        ("PUT", "/v1/agents/a/skills", {}, 422),
        ("PUT", "/v1/agents/nobody/skills/refund", None, 404),
    ):
        answer = await api.call(method, path, body, who=OF_T)
        assert answer.status_code == status, (path, answer.text)
        assert answer.json()["detail"]
    reader = one_of("t", Role.READ, Role.OPERATE, Role.SUBMIT)
    refused = await api.call("DELETE", "/v1/agents/a/skills/refund", who=reader)
    assert refused.status_code == 403
    assert await lists(api) == {"a": ["refund"], "b": ["audit", "refund"]}


async def deleted(api: Api, name: str, *, for_all: bool = False) -> Receipt:
    """Let agent a ask for the deletion of a skill."""
    request = SkillRequest(
        operation=Operation.DELETE, target_id=name, for_all=for_all, reason="폐지"
    )
    context = SubmitContext(key=f"no {name}", tenant_id="t", agent_id="a")
    return await api.app.gate.submit(request, context)


async def test_a_skill_deleted_for_all_by_approval_is_back_on_all_lists(api: Api) -> None:
    await with_skills(api)
    held = await deleted(api, "refund", for_all=True)
    waiting = (await api.call("GET", f"/v1/changes/{held.change_id}", who=OF_T)).json()
    assert waiting["status"] == "held"
    assert waiting["held"] == ["refund would be gone for all: it is also on the list of B (b)"]
    approve = f"/v1/changes/{held.change_id}/approve"
    seen = {"seen": waiting["content_hash"]}
    assert (await api.call("POST", approve, seen, who=OF_T)).json()["status"] == "applied"
    assert await lists(api) == {"a": [], "b": ["audit"]}
    revert = f"/v1/changes/{held.change_id}/revert"
    assert (await api.call("POST", revert, {}, who=OF_T)).json()["status"] == "applied"
    assert await lists(api) == {"a": ["refund"], "b": ["audit", "refund"]}


async def test_an_approval_goes_stale_once_another_agent_has_the_skill(api: Api) -> None:
    await with_skills(api)
    assert (await api.call("DELETE", "/v1/agents/b/skills/refund", who=OF_T)).is_success
    held = await deleted(api, "refund", for_all=True)  # nobody else lists it: as the policy says
    assert held.status == "applied"
    held = await deleted(api, "audit", for_all=True)
    assert held.status == "held"
    made = await api.call("PUT", "/v1/agents/d", {"name": "D"}, who=OF_T)
    assert made.status_code == 201
    assert (await api.call("PUT", "/v1/agents/d/skills/audit", who=OF_T)).is_success
    path = f"/v1/changes/{held.change_id}"
    seen = {"seen": (await api.call("GET", path, who=OF_T)).json()["content_hash"]}
    stale = await api.call("POST", f"{path}/approve", seen, who=OF_T)
    assert (stale.status_code, stale.json()["kind"]) == (409, "stale")
    fresh = (await api.call("POST", f"{path}/refresh", {}, who=OF_T)).json()
    assert fresh["held"] == ["audit would be gone for all: it is also on the list of B (b), D (d)"]
    seen = {"seen": fresh["content_hash"]}
    assert (await api.call("POST", f"{path}/approve", seen, who=OF_T)).is_success
    assert await lists(api) == {"a": [], "b": []}


async def test_a_person_asks_to_delete_a_skill_for_all(api: Api) -> None:
    await with_skills(api)
    path = "/v1/skills/refund"
    tried = (await api.call("DELETE", f"{path}?dry_run=true", who=OF_T)).json()
    assert tried["status"] == "prepared"
    held = (await api.call("DELETE", path, who=OF_T)).json()
    assert held["status"] == "held"
    waiting = (await api.call("GET", f"/v1/changes/{held['change_id']}", who=OF_T)).json()
    assert "it is also on the list of A (a), B (b)" in waiting["held"][0]
    assert await lists(api) == {"a": ["refund"], "b": ["audit", "refund"]}
    approve = f"/v1/changes/{held['change_id']}/approve"
    seen = {"seen": waiting["content_hash"]}
    assert (await api.call("POST", approve, seen, who=OF_T)).json()["status"] == "applied"
    assert await lists(api) == {"a": [], "b": ["audit"]}
    revert = f"/v1/changes/{held['change_id']}/revert"
    assert (await api.call("POST", revert, {}, who=OF_T)).json()["status"] == "applied"
    assert await lists(api) == {"a": ["refund"], "b": ["audit", "refund"]}


async def test_a_skill_of_one_agent_waits_too_and_others_cannot_ask(api: Api) -> None:
    await with_skills(api)
    held = (await api.call("DELETE", "/v1/skills/audit", who=OF_T)).json()
    assert held["status"] == "held"
    assert (await api.call("DELETE", "/v1/skills/nope", who=OF_T)).status_code == 404
    reader = one_of("t", Role.READ, Role.OPERATE, Role.SUBMIT)
    assert (await api.call("DELETE", "/v1/skills/refund", who=reader)).status_code == 403
    stranger = one_of("u", *Role)
    assert (await api.call("DELETE", "/v1/skills/refund", who=stranger)).status_code == 404

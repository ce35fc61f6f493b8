"""Feedback over HTTP: added, listed, retried, cancelled, retracted, within tenant and role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain.models import MemoryRequest, Operation, SubmitContext
from core.domain.models.access import Role
from tests.support.api import Api, one_of, opened_api

OF_T, OF_U = one_of("t"), one_of("u")
PIECE = {"agent_ids": ["a"], "content": "금액은 원화로"}


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path) as opened:
        yield opened


async def added(api: Api, **given: object) -> str:
    answer = await api.call("POST", "/v1/feedback", {**PIECE, **given}, who=OF_T)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def test_a_piece_goes_in_and_is_given_as_it_came(api: Api) -> None:
    answer = await api.call("POST", "/v1/feedback", {**PIECE, "task": "견적"}, who=OF_T)
    taken = answer.json()
    assert (answer.status_code, taken["status"], taken["new"]) == (202, "queued", True)
    found = (await api.call("GET", f"/v1/feedback/{taken['id']}", who=OF_T)).json()
    assert (found["content"], found["task"], found["tenant_id"]) == ("금액은 원화로", "견적", "t")
    assert set(found["roles"]) == OF_T.roles  # for rules of the policy that name them


async def test_the_same_id_again_is_the_same_piece(api: Api) -> None:
    first = await added(api, id="s-1")
    again = (await api.call("POST", "/v1/feedback", {**PIECE, "id": "s-1"}, who=OF_T)).json()
    assert again == {"id": first, "status": "queued", "new": False, "masked": []}
    other = {**PIECE, "id": "s-1", "content": "달러로"}
    refused = await api.call("POST", "/v1/feedback", other, who=OF_T)
    assert (refused.status_code, refused.json()["kind"]) == (409, "refused")


async def test_under_one_key_a_piece_goes_in_once_though_nobody_kept_the_answer(api: Api) -> None:
    # The stored answers of idempotency keys belong to this app.
    async with api.client(OF_T) as client:
        first, again, other = [
            (await client.post("/v1/feedback", json=PIECE, headers={"Idempotency-Key": key})).json()
            for key in ("k1", "k1", "k2")
        ]
    assert again == {**first, "new": False}
    assert (other["new"], other["id"] == first["id"]) == (True, False)


async def test_an_id_is_one_of_its_tenant(api: Api) -> None:
    first = await added(api, id="s-1")
    piece = {"id": "s-1", "agent_ids": ["c"], "content": "달러로"}
    other = await api.call("POST", "/v1/feedback", piece, who=OF_U)
    assert other.status_code == 202
    assert other.json()["id"] != first


WRONG = (
    ({"agent_ids": ["nobody"]}, 404, "there is no agent 'nobody'"),
    ({"agent_ids": ["c"]}, 404, "there is no agent 'c'"),
    ({"tenant_id": "u"}, 404, "there is no tenant 'u'"),
    ({"agent_ids": []}, 422, "agent_ids"),
    ({"content": "\u200b"}, 422, "content is blank"),
    ({"content": "x" * 300_000}, 422, "more than"),
    ({"content": None}, 422, "content"),
    ({"content": "a\0b"}, 422, "NUL"),
    ({"events": [{"\ud800": 1}]}, 422, "surrogate"),
    ({"sevrity": 1}, 422, "sevrity"),
    ({"roles": ["operate"]}, 422, "roles"),
    ({"id": " "}, 422, "id"),
)


async def test_what_is_wrong_is_named_and_nothing_goes_in(api: Api) -> None:
    for given, status, said in WRONG:
        answer = await api.call("POST", "/v1/feedback", {**PIECE, **given}, who=OF_T)
        assert answer.status_code == status, said
        assert answer.headers["content-type"] == "application/problem+json"
        assert said in answer.json()["detail"]
    assert (await api.call("GET", "/v1/feedback")).json()["items"] == []


async def test_a_token_of_all_tenants_says_whose_it_is(api: Api) -> None:
    assert (await api.call("POST", "/v1/feedback", PIECE)).status_code == 422
    answer = await api.call("POST", "/v1/feedback", {**PIECE, "tenant_id": "t"})
    assert answer.status_code == 202


async def test_a_batch_goes_in_whole_or_not_at_all(api: Api) -> None:
    pieces = [{**PIECE, "id": f"s-{n}", "content": f"{n} 원"} for n in range(3)]
    bad = [*pieces, {**PIECE, "agent_ids": ["nobody"]}]
    refused = await api.call("POST", "/v1/feedback/batch", {"items": bad}, who=OF_T)
    assert refused.status_code == 404
    assert "items.3: there is no agent" in refused.json()["detail"]
    many = [{**PIECE, "agent_ids": ["nobody"]}] * 23
    refused = await api.call("POST", "/v1/feedback/batch", {"items": many}, who=OF_T)
    assert "items.19: " in refused.json()["detail"]
    assert refused.json()["detail"].endswith("; and 3 more")
    assert (await api.call("GET", "/v1/feedback")).json()["items"] == []
    answer = await api.call("POST", "/v1/feedback/batch", {"items": pieces}, who=OF_T)
    assert [item["new"] for item in answer.json()["items"]] == [True] * 3
    again = await api.call("POST", "/v1/feedback/batch", {"items": pieces}, who=OF_T)
    assert [item["new"] for item in again.json()["items"]] == [False] * 3
    two = [{**PIECE, "tenant_id": "t"}, {"agent_ids": ["c"], "content": "x", "tenant_id": "u"}]
    mixed = await api.call("POST", "/v1/feedback/batch", {"items": two})
    assert (mixed.status_code, mixed.json()["kind"]) == (422, "invalid")


async def test_lists_are_filtered_and_come_in_pages(api: Api) -> None:
    ids = [await added(api, content=f"{n}번째 원화로") for n in range(5)]
    seen: list[str] = []
    cursor: str | None = None
    while True:
        given = {"limit": 2, "tenant_id": "t", **({"cursor": cursor} if cursor else {})}
        page = (await api.call("GET", "/v1/feedback", params=given)).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
        last = cursor
    assert seen == ids[::-1]
    for params in ({"cursor": last}, {"cursor": last, "agent_id": "a"}, {"cursor": "x"}):
        answer = await api.call("GET", "/v1/feedback", params=params)
        assert (answer.status_code, answer.json()["kind"]) == (422, "invalid")
    for given, expected in (
        ({"text": "3번째"}, [ids[3]]),
        ({"agent_id": "b"}, []),
        ({"status": ["dead", "failed"]}, []),
        ({"status": ["dead", "queued"], "limit": 1}, [ids[4]]),
        ({"since": "2999-01-01T00:00:00Z"}, []),
    ):
        page = (await api.call("GET", "/v1/feedback", params=given)).json()
        assert [item["id"] for item in page["items"]] == expected, given


UNFILTERED = (
    ({"statsu": "dead"}, "statsu"),
    ({"status": "ded"}, "status"),
    ({"limit": 0}, "limit"),
    ({"limit": 201}, "limit"),
    ({"since": "yesterday"}, "since"),
    ({"since": "2026-01-01T00:00:00"}, "since"),
    ({"text": "a\0b"}, "NUL"),
    ({"tenant_id": "\0"}, "NUL"),
)


async def test_a_filter_that_is_none_is_refused(api: Api) -> None:
    for params, said in UNFILTERED:
        answer = await api.call("GET", "/v1/feedback", params=params)
        assert answer.status_code == 422, said
        assert said in answer.json()["detail"]


async def test_a_piece_is_cancelled_and_retried(api: Api) -> None:
    piece = f"/v1/feedback/{await added(api)}"
    assert (await api.call("POST", f"{piece}/retry", who=OF_T)).status_code == 409
    assert (await api.call("POST", f"{piece}/cancel", {"reason": " "}, who=OF_T)).status_code == 422
    ended = await api.call("POST", f"{piece}/cancel", {"reason": "농담이었다"}, who=OF_T)
    assert (ended.json()["status"], ended.json()["error"]) == ("cancelled", "농담이었다")
    assert (await api.call("POST", f"{piece}/cancel", {"reason": "x"}, who=OF_T)).status_code == 409
    again = (await api.call("POST", f"{piece}/retry", who=OF_T)).json()
    assert (again["status"], again["generation"]) == ("queued", 2)


async def test_what_a_piece_taught_is_taken_back_after_a_look_ahead(api: Api) -> None:
    feedback_id = await added(api)
    path = f"/v1/feedback/{feedback_id}/retract"
    assert (await api.call("POST", path, {}, who=OF_T)).status_code == 409
    await api.app.stores.intake.cancel(feedback_id, "it has taught by now")
    assert (await api.call("POST", path, {}, who=OF_T)).status_code == 404
    request = MemoryRequest(operation=Operation.CREATE, content="금액은 원화로 적는다")
    context = SubmitContext(
        key="k", tenant_id="t", agent_id="a", feedback_id=feedback_id, feedback_content="x"
    )
    await api.app.gate.submit(request, context)
    known = await api.app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=None)
    ahead = (await api.call("POST", path, {"dry_run": True}, who=OF_T)).json()
    assert ahead["effects"][0]["operation"] == "DELETE"
    assert (
        await api.app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=None) == known != []
    )
    done = (await api.call("POST", path, {}, who=OF_T)).json()
    assert done["effects"][0]["receipt"]["status"] == "applied"
    assert await api.app.stores.knowledge.list(tenant_id="t", agent_id=None, kind=None) == []


CALLS = [
    ("GET", "", None, Role.READ),
    ("GET", "/ID", None, Role.READ),
    ("POST", "", PIECE, Role.SUBMIT),
    ("POST", "/batch", {"items": [PIECE]}, Role.SUBMIT),
    ("POST", "/ID/retry", None, Role.OPERATE),
    ("POST", "/ID/cancel", {"reason": "x"}, Role.OPERATE),
    ("POST", "/ID/retract", {}, Role.REVIEW),
]


async def test_each_call_takes_its_role_and_its_tenant(api: Api) -> None:
    for method, path, body, role in CALLS:
        whole = f"/v1/feedback{path.replace('ID', await added(api))}"
        others = [other for other in Role if other is not role]
        refused = await api.call(method, whole, body, who=one_of("t", *others))
        assert (refused.status_code, refused.json()["kind"]) == (403, "forbidden"), whole
        let_in = await api.call(method, whole, body, who=one_of("t", role))
        assert let_in.status_code != 403, whole
        if "ID" in path:
            strange = await api.call(method, whole, body, who=one_of("u", role))
            assert (strange.status_code, strange.json()["kind"]) == (404, "not_found"), whole


async def test_a_follow_up_goes_in_with_what_it_answers_and_is_about(api: Api) -> None:
    about = {
        "said_at": "2026-05-01T09:04:00+09:00",
        "in_reply_to": "not yet here",
        "thread": "견적 7",
        "output": {"합계": "3,500,000원"},
    }
    found = (await api.call("GET", f"/v1/feedback/{await added(api, **about)}", who=OF_T)).json()
    assert found["said_at"] == "2026-05-01T00:04:00Z"
    assert {name: found[name] for name in ("in_reply_to", "thread", "output")} == {
        name: about[name] for name in ("in_reply_to", "thread", "output")
    }


async def test_a_time_without_a_zone_is_refused_with_one_that_is_taken(api: Api) -> None:
    piece = {**PIECE, "said_at": "2026-05-01T09:04:00"}
    for path, body in (("", piece), ("/batch", {"items": [PIECE, piece]})):
        answer = await api.call("POST", f"/v1/feedback{path}", body, who=OF_T)
        assert answer.status_code == 422
        assert "has no time zone: write it as 2026-05-01T09:00:00+09:00" in answer.text


async def test_a_time_ahead_is_not_taken_and_that_is_on_record(api: Api) -> None:
    key = await added(api, said_at="2999-01-01T00:00:00Z")
    found = (await api.call("GET", f"/v1/feedback/{key}", who=OF_T)).json()
    assert found["said_at"] == found["created_at"]
    assert found["claimed_said_at"] == "2999-01-01T00:00:00Z"
    run = (await api.call("GET", f"/v1/feedback/{key}/run", who=OF_T)).json()
    assert [step["name"] for step in run["steps"]] == ["feedback.redated"]

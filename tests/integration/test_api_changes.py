"""Deciding about changes over HTTP: exactly what was seen, once, within tenant and role."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.domain.hashing import state_hash, text_hash
from core.domain.models import ChangeStatus, Kind, Operation
from core.domain.models.access import Principal, Role
from core.learning_committers.skill_folders import state_of
from tests.support.api import EVERYTHING, one_of, opened_api
from tests.support.reviewing import Reviewing, remember, skill

KIM = EVERYTHING
LEE = Principal(token_id="lee", name="lee", roles=frozenset(Role))


@pytest.fixture
async def reviewing(database: str, tmp_path: Path) -> AsyncIterator[Reviewing]:
    async with opened_api(database, tmp_path, review_policy="all") as api:
        yield Reviewing(api)


async def test_what_was_seen_is_what_the_store_then_holds(reviewing: Reviewing) -> None:
    change_id = await reviewing.held(remember("금액은 원화로 적는다"))
    status, receipt = await reviewing.decide("approve", change_id)
    change = await reviewing.app.stores.changes.get(change_id)
    item = await reviewing.app.stores.knowledge.get(Kind.MEMORY, "t", receipt["target_id"])
    assert (status, receipt["status"], change.decided_by) == (200, "applied", "kim")
    assert text_hash(item.content) == state_hash(change.after)


async def test_a_skill_that_was_approved_is_in_the_store_byte_for_byte(
    reviewing: Reviewing,
) -> None:
    change_id = await reviewing.held(
        skill({"scripts/run.py": b"print(1)\n", "assets/logo.png": b"\x89PNG\0\xff"})
    )
    status, _ = await reviewing.decide("approve", change_id)
    change = await reviewing.app.stores.changes.get(change_id)
    bundle = await reviewing.app.stores.skills.read("refund", "t")
    assert status == 200
    assert bundle is not None
    assert state_hash(state_of(bundle)) == state_hash(change.after)


@pytest.mark.parametrize(
    ("act", "body"),
    [("approve", {}), ("reject", {"reason": "no"}), ("edit", {"content": "다른 글"})],
)
async def test_a_decision_says_what_was_seen(
    reviewing: Reviewing, act: str, body: dict[str, str]
) -> None:
    change_id = await reviewing.held(remember("금액은 원화로"))
    path = f"/v1/changes/{change_id}/{act}"
    missing = await reviewing.api.call("POST", path, body)
    other = await reviewing.api.call("POST", path, {**body, "seen": "0" * 64})
    assert (missing.status_code, missing.json()["kind"]) == (422, "invalid")
    assert (other.status_code, other.json()["kind"]) == (409, "stale")
    assert (await reviewing.app.stores.changes.get(change_id)).status is ChangeStatus.HELD


async def test_a_decision_on_what_was_decided_says_who_and_when(reviewing: Reviewing) -> None:
    change_id = await reviewing.held(remember("금액은 원화로"))
    await reviewing.decide("reject", change_id, {"reason": "사실이 아니다"}, LEE)
    for act, body in (
        ("approve", {}),
        ("reject", {"reason": "no"}),
        ("edit", {"content": "x"}),
        ("refresh", {}),
    ):
        status, problem = await reviewing.decide(act, change_id, body)
        assert (status, problem["kind"]) == (409, "decided")
        assert "by lee at 20" in problem["detail"]
        assert "it is rejected" in problem["detail"]


async def test_of_many_at_once_one_decides_and_all_others_are_told_who(
    reviewing: Reviewing,
) -> None:
    change_id = await reviewing.held(remember("금액은 원화로"))
    people = [Principal(token_id=f"{n}", name=f"p{n}", roles=frozenset(Role)) for n in range(6)]
    ended = await asyncio.gather(
        *(
            reviewing.decide(*(("approve", change_id, {}) if n % 2 else
                               ("reject", change_id, {"reason": "no"})), who)
            for n, who in enumerate(people)
        )
    )  # fmt: skip
    change = await reviewing.app.stores.changes.get(change_id)
    refused = [problem for status, problem in ended if status == 409]
    assert [status for status, _ in ended].count(200) == 1
    assert len(refused) == 5
    assert all(problem["kind"] == "decided" for problem in refused)
    assert all(f"by {change.decided_by} at" in problem["detail"] for problem in refused)


async def test_what_waits_is_prepared_again_once_another_is_approved(
    reviewing: Reviewing,
) -> None:
    target = await reviewing.learnt(remember("금액은 원화로 적는다"))
    update = {"operation": "UPDATE", "target_id": target, "merge_mode": "EXTEND"}
    first = await reviewing.held(remember("소수점은 없다", **update))
    second = await reviewing.held(remember("천 단위로 끊는다", **update))
    view = await reviewing.review_view(second)
    assert [(one["change"]["id"], one["relation"]) for one in view["beside"]] == [
        (first, "touches")
    ]
    old = await reviewing.seen(second)
    assert (await reviewing.decide("approve", first))[0] == 200
    view = await reviewing.review_view(second)
    assert (view["moved"], view["change"]["status"], view["beside"]) == (False, "held", [])
    for act, body in (("approve", {}), ("edit", {"content": "x"})):
        status, problem = await reviewing.decide(act, second, {"seen": old, **body})
        assert (status, problem["kind"]) == (409, "stale")
    assert (await reviewing.decide("approve", second))[0] == 200
    item = await reviewing.app.stores.knowledge.get(Kind.MEMORY, "t", target)
    assert item.content.splitlines() == [
        "금액은 원화로 적는다",
        "소수점은 없다",
        "천 단위로 끊는다",
    ]


async def test_what_was_edited_is_looked_at_again_and_then_applied(reviewing: Reviewing) -> None:
    change_id = await reviewing.held(remember("금액은 원화로"))
    old = await reviewing.seen(change_id)
    status, fresh = await reviewing.decide("edit", change_id, {"content": "금액은 달러로"})
    assert (status, fresh["edited_by"], fresh["status"]) == (200, "kim", "held")
    assert fresh["content_hash"] != old
    status, problem = await reviewing.decide("approve", change_id, {"seen": old})
    assert (status, problem["kind"]) == (409, "stale")
    status, receipt = await reviewing.decide("approve", change_id, {"seen": fresh["content_hash"]})
    item = await reviewing.app.stores.knowledge.get(Kind.MEMORY, "t", receipt["target_id"])
    assert (status, item.content) == (200, "금액은 달러로")


async def test_a_skill_is_edited_by_its_files_in_base64(reviewing: Reviewing) -> None:
    change_id = await reviewing.held(skill({"references/a.md": b"a\n"}))
    files = {"SKILL.md": {"data": "LS0tCm5hbWU6IHJlZnVuZApkZXNjcmlwdGlvbjogeAotLS0KCiMgeAo="}}
    status, _ = await reviewing.decide("edit", change_id, {"files": files})
    change = await reviewing.app.stores.changes.get(change_id)
    assert status == 200
    assert change.after is not None
    assert [*(change.after.files or {})] == ["SKILL.md"]


CALLS = (
    ("GET", "", None),
    ("GET", "/review", None),
    ("GET", "/files?path=memory.txt", None),
    ("POST", "/approve", {"seen": "x"}),
    ("POST", "/reject", {"seen": "x", "reason": "no"}),
    ("POST", "/edit", {"seen": "x", "content": "y"}),
    ("POST", "/refresh", {}),
    ("POST", "/revert", {}),
)


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
async def test_another_tenants_change_does_not_exist(
    reviewing: Reviewing, method: str, path: str, body: dict[str, str] | None
) -> None:
    change_id = await reviewing.held(remember("금액은 원화로"))
    foreign = await reviewing.api.call(
        method, f"/v1/changes/{change_id}{path}", body, who=one_of("u")
    )
    nowhere = await reviewing.api.call(method, f"/v1/changes/nothing{path}", body)
    assert (foreign.status_code, nowhere.status_code) == (404, 404)
    told = foreign.json()["detail"].replace(change_id, "nothing")
    assert told == nowhere.json()["detail"]


@pytest.mark.parametrize(("method", "path", "body"), CALLS)
async def test_reading_and_deciding_take_their_roles(
    reviewing: Reviewing, method: str, path: str, body: dict[str, str] | None
) -> None:
    change_id = await reviewing.held(remember("금액은 원화로"))
    who = one_of("t", Role.READ if method == "POST" else Role.REVIEW)
    answer = await reviewing.api.call(method, f"/v1/changes/{change_id}{path}", body, who=who)
    assert (answer.status_code, answer.json()["kind"]) == (403, "forbidden")


async def test_a_look_ahead_changes_nothing(reviewing: Reviewing) -> None:
    change_id = await reviewing.held(remember("금액은 원화로"))
    for act, body in (
        ("approve", {}),
        ("reject", {"reason": "no"}),
        ("edit", {"content": "x y"}),
        ("refresh", {}),
    ):
        before = await reviewing.app.stores.changes.get(change_id)
        status, told = await reviewing.decide(act, change_id, {**body, "dry_run": True})
        assert status == 200, told
        assert await reviewing.app.stores.changes.get(change_id) == before


async def test_an_applied_change_is_taken_back(reviewing: Reviewing) -> None:
    target = await reviewing.learnt(remember("금액은 원화로"))
    page = (await reviewing.api.call("GET", "/v1/changes?status=applied")).json()
    (applied,) = page["items"]
    status, ahead = await reviewing.decide("revert", applied["id"], {"dry_run": True})
    assert (status, ahead["status"]) == (200, "prepared")
    status, receipt = await reviewing.decide("revert", applied["id"], {"reason": "틀렸다"})
    assert (status, receipt["target_id"]) == (200, target)
    made = await reviewing.app.stores.changes.get(receipt["change_id"])
    assert made.reason == "틀렸다, asked for by kim"
    assert (await reviewing.review_view(applied["id"]))["undone_by"] == made.id
    assert not await reviewing.app.stores.knowledge.list(
        tenant_id="t", agent_id=None, kind=Kind.MEMORY
    )
    status, problem = await reviewing.decide("revert", applied["id"])
    assert (status, problem["kind"]) == (409, "refused")


async def test_the_list_is_of_the_tenant_and_leaves_contents_out(reviewing: Reviewing) -> None:
    own = await reviewing.held(remember("금액은 원화로"))
    await reviewing.held(remember("금액은 달러로"), agent_id="c", tenant="u")
    held = await reviewing.api.call(
        "GET", "/v1/changes?status=held&status=stale&kind=MEMORY", who=one_of("t")
    )
    assert [item["id"] for item in held.json()["items"]] == [own]
    assert "after" not in held.json()["items"][0]
    foreign = await reviewing.api.call("GET", "/v1/changes?tenant_id=u", who=one_of("t"))
    assert foreign.status_code == 404


async def test_reviewers_who_begin_at_once_begin_with_different_changes(
    reviewing: Reviewing,
) -> None:
    texts = ("금액은 원화로", "회의는 화요일에", "환불은 사흘 안에")
    waiting = [await reviewing.held(remember(text)) for text in texts]
    people = [one_of("t").model_copy(update={"token_id": f"{n}"}) for n in range(3)]
    begun = await asyncio.gather(
        *(reviewing.api.call("GET", "/v1/changes/next", who=who) for who in people)
    )
    assert {answer.json()["id"] for answer in begun} == set(waiting)
    late = await reviewing.api.call(
        "GET", "/v1/changes/next", who=people[0].model_copy(update={"token_id": "late"})
    )
    assert late.json()["id"] == waiting[0]


async def test_the_views_of_two_reviewers_lead_to_different_changes(
    reviewing: Reviewing,
) -> None:
    texts = ("금액은 원화로", "회의는 화요일에", "환불은 사흘 안에", "보고서는 영어로")
    first, second, third, fourth = [await reviewing.held(remember(text)) for text in texts]
    kims = (await reviewing.review_view(first, KIM))["neighbours"]
    lees = (await reviewing.review_view(second, LEE))["neighbours"]
    assert kims == {"previous": None, "next": second, "position": 1, "waiting": 4}
    assert (lees["previous"], lees["next"]) == (first, third)
    assert (await reviewing.review_view(first, KIM))["neighbours"]["next"] == fourth


async def test_nothing_waits(reviewing: Reviewing) -> None:
    assert (await reviewing.api.call("GET", "/v1/changes/next")).json() == {"id": None}


async def test_what_edits_a_target_deleted_meanwhile_is_a_choice(reviewing: Reviewing) -> None:
    target = await reviewing.learnt(remember("금액은 원화로 적는다"))
    update = {"operation": "UPDATE", "target_id": target, "merge_mode": "EXTEND"}
    change_id = await reviewing.held(remember("소수점은 없다", **update))
    gone = remember("", operation=Operation.DELETE, target_id=target)
    await reviewing.learnt(gone)
    view = await reviewing.review_view(change_id)
    assert (view["change"]["operation"], view["moved"]) == ("CREATE", False)
    assert "was deleted meanwhile" in view["change"]["warnings"][-1]
    status, done = await reviewing.decide("approve", change_id)
    assert (status, done["status"]) == (200, "applied")


ODD = (
    ("GET", "/v1/changes/%00/review", None),
    ("GET", "/v1/changes/%00/files?path=%00", None),
    ("GET", "/v1/changes/{id}/files?path=%00", None),
    ("GET", "/v1/changes?target_id=%00&feedback_id=%00", None),
    ("GET", "/v1/changes?cursor=nonsense", None),
    ("GET", "/v1/changes?status=open", None),
    ("POST", "/v1/changes/{id}/approve", {"seen": "\0"}),
    ("POST", "/v1/changes/{id}/reject", {"seen": "{seen}", "reason": " \n"}),
    ("POST", "/v1/changes/{id}/edit", {"seen": "{seen}", "content": ""}),
    ("POST", "/v1/changes/{id}/edit", {"seen": "{seen}"}),
    ("POST", "/v1/changes/{id}/edit", {"seen": "{seen}", "content": "x", "files": {}}),
    ("POST", "/v1/changes/{id}/edit", {"seen": "{seen}", "files": {"a": {"data": "%"}}}),
    ("POST", "/v1/changes/{id}/edit", {"seen": "{seen}", "content": "a\0b"}),
    ("POST", "/v1/changes/{id}/approve", {"seen": "{seen}", "sean": "x"}),
)


@pytest.mark.parametrize(("method", "path", "body"), ODD)
async def test_nonsense_is_refused_and_changes_nothing(
    reviewing: Reviewing, method: str, path: str, body: dict[str, object] | None
) -> None:
    change_id = await reviewing.held(remember("금액은 원화로"))
    seen = await reviewing.seen(change_id)
    if body is not None:
        body = {key: seen if value == "{seen}" else value for key, value in body.items()}
    answer = await reviewing.api.call(method, path.replace("{id}", change_id), body)
    assert 400 <= answer.status_code < 500, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert await reviewing.seen(change_id) == seen

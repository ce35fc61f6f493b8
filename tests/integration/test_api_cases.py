"""Cases over the API: seen, added, edited, disabled and run by people."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import JsonValue

from core.domain.models.access import Role
from core.domain.models.cases import CaseFilter
from tests.support.api import Api, one_of, opened_api
from tests.support.learning import Teacher

SAYS = "고객에게 보내는 금액은 원화로 적는다"
ASKED = {"check": "recall", "text": "금액은 어느 통화로 적나"}
Body = Mapping[str, JsonValue]


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path, review_policy="auto") as opened:
        yield opened


@pytest.fixture
async def item(api: Api) -> str:
    """Teach a memory, and return its id."""
    return str((await Teacher(api.app).memory(SAYS)).target_id)


async def add(api: Api, item: str, case: Body, status: int = 200, **more: str) -> dict[str, object]:
    answer = await api.call("POST", "/v1/cases", {"id": item, "case": case, **more})
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def listed(api: Api, **params: str) -> list[dict[str, JsonValue]]:
    answer = await api.call("GET", "/v1/cases", params=params)
    assert answer.status_code == 200, answer.text
    return [*answer.json()["items"]]


async def test_each_known_item_says_how_its_cases_stand(api: Api, item: str) -> None:
    await add(api, item, {"check": "unsaid", "text": "달러"})
    await add(api, item, {"check": "unsaid", "text": "원화"})
    (known,) = (await api.call("GET", "/v1/knowledge")).json()["items"]
    derived = len(await listed(api, status="green")) - 1
    assert known["cases"] == {"green": 1 + derived, "red": 1, "unproved": 0, "disabled": 0}


async def test_a_case_is_run_as_it_is_added_and_edited(api: Api, item: str) -> None:
    added = await add(api, item, {"check": "unsaid", "text": "달러"})
    case = added["case"]
    assert isinstance(case, dict)
    assert (added["passed"], case["status"], case["by"]) == (True, "green", "kim")
    assert (case["role"], case["origin"], case["change_id"]) == ("regression", "person", None)
    path = f"/v1/cases/{case['id']}"
    edited = await api.call("PUT", path, {"case": {"check": "unsaid", "text": "원화"}})
    assert (edited.status_code, edited.json()["passed"]) == (200, False)
    assert "원화" in edited.json()["why"]
    found = (await api.call("GET", path)).json()
    assert (found["status"], found["body"]["text"]) == ("red", "원화")
    assert found["note"] == edited.json()["why"]


async def test_cases_are_listed_by_item_status_and_agent(api: Api, item: str) -> None:
    other = str((await Teacher(api.app).memory("보고는 월요일에 한다")).target_id)
    for target, text in ((item, "달러"), (item, "원화"), (other, "금요일")):
        await add(api, target, {"check": "unsaid", "text": text})
    mine = {"check": "unsaid"}
    assert [one["body"]["text"] for one in await listed(api, item_id=item, **mine)] == [
        "원화",
        "달러",
    ]
    assert [one["body"]["text"] for one in await listed(api, status="red", **mine)] == ["원화"]
    assert len(await listed(api, agent_id="a", **mine)) == 3
    assert await listed(api, agent_id="b", **mine) == []
    first = await api.call("GET", "/v1/cases", params={"limit": 2, **mine})
    following = {"limit": 2, "cursor": first.json()["next"], **mine}
    second = await api.call("GET", "/v1/cases", params=following)
    assert [one["body"]["text"] for one in second.json()["items"]] == ["달러"]
    assert second.json()["next"] is None


async def test_a_disabled_case_is_kept_and_neither_run_nor_edited(api: Api, item: str) -> None:
    case = dict((await add(api, item, {"check": "unsaid", "text": "원화"}))["case"])  # type: ignore[call-overload]
    path = f"/v1/cases/{case['id']}"
    for _ in range(2):
        done = await api.call("POST", f"{path}/disable", {"reason": "이제 그렇게 적는다"})
        assert (done.status_code, done.json()["status"]) == (200, "disabled")
    assert (await api.call("GET", path)).json()["note"] == "이제 그렇게 적는다"
    refused = await api.call("PUT", path, {"case": {"check": "unsaid", "text": "x"}})
    assert refused.status_code == 409
    run = (await api.call("POST", "/v1/cases/run", {"ids": [case["id"]]})).json()
    assert [one["passed"] for one in run["results"]] == [None]
    assert "disabled" in run["results"][0]["why"]


async def test_a_run_notes_what_fails_by_now(api: Api, item: str) -> None:
    await add(api, item, {"check": "unsaid", "text": "달러"})
    await api.app.stores.cases.note([])  # nothing to note is nothing noted
    async with api.app.stores.pool.connection() as conn:
        await conn.execute("UPDATE cases SET status = 'unproved'")
    ran = (await api.call("POST", "/v1/cases/run", {"item_id": item})).json()
    passed = {one["case"]["body"]["text"]: one["passed"] for one in ran["results"]}
    assert passed["달러"] is True
    assert ran["more"] is False
    assert {one["status"] for one in await listed(api, item_id=item)} == {"green"}


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ({"check": "unsaid"}, "needs `text`"),
        ({"check": "decision", "inputs": {"amount": 1}}, "not for MEMORY"),
        ({"check": "recall", "text": "x" * 2001}, "2001 characters"),
        ({"check": "behaviour", "text": "금액을 적는다"}, "neither"),
        ({"check": "guess", "text": "x"}, "check"),
        ({"check": "unsaid", "text": "x", "colour": "red"}, "colour"),
        ({"check": "unsaid", "text": "a\0b"}, "NUL"),
    ],
)
async def test_what_is_no_case_is_refused_with_the_reason(
    api: Api, item: str, case: Body, why: str
) -> None:
    before = len(await listed(api))
    answer = await api.call("POST", "/v1/cases", {"id": item, "case": case})
    assert answer.status_code == 422
    assert why in answer.text
    assert len(await listed(api)) == before


async def test_a_case_of_nothing_or_of_anothers_agent_is_refused(api: Api, item: str) -> None:
    case = {"check": "unsaid", "text": "달러"}
    await add(api, "nothing", case, status=404)
    refused = await add(api, item, case, status=422, agent_id="b")
    assert "only for its agent" in str(refused["detail"])


async def test_a_secret_in_a_case_is_masked_before_it_is_stored(api: Api, item: str) -> None:
    secret = "sk-ant-api03-" + "Ab1" * 30
    added = await add(api, item, {"check": "unsaid", "text": f"key {secret}"})
    assert secret not in str(added)
    assert secret not in str(await listed(api))


async def test_rows_that_no_case_decides_by_are_told(api: Api) -> None:
    taught = await Teacher(api.app).rule(("> 10", "팀장"), ("<= 10", "없음"))
    table = str(taught.target_id)
    async with api.app.stores.pool.connection() as conn:
        await conn.execute("DELETE FROM cases")
    for amount, who, uncovered in ((20, "팀장", [2]), (5, "없음", [])):
        case = {"check": "decision", "inputs": {"amount": amount}, "outputs": {"approver": who}}
        assert (await add(api, table, case))["passed"] is True
        page = (await api.call("GET", "/v1/cases", params={"item_id": table})).json()
        assert [(one["rows"], one["uncovered"]) for one in page["coverage"]] == [(2, uncovered)]
    alone = (await api.call("GET", "/v1/cases/coverage", params={"id": table})).json()
    assert (alone["item_id"], alone["uncovered"]) == (table, [])


async def test_weeks_tell_what_came_through_and_what_was_stopped(api: Api, item: str) -> None:
    await add(api, item, {"check": "unsaid", "text": "원화"})
    figures = api.app.stores.case_figures
    wanted = CaseFilter(tenant_id="t")
    seen = await figures.weeks(wanted, until=datetime.now(UTC), weeks=3)
    assert [one.applied for one in seen] == [0, 0, 1]
    assert [one.red for one in seen] == [0, 0, 1]
    assert seen[-1].week.weekday() == 0
    assert seen[1].week - seen[0].week == timedelta(days=7)
    async with api.app.stores.pool.connection() as conn:
        told = [("refused", "c1"), ("refused", "c2"), ("held", "c3"), ("held", "c3")]
        for came_to, change in told:
            await conn.execute(
                "INSERT INTO run_events (name, tenant_id, change_id, data) VALUES"
                " ('case.broken', 't', %s, jsonb_build_object('came_to', %s::text))",
                (change, came_to),
            )
    overview = (await api.call("GET", "/v1/cases/overview", params={"tenant_id": "t"})).json()
    last = overview["weeks"][-1]
    assert (len(overview["weeks"]), last["refused"], last["held"]) == (12, 2, 1)
    assert overview["counts"]["red"] == 1


async def test_a_reader_sees_cases_and_changes_none(api: Api, item: str) -> None:
    case = dict((await add(api, item, {"check": "unsaid", "text": "달러"}))["case"])  # type: ignore[call-overload]
    reader = one_of("t", Role.READ)
    path = f"/v1/cases/{case['id']}"
    assert (await api.call("GET", path, who=reader)).status_code == 200
    for method, where, body in (
        ("POST", "/v1/cases", {"id": item, "case": ASKED}),
        ("PUT", path, {"case": ASKED}),
        ("POST", f"{path}/disable", {"reason": "x"}),
        ("POST", "/v1/cases/run", {}),
    ):
        assert (await api.call(method, where, body, who=reader)).status_code == 403

"""What an agent should see for a task: what holds and is its own, or nothing; over PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.domain.models import MemoryRequest, Operation, Scope, SubmitContext
from core.domain.models.access import Principal, Role
from core.domain.models.uses import Use, Way
from core.domain.ports import NoUses
from tests.support.api import Api, one_of, opened_api
from tests.support.learning import Teacher

TASK = "고객이 배송비를 돌려 달라고 하는데 어떤 기준으로 답장하면 될까요?"
YESTERDAY = datetime.now(UTC) - timedelta(days=1)
AGENT = Principal(
    token_id="3", name="a's", tenant_id="t", agent_id="a", roles=frozenset({Role.READ})
)


class Noted(NoUses):
    """Keeps what is noted."""

    def __init__(self) -> None:
        self.uses: list[Use] = []

    def note(self, uses: Sequence[Use]) -> None:
        self.uses += uses


@pytest.fixture
async def api(database: str, tmp_path: Path) -> AsyncIterator[Api]:
    async with opened_api(database, tmp_path, review_policy="auto") as opened:
        yield opened


async def known(api: Api, content: str, agent_id: str = "a", **given: object) -> str:
    request = MemoryRequest.model_validate(
        {"operation": Operation.CREATE, "content": content, "is_import": True, **given}
    )
    receipt = await api.app.gate.submit(
        request, SubmitContext(key=content, tenant_id="t", agent_id=agent_id)
    )
    assert receipt.target_id is not None, receipt
    return receipt.target_id


async def shown(api: Api, task: str = TASK, agent: str = "a", **given: object) -> list[str]:
    answer = await api.call(
        "POST", "/v1/context", {"agent": agent, "tenant_id": "t", "task": task, **given}
    )
    assert answer.status_code == 200, answer.text
    context = answer.json()
    assert bool(context["text"]) is bool(context["items"])
    return [item["id"] for item in context["items"]]


async def test_only_what_holds_and_is_for_whoever_asks_is_shown(
    database: str, tmp_path: Path, api: Api
) -> None:
    holds = await known(api, "배송비 환급 기준은 3만원이고 고객에게 먼저 사과한다")
    shared = await known(api, "배송비 답장 기준은 존댓말이다", "b", scope=Scope.TENANT)
    kims = await known(api, "배송비 기준을 이 고객에게는 묻지 않는다", scope=Scope.USER, user="kim")
    await known(api, "배송비 환급 기준은 1만원이고 고객에게 알린다", valid_until=YESTERDAY)
    await known(api, "배송비 환급 기준은 2만원이라고 고객에게 말한다", "b")
    changed = await Teacher(api.app).memory("배송비 고객 기준은 옛것이다")
    await Teacher(api.app).memory("배송비 고객 기준은 새것이다", target=changed.target_id)
    gone = await Teacher(api.app).memory("배송비 고객 기준은 없어졌다")
    await Teacher(api.app).forget(str(gone.target_id))
    async with opened_api(database, tmp_path, review_policy="all") as strict:
        await strict.app.gate.submit(
            MemoryRequest(operation=Operation.CREATE, content="배송비 환급 기준은 고객이 정한다"),
            SubmitContext(key="held", tenant_id="t", agent_id="a"),
        )
    assert {*await shown(api)} == {holds, shared, changed.target_id}
    assert {*await shown(api, user="kim")} == {holds, shared, changed.target_id, kims}
    assert kims not in await shown(api, user="lee")
    answer = await api.call("POST", "/v1/context", {"task": TASK}, who=AGENT)
    assert {item["id"]: item["version"] for item in answer.json()["items"]} == {
        holds: 1,
        shared: 1,
        changed.target_id: 2,
    }
    assert "새것" in answer.json()["text"]
    assert "옛것" not in answer.json()["text"]


async def test_what_fits_of_each_kind_is_shown_and_noted_by_its_ids(api: Api) -> None:
    teacher, noted = Teacher(api.app), Noted()
    rule = await teacher.rule(("<= 100", "팀장"), ("> 100", "대표"))
    await teacher.skill("refund", "# refund\n")
    await Teacher(api.app, "t", "b").skill("audit", "# audit\n")  # on another agent's list
    api.app = replace(api.app, uses=noted)
    api.api.state.opened.app = api.app
    answer = (
        await api.call(
            "POST",
            "/v1/context",
            {
                "agent": "a",
                "tenant_id": "t",
                "task": "refund or audit: who is the approver for an amount of 70?",
            },
        )
    ).json()
    assert {item["id"] for item in answer["items"]} == {rule.target_id, "refund"}
    assert '"approval": amount (number) → approver' in answer["text"]
    assert '> 100 → "대표"' in answer["text"]
    assert "How to refund." in answer["text"]
    assert answer["tokens"] == -(-len(answer["text"].encode()) // 3) <= 1_500
    assert {(use.item_id, use.way, use.agent_id) for use in noted.uses} == {
        (rule.target_id, Way.SHOWN, "a"),
        ("refund", Way.SHOWN, "a"),
    }


async def test_where_nothing_fits_nothing_is_said(api: Api) -> None:
    await known(api, "배송비 환급 기준은 3만원이다")
    for task in ("이번 주말에 볼 영화 추천해줘", "quicksort in Rust", "!!!", "가"):
        assert await shown(api, task) == [], task
    assert await shown(api, TASK, "b") == []


async def test_an_agent_asks_for_itself_alone(api: Api) -> None:
    await known(api, "배송비 환급 기준은 3만원이다")
    for who, body, status in (
        (AGENT, {"task": TASK, "agent": "b"}, 404),
        (one_of("u"), {"task": TASK, "agent": "a"}, 404),
        (one_of("u"), {"task": TASK, "agent": "a", "tenant_id": "t"}, 404),
        (one_of("t", Role.SUBMIT), {"task": TASK, "agent": "a"}, 403),
        (one_of("t"), {"task": TASK}, 422),
        (one_of("t"), {"task": TASK, "agent": "nobody"}, 404),
    ):
        answer = await api.call("POST", "/v1/context", body, who=who)
        assert answer.status_code == status, (body, answer.text)


async def test_long_and_wrong_tasks_are_cut_or_refused_with_the_reason(api: Api) -> None:
    item = await known(api, "배송비 환급 기준은 3만원이다")
    body = {"agent": "a", "tenant_id": "t"}
    long = f"{TASK} " + "x " * 5_000
    answer = await api.call("POST", "/v1/context", {**body, "task": long})
    assert [one["id"] for one in answer.json()["items"]] == [item]
    assert "4,000" in answer.json()["warnings"][0]
    for wrong in (
        {"task": "x" * 2**20},
        {"task": ""},
        {"task": " \n"},
        {"task": 7},
        {"task": f"{TASK}\x00"},
        {"task": TASK, "budget_tokens": 0},
        {"task": TASK, "budget_tokens": 10**9},
    ):
        answer = await api.call("POST", "/v1/context", {**body, **wrong})
        assert answer.status_code in {400, 413, 422}, answer.text
        assert answer.json()["detail"]
    assert await shown(api, f"{TASK}\u202e") == [item]

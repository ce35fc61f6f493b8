"""Under a policy that holds everything, no route but an approval changes what is known.

The routes are read from the OpenAPI document, so that a new one that writes fails here until a call
for it is added.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest

from core.domain.models import NewFeedback
from tests.support.api import AGENTS, Api, opened_api
from tests.support.cases import a_case
from tests.support.effect import proposed
from tests.support.learning import Teacher
from tests.support.reviewing import Reviewing, remember

PIECE = {"tenant_id": "t", "agent_ids": ["a"], "content": "인사는 짧게"}
TOLD = {"reason": "x"}
CASE = {"case": {"check": "unsaid", "text": "엔화"}}
TAUGHT = "금액은 원화로", "보고는 월요일에", "서명은 둘째 줄에"


class Try(NamedTuple):
    """How a route is called; `{name}` is one of the ids of the test, `seen` goes with it."""

    body: Mapping[str, object] | None = None
    seen: bool = False
    status: int = 200
    asks: bool = False  # it requests a change, which is held


# In this order: what is edited and prepared again waits on, until it is rejected.
TRIES: Mapping[str, Try] = {
    "POST /v1/feedback": Try(PIECE, status=202),
    "POST /v1/feedback/batch": Try({"items": [PIECE]}, status=202),
    "POST /v1/feedback/{feedback_id}/cancel": Try(TOLD),
    "POST /v1/feedback/{feedback_id}/retry": Try(),
    "POST /v1/feedback/{taught_id}/retract": Try({}, asks=True),
    "POST /v1/changes/{change_id}/allow": Try(TOLD, status=404),  # nothing was found in it
    "POST /v1/changes/{change_id}/keep-both": Try({}, seen=True, status=409),
    "POST /v1/changes/{change_id}/edit": Try({"content": "달러로 적는다"}, seen=True),
    "POST /v1/changes/{change_id}/refresh": Try({}),
    "POST /v1/changes/{change_id}/reject": Try(TOLD, seen=True),
    "POST /v1/changes/{applied_id}/revert": Try({}, asks=True),
    "POST /v1/knowledge/restore": Try({"id": "", "version": 1}, asks=True),
    "POST /v1/context": Try({"tenant_id": "t", "agent": "a", "task": TAUGHT[0]}),
    "PUT /v1/agents/{agent_id}": Try({"tenant_id": "t", "name": "B"}),
    "PUT /v1/agents/{agent_id}/skills": Try({"skills": []}, asks=True),
    "PUT /v1/agents/{agent_id}/skills/{name}": Try(asks=True),
    "DELETE /v1/agents/{agent_id}/skills/{own_skill}": Try(asks=True),
    "DELETE /v1/skills/{own_skill}?tenant_id=t": Try(asks=True),
    "POST /v1/deliveries/{delivery_id}/replay": Try(status=404),  # without hooks there is none
    "POST /v1/cases": Try({"id": "", **CASE}),
    "PUT /v1/cases/{case_id}": Try(CASE),
    "POST /v1/cases/run": Try({}),
    "POST /v1/cases/{case_id}/disable": Try(TOLD),
    "POST /v1/effect/proposals/{proposal_id}/accept": Try(asks=True),
    "POST /v1/effect/proposals/{proposal_id}/dismiss": Try(status=409),  # it is decided
    "DELETE /v1/sessions/{session_id}": Try(status=404),
    "POST /v1/memories/search": Try({"query": "원화", "agent": "a", "tenant_id": "t"}),
    "POST /v1/decisions/{name}/evaluate": Try(
        {"inputs": {}, "agent": "a", "tenant_id": "t"}, status=404
    ),
    "POST /v1/skills/load": Try({"name": "refund", "agent": "a", "tenant_id": "t"}),
    "POST /v1/outcomes": Try(
        {"used": [{"id": "refund"}], "success": True, "agent": "a", "tenant_id": "t"}
    ),
    "POST /v1/intake/pause": Try({}),
    "POST /v1/intake/resume": Try(),
}
THE_DECISION = "POST /v1/changes/{change_id}/approve"


@pytest.fixture
async def taught(database: str, tmp_path: Path) -> Mapping[str, str]:
    """Teach some things that can be retracted, under a policy that holds nothing."""
    async with opened_api(database, tmp_path, review_policy="auto") as api:
        teacher = Teacher(api.app)
        one, two, changed = [await teacher.memory(text) for text in TAUGHT]
        await teacher.memory("서명은 첫 줄에", target=changed.target_id)
        change = await api.app.stores.changes.get(str(one.change_id))
        assert change.feedback_id is not None
        await api.app.stores.intake.cancel(change.feedback_id, "it has taught by now")
        await teacher.skill("refund", "# refund\n")
        await Teacher(api.app, "t", AGENTS[1].id).skill("audit", "# audit\n")
        return {
            "name": "refund",
            "own_skill": "audit",
            "taught_id": change.feedback_id,
            "applied_id": str(two.change_id),
            "item": str(changed.target_id),
            "case_id": await a_case(api.app, str(changed.target_id)),
            "proposal_id": await proposed(api.app, str(two.target_id), datetime.now(UTC)),
        }


@pytest.fixture
async def held(
    database: str, tmp_path: Path, taught: Mapping[str, str]
) -> AsyncIterator[tuple[Reviewing, dict[str, str]]]:
    """Open the API under a policy that holds everything; a piece and a change wait."""
    policy = tmp_path / "nothing.yaml"
    policy.write_text("otherwise: hold\n", encoding="utf-8")
    async with opened_api(database, tmp_path, review_policy=str(policy)) as api:
        piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="x")
        ((feedback_id, _),) = await api.app.stores.inbox.add("test", [piece])
        reviewing = Reviewing(api)
        waits = await reviewing.held(remember("회의록은 노션에 올린다"))
        ids = {"feedback_id": feedback_id, "change_id": waits, "agent_id": AGENTS[1].id}
        ids |= {"delivery_id": "none", "session_id": "none"}
        yield reviewing, {**taught, **ids}


async def test_whatever_a_route_asks_for_waits(
    held: tuple[Reviewing, dict[str, str]],
) -> None:
    reviewing, ids = held
    api = reviewing.api
    assert {_general(route) for route in TRIES} | {THE_DECISION} == _writes(api)
    before = await _known(api)
    for route, tried in TRIES.items():
        waiting = await _waiting(api)
        answer = await _call(api, route, tried, ids)
        assert answer == tried.status, route
        assert await _known(api) == before, route
        if tried.asks:
            assert len(await _waiting(api)) == len(waiting) + 1, route


async def test_an_approval_changes_what_was_seen_and_no_more(
    held: tuple[Reviewing, dict[str, str]],
) -> None:
    reviewing, ids = held
    before = await _known(reviewing.api)
    assert await _call(reviewing.api, THE_DECISION, Try({}, seen=True), ids) == 200
    assert len(await _known(reviewing.api)) == len(before) + 1


async def _call(api: Api, route: str, tried: Try, ids: Mapping[str, str]) -> int:
    method, path = route.split(" ")
    body = None if tried.body is None else {**tried.body}
    if tried.seen and body is not None:
        body["seen"] = (await api.app.stores.changes.get(ids["change_id"])).content_hash
    if body is not None and "id" in body:
        body["id"] = ids["item"]
    return (await api.call(method, path.format(**ids), body)).status_code


async def _known(api: Api) -> object:
    """Return everything known, and the skills of each agent."""
    listed = await api.call("GET", "/v1/knowledge", params={"limit": 200})
    assert listed.json()["next"] is None
    items = [{**item, "cases": None} for item in listed.json()["items"]]  # a case is no knowledge
    return items + [agent.skills for agent in await api.app.stores.agents.list()]


async def _waiting(api: Api) -> list[str]:
    listed = await api.call("GET", "/v1/changes", params={"status": "held", "limit": 200})
    return [change["id"] for change in listed.json()["items"]]


def _general(route: str) -> str:
    """Return a route as the document names it."""
    for name, general in (("taught_id", "feedback_id"), ("applied_id", "change_id")):
        route = route.replace(f"{{{name}}}", f"{{{general}}}")
    return route.replace("{own_skill}", "{name}").partition("?")[0]


def _writes(api: Api) -> set[str]:
    return {
        f"{method.upper()} {path}"
        for path, methods in api.api.openapi()["paths"].items()
        for method in methods
        if method != "get"
    }

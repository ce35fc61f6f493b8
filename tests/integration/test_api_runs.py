"""The run of one piece of feedback over HTTP, while its thread is stored and after that."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from core.adapters.postgres.queries import Pool, transaction
from core.adapters.postgres.runs import PostgresRetention
from core.app.program import open_app
from core.domain.models import NewFeedback
from core.domain.models.access import Role
from core.testing.scripted_model import ScriptedChatModel, calls, says
from tests.support.api import AGENTS, Api, built_api, one_of, settings_of

_MEMORY = {"operation": "CREATE", "content": "금액은 원화로", "reason": "그가 원한다"}
LEARNS = calls(("commit_to_memory", _MEMORY))
LOOKS = calls(("search_similar_knowledge", {"content": "통화"}))


@asynccontextmanager
async def learnt(database: str, home: Path, *said: object) -> AsyncIterator[tuple[Api, str]]:
    """Process one piece with a model that says this; yields the API and the piece's id."""
    given = settings_of(database, home, review_policy="all", max_attempts=1)
    async with open_app(given, model=True, chat=ScriptedChatModel(script=[*said])) as app:
        for agent in AGENTS:
            await app.stores.agents.save(agent)
        piece = NewFeedback(tenant_id="t", agent_ids=("a",), content="원화로 써 주세요")
        ((feedback_id, _),) = await app.stores.inbox.add("test", [piece])
        await app.run(True, 1, asyncio.Event(), lambda _: None)
        with built_api(app) as api:
            yield Api(app, api), feedback_id


async def line(api: Api, feedback_id: str) -> dict:  # type: ignore[type-arg]
    answer = await api.call("GET", f"/v1/feedback/{feedback_id}/run", who=one_of("t", Role.READ))
    assert answer.status_code == 200, answer.text
    found: dict = answer.json()  # type: ignore[type-arg]
    return found


def texts(step: dict) -> list[str]:  # type: ignore[type-arg]
    return [said["text"] for said in step["said"]]


async def test_each_step_says_what_was_said_there(database: str, tmp_path: Path) -> None:
    async with learnt(database, tmp_path, LOOKS, LEARNS, says("반영했습니다")) as (api, id_):
        run = await line(api, id_)
    names = [step["name"] for step in run["steps"]]
    assert names == [
        "feedback.claimed",
        "feedback.matched",
        "run.started",
        "model.called",
        "tool.called",
        "model.called",
        "change.held",
        "tool.called",
        "model.called",
        "run.finished",
        "feedback.finished",
    ]
    started, looked, found, asked, held, wrote, closed = run["steps"][2:9]
    assert "원화로 써 주세요" in texts(started)[0]
    assert looked["said"][0]["calls"][0]["tool"] == "search_similar_knowledge"
    assert texts(found) == ['{"hits":[]}']
    assert asked["said"][0]["calls"][0]["arguments"].count("금액은 원화로") == 1
    assert wrote["said"][0]["receipt"]["change_id"] == held["change_id"]
    assert texts(closed) == ["반영했습니다"]
    assert [change["id"] for change in run["changes"]] == [held["change_id"]]
    assert all(step["after_seconds"] >= 0 for step in run["steps"][1:])
    (candidate,) = run["candidates"]
    assert (candidate["pruned"], candidate["candidate"]["content"]) == (False, "원화로 써 주세요")
    assert candidate["candidate"]["usage"]["model_calls"] == 3
    assert (run["pruned"], run["more"]) == (False, 0)


async def test_what_was_pruned_says_so(database: str, tmp_path: Path, pool: Pool) -> None:
    async with learnt(database, tmp_path, LEARNS, says("반영했습니다")) as (api, id_):
        async with transaction(pool) as conn:
            await conn.execute("UPDATE feedback SET status = 'completed'")
            await conn.execute("DELETE FROM checkpoints")
        gone = await line(api, id_)
        await PostgresRetention(pool).prune(0)
        pruned = await line(api, id_)
    assert gone["candidates"][0]["pruned"] is True
    assert not any(step["said"] for step in gone["steps"])
    assert (pruned["pruned"], pruned["steps"]) == (True, [])
    assert len(pruned["changes"]) == 1


async def test_a_thread_that_cannot_be_read_is_a_problem_of_its_candidate(
    database: str, tmp_path: Path, pool: Pool
) -> None:
    async with learnt(database, tmp_path, LEARNS, says("반영했습니다")) as (api, id_):
        async with transaction(pool) as conn:
            await conn.execute("UPDATE checkpoint_blobs SET blob = '\\x00'")
        run = await line(api, id_)
    (candidate,) = run["candidates"]
    assert "cannot be read" in candidate["problem"]
    assert [step["name"] for step in run["steps"]].count("model.called") == 2


async def test_what_threads_tell_beyond_events_is_told_last(
    database: str, tmp_path: Path, pool: Pool
) -> None:
    async with learnt(database, tmp_path, LEARNS, says("반영했습니다")) as (api, id_):
        async with transaction(pool) as conn:
            await conn.execute("DELETE FROM run_events WHERE name = 'model.called'")
        run = await line(api, id_)
    assert [(step["name"], step["at"]) for step in run["steps"][-2:]] == [
        ("model.called", None),
        ("model.called", None),
    ]
    assert texts(run["steps"][-1]) == ["반영했습니다"]


@pytest.mark.parametrize(("who", "status"), [(one_of("u"), 404), (one_of("t", Role.REVIEW), 403)])
async def test_it_is_read_within_tenant_and_role(
    database: str, tmp_path: Path, who: object, status: int
) -> None:
    async with learnt(database, tmp_path, LEARNS, says("반영했습니다")) as (api, id_):
        answer = await api.call("GET", f"/v1/feedback/{id_}/run", who=who)  # type: ignore[arg-type]
    assert answer.status_code == status

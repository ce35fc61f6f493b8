"""Feedback of the platform through the whole worker: PostgreSQL, job engine, PostgREST double."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from starlette.responses import JSONResponse

from core.app.program import open_app
from core.app.settings import Settings, load_settings
from core.domain.errors import ConfigurationError, SourceDown
from core.domain.models import FeedbackFilter, FeedbackStatus
from core.entrypoints.doctor import CheckStatus, check_up
from core.polling_manager import fetch_feedback_task
from tests.support.postgrest_server import KEY
from tests.support.supabase import TENANT, Supabase, supabase

RULE = "주문이 100만원을 넘으면 팀장 승인을 받는다"
MEMORY = "김 과장은 금액을 원화로 원한다"


@pytest.fixture
async def world() -> AsyncIterator[Supabase]:
    async with supabase() as opened:
        yield opened


@pytest.fixture
def settings(database: str, tmp_path: Path, world: Supabase) -> Settings:
    return load_settings(
        {
            "skill_worker_home": tmp_path,
            "llm_model": "offline",
            "retry_base_seconds": 0.1,
            "supabase_url": world.server.url,
            "supabase_key": KEY,
        },
        env_file=None,
    ).model_copy(update={"database_url": SecretStr(database)})


async def _run_once(settings: Settings) -> dict[str, str]:
    """Work until nothing is left; return the status of each content."""
    async with open_app(settings, model=True) as app:
        await app.run(True, 2, asyncio.Event(), lambda _: None)
        found, _ = await app.stores.reader.feedback(
            FeedbackFilter(tenant_id=TENANT), limit=9, cursor=None
        )
    return {piece.content: piece.status for piece in found}


async def test_rows_of_the_platform_are_worked_off_and_told_their_end(
    settings: Settings, world: Supabase
) -> None:
    world.todo("r1", [world.item(MEMORY), world.item(RULE)])
    world.todo("r2", [world.item("고마워요")], user_id="nobody")
    ended = await _run_once(settings)
    assert ended == {
        MEMORY: FeedbackStatus.COMPLETED,
        RULE: FeedbackStatus.COMPLETED,
        "고마워요": FeedbackStatus.FAILED,
    }
    assert (world.status("r1"), world.status("r2")) == ("COMPLETED", "FAILED")


async def test_two_workers_that_fetch_at_once_store_each_item_once(
    settings: Settings, world: Supabase
) -> None:
    for number in range(4):
        world.todo(f"r{number}", [world.item(f"{number} 하나"), world.item(f"{number} 둘")])
    async with open_app(settings, model=True) as one, open_app(settings, model=True) as two:
        deps = [app.learning.polling for app in (one, two, one, two) if app.learning]
        fetched = await asyncio.gather(
            *(fetch_feedback_task(d.sources["supabase"], limit=3, deps=d) for d in deps)
        )
        assert sum(fetched) == 8
        counts = await one.stores.reader.counts()
    assert sum(counts.values()) == 8
    assert {world.status(f"r{number}") for number in range(4)} == {"PROCESSING"}


async def test_a_source_that_is_down_at_the_end_is_told_by_the_next_run(
    settings: Settings, world: Supabase
) -> None:
    world.todo("r1", [world.item(MEMORY)])

    def go_down() -> None:
        down = JSONResponse({"message": "maintenance"}, 503, headers={"Retry-After": "60"})
        world.server.answers += [down] * 50

    # The row is moved to PROCESSING once it is stored; nothing answers from then on.
    world.server.meanwhile["PATCH todolist"] = go_down
    with pytest.raises(SourceDown, match="maintenance"):
        await _run_once(settings)
    world.server.answers.clear()
    assert (await _run_once(settings))[MEMORY] is FeedbackStatus.COMPLETED
    assert world.status("r1") == "COMPLETED"


async def test_a_wrong_key_is_an_error_after_all_other_work_is_done(
    settings: Settings, world: Supabase
) -> None:
    wrong = settings.model_copy(update={"supabase_key": SecretStr("wrong")})
    with pytest.raises(ConfigurationError, match="Invalid API key"):
        await _run_once(wrong)


@pytest.mark.parametrize("unset", ["supabase_url", "supabase_key"])
async def test_half_a_setting_is_refused_at_start(settings: Settings, unset: str) -> None:
    half = settings.model_copy(update={unset: None})
    with pytest.raises(ConfigurationError, match=unset.upper()):
        async with open_app(half, model=True):
            pass


async def test_the_doctor_asks_for_the_function_and_claims_nothing(
    settings: Settings, world: Supabase
) -> None:
    world.todo("r1", [world.item(MEMORY)])
    found = {check.name: check for check in await check_up(settings)}
    assert found["supabase"].status is CheckStatus.OK
    assert world.status("r1") == "REQUESTED"
    world.server.has_function = False
    found = {check.name: check for check in await check_up(settings)}
    assert found["supabase"].status is CheckStatus.FAIL
    assert "agent_feedback_task" in found["supabase"].fix

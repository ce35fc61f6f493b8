"""The model fails over real HTTP: work waits, few attempts are spent, and all is done after."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from core.app.program import App, open_app
from core.app.settings import Settings, load_settings
from core.domain.errors import ConfigurationError
from core.domain.models import Agent, Feedback, FeedbackFilter, FeedbackStatus, NewFeedback
from tests.support.examples import at_night
from tests.support.openai_server import (
    OpenAIServer,
    Turn,
    call,
    drops,
    error,
    hangs,
    html,
    openai_server,
)
from tests.support.waiting import AT_LAST, until

PIECES = 12
# Each is told from an answer in test_model_over_http; here it costs seconds.
NIGHTLY_FAULTS = at_night(drops, error(500), html, hangs)
WORKERS, CONCURRENCY = 2, 2
NOTHING = call("no_action", reason="thanks", category="noise")


@pytest.fixture
async def provider() -> AsyncIterator[OpenAIServer]:
    async with openai_server([]) as opened:
        yield opened


@pytest.fixture
def settings(provider: OpenAIServer, database: str, tmp_path: Path) -> Settings:
    given = {
        "skill_worker_home": tmp_path,
        "llm_model": "openai:gpt-4o",
        "llm_proxy_url": provider.url,
        "llm_max_retries": 0,
        "llm_timeout_seconds": 0.5,
        "llm_probe_seconds": 0.2,
        "retry_base_seconds": 4,
    }
    return load_settings(given, env_file=None).model_copy(
        update={"database_url": SecretStr(database)}
    )


@asynccontextmanager
async def workers(settings: Settings, number: int = WORKERS) -> AsyncIterator[list[App]]:
    async with AsyncExitStack() as stack:
        apps = [
            await stack.enter_async_context(open_app(settings, model=True)) for _ in range(number)
        ]
        await apps[0].stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        yield apps


async def add(app: App, number: int) -> None:
    pieces = [
        NewFeedback(tenant_id="t", agent_ids=("a",), content=f"원 {n}") for n in range(number)
    ]
    await app.stores.inbox.add("test", pieces)


async def all_feedback(app: App) -> Sequence[Feedback]:
    found, _ = await app.stores.reader.feedback(FeedbackFilter(), limit=100, cursor=None)
    return found


@asynccontextmanager
async def running(
    apps: list[App], concurrency: int = CONCURRENCY
) -> AsyncIterator[list[asyncio.Task[None]]]:
    """Run the workers until everything has ended; they are stopped at the end of the block."""
    stop = asyncio.Event()
    runs = [asyncio.create_task(app.run(True, concurrency, stop, lambda _: None)) for app in apps]
    try:
        yield runs
    finally:
        stop.set()
        await asyncio.wait(runs, timeout=AT_LAST)


@pytest.mark.parametrize("fault", [error(529), *NIGHTLY_FAULTS])
async def test_an_outage_spends_no_attempt_of_what_has_not_begun(
    settings: Settings, provider: OpenAIServer, fault: Turn
) -> None:
    provider.always = fault
    async with workers(settings) as apps:
        await add(apps[0], PIECES)
        async with running(apps) as runs:

            async def is_held() -> bool:
                pause = await apps[0].learning.breaker.current_pause()  # type: ignore[union-attr]
                return (
                    pause is not None and (await apps[0].stores.reader.counts())["queued"] == PIECES
                )

            await until(is_held)
            asked = len(provider.asked)

            async def was_asked_again() -> bool:
                return len(provider.asked) >= asked + 3

            await until(was_asked_again)
            tries = [piece.attempts for piece in await all_feedback(apps[0])]
            assert max(tries) <= 1
            in_flight = settings.llm_breaker_failures + WORKERS * CONCURRENCY
            assert settings.llm_breaker_failures <= sum(tries) <= in_flight
            provider.always = NOTHING
            await asyncio.wait_for(asyncio.gather(*runs), AT_LAST)
        ended = await all_feedback(apps[0])
        assert {piece.status for piece in ended} == {FeedbackStatus.NO_ACTION}
        assert max(piece.attempts for piece in ended) <= 2
        assert len(ended) == PIECES


async def test_when_to_come_back_is_honoured(settings: Settings, provider: OpenAIServer) -> None:
    provider.turns, provider.always = [error(429, retry_after="2")], NOTHING
    strict = settings.model_copy(update={"llm_breaker_failures": 1})
    clock = asyncio.get_running_loop().time
    async with workers(strict, 1) as apps:
        await add(apps[0], 1)
        async with running(apps) as runs:

            async def was_asked() -> bool:
                return len(provider.asked) == 1

            await until(was_asked)
            refused = clock()

            async def was_asked_again() -> bool:
                return len(provider.asked) > 1

            await until(was_asked_again)
            assert clock() - refused >= 1.9
            await asyncio.wait_for(asyncio.gather(*runs), AT_LAST)
        (piece,) = await all_feedback(apps[0])
        assert (piece.status, piece.attempts) == (FeedbackStatus.NO_ACTION, 2)


@pytest.mark.nightly  # by the command it is tried in every run (test_model_held)
async def test_a_wrong_key_ends_a_run_once_and_loses_nothing(
    settings: Settings, provider: OpenAIServer
) -> None:
    provider.always = error(401, "Incorrect API key")
    async with workers(settings) as apps:
        await add(apps[0], PIECES)
        async with running(apps) as runs:
            ends = await asyncio.wait_for(asyncio.gather(*runs, return_exceptions=True), AT_LAST)
        assert [type(end) for end in ends] == [ConfigurationError] * WORKERS
        assert "Incorrect API key" in str(ends[0])
        assert "LLM_PROXY_URL" in str(ends[0])
        waiting = await all_feedback(apps[0])
        assert {piece.status for piece in waiting} == {FeedbackStatus.QUEUED}
        assert sum(piece.attempts for piece in waiting) <= WORKERS * CONCURRENCY
    provider.always = NOTHING
    async with workers(settings) as apps:
        async with running(apps) as runs:
            await asyncio.wait_for(asyncio.gather(*runs), AT_LAST)
        assert {p.status for p in await all_feedback(apps[0])} == {FeedbackStatus.NO_ACTION}


async def test_a_single_request_that_is_refused_holds_nobody_back(
    settings: Settings, provider: OpenAIServer
) -> None:
    provider.turns, provider.always = [NOTHING, error(403, "flagged")], NOTHING
    async with workers(settings, 1) as apps:
        await add(apps[0], 6)
        async with running(apps, concurrency=1) as runs:
            await asyncio.wait_for(asyncio.gather(*runs), AT_LAST)
        ended = await all_feedback(apps[0])
        assert {piece.status for piece in ended} == {FeedbackStatus.NO_ACTION}
        assert sum(piece.attempts for piece in ended) == 7
        assert len(provider.asked) == 7

"""`run --once` while the model is unavailable: it ends if that will not pass, else it waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import finish, start, wait_for
from tests.support.openai_server import call, error, openai_server
from tests.support.used_home import served_home
from tests.support.waiting import AT_LAST

NOTHING = call("no_action", reason="thanks", category="noise")


@pytest.fixture
def home(server: str, template: str) -> Iterator[Path]:
    with served_home(server, template) as here:
        yield here


async def command(home: Path, *arguments: str, **settings: str) -> tuple[int, str, str]:
    return await asyncio.to_thread(finish, home, *arguments, **settings)


async def add_feedback(home: Path) -> None:
    agent = ["--id", "a", "--tenant", "t", "--name", "A", "--role", "r", "--goal", "g"]
    assert (await command(home, "agents", "add", *agent))[0] == 0
    told = ("--text", "원화로", "--agent", "a", "--tenant", "t")
    assert (await command(home, "feedback", "add", *told))[0] == 0


async def feedback(home: Path) -> dict[str, object]:
    _, out, _ = await command(home, "feedback", "list", "--json")
    (piece,) = json.loads(out)["items"]
    return piece  # type: ignore[no-any-return]


async def test_a_wrong_key_ends_it_with_the_reason_and_the_feedback_waits(home: Path) -> None:
    await add_feedback(home)
    async with openai_server([]) as provider:
        settings = {"LLM_MODEL": "m", "LLM_PROXY_URL": provider.url, "LLM_PROBE_SECONDS": "600"}
        provider.always = error(401, "Incorrect API key provided")
        code, _, err = await command(home, "run", "--once", **settings)
        assert code == 4
        assert "Incorrect API key provided" in err
        assert (await feedback(home))["status"] == "queued"
        provider.always = NOTHING
        code, _, err = await command(home, "run", "--once", **settings)
    assert (code, "1 no_action" in err) == (0, True)


async def test_a_model_that_is_down_is_waited_for_and_that_is_said(home: Path) -> None:
    await add_feedback(home)
    async with openai_server([]) as provider:
        settings = {
            "LLM_MODEL": "m",
            "LLM_PROXY_URL": provider.url,
            "LLM_PROBE_SECONDS": "1",
            "LLM_MAX_RETRIES": "0",
            "LLM_BREAKER_FAILURES": "1",
        }
        provider.always = error(503, "maintenance")
        running = start(home, "run", "--once", **settings)
        line = await asyncio.to_thread(wait_for, running, "Waiting for the model")
        assert "maintenance" in line
        provider.always = NOTHING
        _, err = await asyncio.to_thread(running.communicate, None, AT_LAST)
    assert (running.returncode, "1 no_action" in err) == (0, True)
    assert (await feedback(home))["status"] == "no_action"

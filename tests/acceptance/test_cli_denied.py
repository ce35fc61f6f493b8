"""What `skill-worker.yaml` of the working folder denies is not offered to the model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import finish
from tests.support.openai_server import call, openai_server
from tests.support.used_home import served_home

RULES = """\
roles:
  guest: [guest]
rules:
  - when: {role: guest, kind: [SKILL, AGENT_SKILLS]}
    then: deny
    because: guests teach no skills
"""


@pytest.fixture
def home(server: str, template: str) -> Iterator[Path]:
    with served_home(server, template) as here:
        (here / "skill-worker.yaml").write_text(RULES, encoding="utf-8")
        yield here


async def command(home: Path, *arguments: str, **settings: str) -> tuple[int, str, str]:
    return await asyncio.to_thread(finish, home, *arguments, **settings)


async def test_a_denied_kind_is_not_offered_to_the_model(home: Path) -> None:
    agent = ("--id", "a", "--tenant", "t", "--name", "A")
    assert (await command(home, "agents", "add", *agent))[0] == 0
    told = (
        "--agent",
        "a",
        "--tenant",
        "t",
        "--author",
        "guest",
        "--text",
        "환불 절차를 배워 주세요",
    )
    assert (await command(home, "feedback", "add", *told))[0] == 0
    why = "guests teach no skills"
    async with openai_server([call("no_action", reason=why, category="unclear")]) as provider:
        settings = {"LLM_MODEL": "m", "LLM_PROXY_URL": provider.url}
        assert (await command(home, "run", "--once", **settings))[0] == 0
        (asked,) = provider.asked
    tools = {tool["function"]["name"] for tool in asked["tools"]}  # type: ignore[index,attr-defined]
    assert "commit_to_memory" in tools
    assert not tools & {"commit_to_skill", "attach_skills_to_agent", "detach_skills_from_agent"}
    assert why in json.dumps(asked["messages"])

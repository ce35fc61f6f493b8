"""A skill that others refer to, deleted by the whole worker and restored by a command."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from core.agent.offline.model import AnsweringChatModel
from core.app.program import open_app
from core.app.settings import load_settings
from core.domain.models import SKILL_MD, Agent, Bundle, NewFeedback, SkillFile
from core.entrypoints.cli.app import run
from core.entrypoints.cli.session import run_async
from core.testing.scripted_model import calls, says
from tests.support.databases import url_of


def skill(name: str, body: str, **files: SkillFile) -> Bundle:
    text = f"---\nname: {name}\ndescription: How to do a {name}\n---\n\n# {name}\n\n{body}\n"
    return Bundle(name=name, files={SKILL_MD: SkillFile(data=text.encode()), **files})


REFUND = skill(
    "refund",
    "See exchange/SKILL.md, references/fees.md, scripts/run.sh and assets/logo.png.",
    **{
        "references/fees.md": SkillFile(data="# 수수료\r\n".encode()),
        "scripts/run.sh": SkillFile(data=b"#!/bin/sh\r\necho\n", executable=True),
        "assets/logo.png": SkillFile(data=b"\x89PNG\r\n\x00\xff"),
    },
)
EXCHANGE = skill("exchange", "First refund/SKILL.md.")


class Deleting(AnsweringChatModel):
    """Deletes a skill; told that others refer to it, it names them."""

    told: list[str]

    def answer(self, messages: list[BaseMessage], tools: Sequence[str]) -> AIMessage:
        del tools
        name = "refund" if "no longer do a refund" in str(messages[1].content) else "exchange"
        given = {"operation": "DELETE", "skill_id": name, "reason": "no longer done"}
        answer = messages[-1]
        if not isinstance(answer, ToolMessage):
            return calls(("commit_to_skill", given))
        self.told.append(str(answer.content))
        if answer.status != "error":
            return says("done")
        return calls(("commit_to_skill", {**given, "related_skill_ids": "exchange"}))


@pytest.fixture
def home(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with two skills that refer to each other, and an agent that has both."""
    for name in ("SKILL_API_BASE_URL", "MCP_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    monkeypatch.setenv("SKILL_WORKER_HOME", str(tmp_path))
    monkeypatch.setenv("LLM_MODEL", "offline")
    run_async(_fill())


async def _fill() -> None:
    async with open_app(load_settings()) as app:
        await app.stores.agents.save(Agent(id="a", tenant_id="t", name="A"))
        for bundle in (REFUND, EXCHANGE):
            await app.stores.skills.upload(bundle, "t")


async def _deleted(name: str) -> list[str]:
    chat = Deleting(told=[])
    async with open_app(load_settings(), model=True, chat=chat) as app:
        piece = NewFeedback(tenant_id="t", agent_ids=("a",), content=f"We no longer do a {name}")
        await app.stores.inbox.add("test", [piece])
        await app.run(True, 1, asyncio.Event(), lambda _: None)
        assert await app.stores.skills.read(name, "t") is None
    return chat.told


async def _read(name: str) -> Bundle | None:
    async with open_app(load_settings()) as app:
        return await app.stores.skills.read(name, "t")


@pytest.mark.usefixtures("home")
def test_a_skill_goes_when_its_dependants_are_named_and_comes_back_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    refused, done = run_async(_deleted("refund"))
    assert "skill 'exchange' refers to it in SKILL.md:8" in refused
    assert "related_skill_ids exchange" in refused
    assert "which this deletes" in done
    assert run_async(_read("exchange")) == EXCHANGE
    capsys.readouterr()
    assert run(["changes", "list", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["items"]
    (change,) = [one for one in made if one["origin"] != "OUTSIDE"]
    assert "refers to it" in "; ".join(change["warnings"])
    assert run(["changes", "revert", change["id"], "--reason", "still needed", "--json"]) == 0
    assert run_async(_read("refund")) == REFUND


@pytest.mark.usefixtures("home")
def test_two_skills_that_refer_to_each_other_both_go() -> None:
    assert len(run_async(_deleted("refund"))) == 2
    assert len(run_async(_deleted("exchange"))) == 1
    assert run(["skill", "graph", "--tenant", "t", "--dangling"]) == 0

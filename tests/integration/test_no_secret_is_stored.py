"""Secrets and resident numbers by every way in: none in the database, in a file, in the log."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from langchain_core.messages import AIMessage, BaseMessage
from psycopg.sql import SQL, Identifier
from pydantic import JsonValue, PrivateAttr

from core.app.program import App, open_app
from core.domain.models import Agent, ChangeStatus, Edited, NewFeedback
from core.polling_manager import fetch_feedback_task
from core.testing.scripted_model import calls
from tests.support.api import Api, built_api, settings_of
from tests.support.home import Home
from tests.support.list_source import ListSource
from tests.support.obedient import Obedient
from tests.support.secret_words import SecretWords


class Babbling(Obedient):
    """An obedient model that adds secrets of its own to what it writes."""

    _words: SecretWords = PrivateAttr()

    def __init__(self, words: SecretWords) -> None:
        super().__init__()
        self._words = words

    def answer(self, messages: list[BaseMessage], tools: list[str]) -> AIMessage:  # type: ignore[override]
        message = super().answer(messages, tools)
        if not message.tool_calls:
            return message.model_copy(update={"content": f"done: {self._words.sentence()}"})
        (call,) = message.tool_calls
        named = "body_markdown" if call["name"] == "SkillArtifact" else "reason"
        args = {**call["args"], named: f"{call['args'].get(named, '')}\n{self._words.sentence()}"}
        made = calls((call["name"], args), text=self._words.sentence())
        return made.model_copy(update={"tool_calls": [{**call, "args": args}]})


def everything_in(database: str, home: Path) -> Iterator[tuple[str, str]]:
    """Yield all that is stored, by where: each row as text, what is binary read as text, files."""
    with psycopg.connect(database) as conn:
        tables = conn.execute(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'v')"
            " AND relnamespace = current_schema()::regnamespace"
        ).fetchall()
        for (table,) in tables:
            for row in conn.execute(SQL("SELECT * FROM {}").format(Identifier(table))):
                for value in row:
                    text = value.decode("utf-8", "ignore") if isinstance(value, bytes) else value
                    told = text if isinstance(text, str) else repr(text)
                    yield table, told
    for path in home.rglob("*"):
        if path.is_file() and not {"postgres", "given"} & {*path.parts}:
            yield str(path), path.read_bytes().decode("utf-8", "ignore")


def by_commands(home: Home, words: SecretWords, times: int) -> None:
    given = home.path / "given"
    given.mkdir(exist_ok=True)
    for n in range(times):
        text = words.sentence()
        about = ("--agent", "a", "--tenant", "t", "--author", words.sentence())
        code, _, err = home.call("feedback", "add", "--text", text, *about)
        assert code == 0
        assert "masked" in err
        line = {"tenant_id": "t", "agent_ids": ["a"], "content": words.sentence()}
        more = {"output": {"seen": [words.sentence()]}, "events": [{"log": words.sentence()}]}
        (given / "said.jsonl").write_text(json.dumps({**line, **more, "task": words.sentence()}))
        answer = home.ask("feedback", "add", str(given / "said.jsonl"))
        assert "[masked:" in json.dumps(answer, ensure_ascii=False)
        memory = {"kind": "MEMORY", "content": words.sentence(), "agent_id": "a", "tenant_id": "t"}
        home.bring(**memory)
        skill = given / f"refund-{n}"
        (skill / "references").mkdir(parents=True)
        head = f"---\nname: refund-{n}\ndescription: Refund.\n---\n# Refund\n\n"
        (skill / "SKILL.md").write_text(head + words.sentence(), encoding="utf-8")
        (skill / "references" / "keys.md").write_text(words.sentence(), encoding="utf-8")
        home.call("skill", "import", str(skill), "--agent", "a", "--tenant", "t")
        home.call(
            *("agents", "add", "--id", f"n{n}", "--tenant", "t", "--name", "N"),
            "--role",
            "clerk",
            "--goal",
            words.sentence(),
            "--persona",
            words.sentence(),
        )
        home.call("intake", "pause", "--reason", words.sentence())
    home.call("intake", "resume")


async def by_the_api_and_a_source(app: App, words: SecretWords, times: int) -> None:
    with built_api(app) as built:
        api = Api(app, built)
        for n in range(times):
            body = {"content": words.sentence(), "agent_ids": ["a"], "tenant_id": "t"}
            async with api.client() as client:
                headers = {"Idempotency-Key": f"k{n}", "Content-Type": "application/json"}
                sent = {**body, "task": "SKILL" if n == 0 else words.sentence()}
                answer = await client.post(
                    "/v1/feedback", content=json.dumps(sent), headers=headers
                )
            assert answer.json()["masked"], answer.text
            piece = NewFeedback(
                id=str(n),
                tenant_id="t",
                agent_ids=("a",),
                content=words.sentence(),
                output={"rows": [words.sentence(), {"n": 1}]},
            )
            agent = Agent(id="s", tenant_id="t", name="S", goal=words.sentence())
            source = ListSource(piece, agents=[agent])
            assert await fetch_feedback_task(source, limit=10, deps=app.learning.polling) == 1  # type: ignore[union-attr]


async def by_people(app: App, words: SecretWords) -> None:
    waiting = [
        await app.stores.changes.get(id_)
        for id_ in await app.stores.review_queue.oldest(tenant_id=None, but=())
    ]
    memories = [change for change in waiting if change.kind == "MEMORY"]
    for change in memories[:1]:
        edited = Edited(content=f"for {change.id}: {words.sentence()}")
        fresh = await app.gate.decisions.edit(change.id, edited, by="kim")
        assert fresh.status is ChangeStatus.HELD
        if any(finding.holds for finding in fresh.findings):
            await app.gate.decisions.findings.allow(change.id, by="kim", reason=words.sentence())
    for change in memories[1:2]:
        await app.gate.decisions.reject(change.id, by="kim", reason=words.sentence())


def through_every_entry(home: Home, words: SecretWords, times: int) -> None:
    by_commands(home, words, times)

    async def work() -> None:
        database = home.database
        settings = settings_of(database, home.path, llm_model="offline", review_policy="all")
        async with open_app(settings, model=True, chat=Babbling(words)) as app:
            await by_the_api_and_a_source(app, words, times)
            await app.run(True, 4, asyncio.Event(), lambda _: None)
            await by_people(app, words)

    asyncio.run(work())


def told(home: Home, caplog: pytest.LogCaptureFixture) -> str:
    out, err = home.capsys.readouterr()
    return out + err + caplog.text


@pytest.mark.parametrize(
    "times", [1, pytest.param(25, marks=(pytest.mark.nightly, pytest.mark.timeout(1200)))]
)
def test_no_secret_reaches_database_file_or_log(
    home: Home, times: int, caplog: pytest.LogCaptureFixture
) -> None:
    words = SecretWords()
    through_every_entry(home, words, times)
    logged = told(home, caplog)
    assert len(words.made) >= (24 if times == 1 else 500)
    assert not [secret for secret in words.made if secret in logged]
    found = {
        (where, secret)
        for where, text in everything_in(home.database, home.path)
        for secret in words.made
        if secret in text
    }
    assert not found


def test_who_must_keep_secrets_keeps_them(home: Home) -> None:
    home.monkeypatch.setenv("SAFETY_KEEP_RAW", "true")
    words = SecretWords()
    home.call("feedback", "add", "--text", words.sentence(), "--agent", "a", "--tenant", "t")
    stored: list[JsonValue] = [text for _, text in everything_in(home.database, home.path)]
    assert any(words.made[0] in str(text) for text in stored)

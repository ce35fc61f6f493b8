"""An unknown tenant or agent is reported as such; an empty list says so."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import psycopg
import pytest

from core.adapters.postgres.inbox import PostgresInbox
from core.adapters.postgres.jobs import Jobs
from core.adapters.postgres.pool import open_pool
from core.domain.models import NewFeedback
from core.entrypoints.cli.app import run
from core.testing.determinism import counting_ids
from tests.support.databases import url_of

OF_AGENTS = [("knowledge", "list"), ("knowledge", "export"), ("runs", "list")]
LISTS = [*OF_AGENTS, ("feedback", "list"), ("agents", "list")]


@pytest.fixture
def home(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    monkeypatch.setenv("SKILL_WORKER_HOME", str(tmp_path))
    return database


def add_agent(database: str, agent_id: str, tenant_id: str) -> None:
    with psycopg.connect(database) as conn:
        insert = "INSERT INTO agents (id, tenant_id, name) VALUES (%s, %s, 'A')"
        conn.execute(insert, (agent_id, tenant_id))


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 5) -> dict[str, str]:
    capsys.readouterr()
    assert run([*arguments, "--json"]) == code
    error: dict[str, str] = json.loads(capsys.readouterr().out)["error"]
    return error


@pytest.mark.parametrize("command", LISTS)
def test_a_tenant_of_which_nothing_is_known_is_not_found(
    home: str, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    add_agent(home, "a", "가게")
    arguments = ["--tenant", "nope"] + (["-o", "x"] if "export" in command else [])
    error = refused(capsys, *command, *arguments)
    assert (error["kind"], error["hint"]) == ("not_found", "see `skill-worker agents list`")
    assert "nope" in error["message"]
    assert run([*command, "--tenant", "가게"]) == 0


def test_what_is_retried_of_nobody_is_not_found(
    home: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(capsys, "feedback", "retry", "--all-dead", "--tenant", home)["hint"]


@pytest.mark.parametrize("command", OF_AGENTS)
def test_an_agent_that_is_not_there_or_of_another_tenant_is_not_found(
    home: str, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    add_agent(home, "a", "t")
    add_agent(home, "b", "u")
    out = ["-o", "x"] if "export" in command else []
    assert "nobody" in refused(capsys, *command, "--agent", "nobody", *out)["message"]
    error = refused(capsys, *command, "--agent", "b", "--tenant", "t", *out)
    assert error["message"] == "tenant 't' has no agent 'b'"
    assert error["hint"] == "the agent belongs to tenant 'u'"


async def _say(database: str, tenant_id: str) -> None:
    async with open_pool(database) as pool:
        piece = NewFeedback(tenant_id=tenant_id, agent_ids=("gone",), content="x")
        await PostgresInbox(pool, Jobs(pool), counting_ids("f")).add("test", [piece])


def test_feedback_alone_makes_a_tenant_known(home: str) -> None:
    asyncio.run(_say(home, "t"))
    assert run(["feedback", "list", "--tenant", "t"]) == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("knowledge", "list"), "nothing is known yet\n"),
        (("feedback", "list"), "no feedback\n"),
        (("agents", "list"), "no agents yet; `skill-worker agents add` adds one\n"),
        (("changes", "list"), "no changes\n"),
        (("history", "list"), "no history\n"),
    ],
)
@pytest.mark.usefixtures("home")
def test_a_list_without_anything_says_so_and_stays_a_list_for_programs(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...], said: str
) -> None:
    assert run([*command]) == 0
    assert capsys.readouterr().err == said
    assert run([*command, "--json"]) == 0
    out, err = capsys.readouterr()
    assert (json.loads(out), err) == ({"items": [], "next": None}, "")


@pytest.mark.parametrize(
    "command",
    [
        ("knowledge", "search", "환불"),
        ("skill", "graph"),
        ("skill", "export", "refund"),
        ("skill", "install", "./refund"),
    ],
)
def test_where_it_is_not_said_whose_all_commands_ask_alike(
    home: str, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    hint = "say which tenant with --tenant"
    error = refused(capsys, *command, code=2)
    assert (error["message"], error["hint"]) == ("no tenant has an agent yet", hint)
    add_agent(home, "a", "t")
    add_agent(home, "b", "u")
    error = refused(capsys, *command, code=2)
    assert (error["message"], error["hint"]) == ("there are several tenants: t, u", hint)


@pytest.mark.parametrize("command", [("knowledge", "export"), ("rule", "export", "승인")])
def test_what_is_data_already_takes_json_only_for_what_it_wrote(
    home: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    add_agent(home, "a", "t")
    assert "-o FILE" in refused(capsys, *command, code=2)["message"]
    if "knowledge" in command:
        file = str(tmp_path / "out.jsonl")
        assert run([*command, "-o", file, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"written": 0, "path": file}

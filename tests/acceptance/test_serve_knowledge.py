"""`skill-worker serve knowledge` as a process: JSON over stdio, and streamable HTTP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.support.commands import finish, start, wait_for
from tests.support.databases import url_of
from tests.support.forked import ROOT
from tests.support.home import Home
from tests.support.mcp_agents import BEGIN
from tests.support.waiting import AT_LAST

SERVE = ("serve", "knowledge", "--stdio", "--agent", "a1")
ADD = ("agents", "add", "--id", "a1", "--name", "주문 담당")


@pytest.fixture
def place(database: str, tmp_path: Path) -> tuple[Path, dict[str, str]]:
    settings = {"DATABASE_URL": url_of(database)}
    assert finish(tmp_path, *ADD, "--tenant", "t", **settings)[0] == 0
    return tmp_path, settings


def test_over_stdio_all_that_was_piped_in_is_answered_in_json(
    place: tuple[Path, dict[str, str]],
) -> None:
    home, settings = place
    served = start(home, *SERVE, "--submit", **settings)
    asked = [
        _asked(1, "initialize", BEGIN),
        "no JSON at all",
        json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        _asked(2, "tools/call", {"name": "give_feedback", "arguments": {"text": "원화로 적어요"}}),
        "",
        _asked(3, "tools/call", {"arguments": {"secret": "s" * 3_000_000}}),
        _asked(4, "skills/list", {}),
    ]
    out, err = served.communicate("\n".join(asked), timeout=AT_LAST)
    assert (served.returncode, "secret" in err, "원화" in err) == (0, False, False), err
    told: list[dict[str, Any]] = [json.loads(line) for line in out.splitlines()]
    assert all("jsonrpc" in answer for answer in told)
    answers = {answer.get("id", 0): answer for answer in told}
    assert answers[1]["result"]["serverInfo"]["name"] == "skill-worker"
    assert answers[2]["result"]["structuredContent"]["status"] == "queued"
    assert answers[4]["result"]["skills"] == []
    assert 3 not in answers  # longer than a message may be


def test_whose_knowledge_it_is_has_to_be_clear(home: Home) -> None:
    assert home.call("agents", "add", "--id", "a", "--name", "A", "--tenant", "u")[0] == 0
    for arguments, code, said in (
        (("--stdio", "--agent", "a"), 2, "'t', 'u'"),
        (("--stdio",), 2, "--stdio needs the agent"),
        (("--submit",), 2, "go with --stdio"),
        (("--stdio", "--agent", "nobody"), 5, "nobody"),
        (("--stdio", "--agent", "a", "--tenant", "v"), 5, "'v'"),
    ):
        ended = home.call("serve", "knowledge", *arguments)
        assert (ended[0], said in ended[2]) == (code, True), ended


def test_over_http_a_token_of_the_agent_is_needed(place: tuple[Path, dict[str, str]]) -> None:
    home, settings = place
    made = finish(
        *(home, "tokens", "add", "--name", "x", "--tenant", "t", "--agent", "a1"),
        *("--role", "read", "--json"),
        **settings,
    )
    secret = json.loads(made[1])["secret"]
    served = start(home, "serve", "knowledge", "--port", "0", **settings)
    try:
        url = json.loads(wait_for(served, "server.started"))["url"]
        wait_for(served, "MCP for agents")
        asked = json.loads(_asked(1, "initialize", BEGIN))
        headers = {"Accept": "application/json, text/event-stream"}
        assert httpx.post(f"{url}/mcp", json=asked, headers=headers).status_code == 401
        headers["Authorization"] = f"Bearer {secret}"
        assert httpx.post(f"{url}/mcp", json=asked, headers=headers).status_code == 200
        assert httpx.get(f"{url}/v1/me", headers=headers).status_code == 404
        served.send_signal(signal.SIGTERM)
        assert served.wait(timeout=AT_LAST) == 0
    finally:
        _end(served)


def _asked(number: int, method: str, params: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.kill()
    process.communicate()


@pytest.mark.nightly
async def test_real_clients_start_it_over_stdio(place: tuple[Path, dict[str, str]]) -> None:
    home, settings = place
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **settings}
    environment |= {"SKILL_WORKER_HOME": str(home)}
    arguments = ["-m", "core", *SERVE]
    params = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    async with stdio_client(params) as (reader, writer), ClientSession(reader, writer) as session:
        await session.initialize()
        found = await session.call_tool("search_memories", {"query": "원화"})
        assert found.structuredContent == {"items": []}
    connection = {
        "transport": "stdio",
        "command": sys.executable,
        "args": arguments,
        "env": environment,
    }
    tools = await MultiServerMCPClient({"learnt": connection}).get_tools()  # type: ignore[dict-item]
    assert [tool.name for tool in tools][:2] == ["search_memories", "evaluate_decision"]

"""The embedded computer-use server over MCP, in either kind of isolation."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from core.adapters.embedded.computer_use import run_computer_use
from core.adapters.embedded.computer_use_sessions import Sessions
from core.adapters.embedded.sandbox import PlainProcess
from core.adapters.embedded.sandbox_wall import Limits, Wall
from core.app.bootstrap import PodHost, serve_computer_use
from core.app.settings import load_settings
from core.domain.errors import ConfigurationError, PodCallFailed
from core.domain.ports import Pods
from core.entrypoints.cli.app import run
from core.mcp_client import COMPUTER_USE, McpPods, McpServer, open_mcp
from core.skills.creator.shipped import init_skill_script
from core.testing.contracts.pods import PodsContract
from tests.support.examples import crossed
from tests.support.mcp_caller import McpCaller
from tests.support.sandboxes import WALLS, bubblewrap, running, wall_named
from tests.support.skill_creator_layouts import LAYOUTS

LIMITS = Limits(seconds=20)
PLAIN = PlainProcess("a test asks for it")


@pytest.fixture(params=WALLS)
def wall(request: pytest.FixtureRequest) -> Wall:
    return wall_named(request.param)


@pytest.fixture
async def pods(wall: Wall) -> AsyncIterator[Pods]:
    async with run_computer_use(wall=wall, limits=LIMITS, token="s3cret") as url:
        server = McpServer(COMPUTER_USE, url, "s3cret")
        async with open_mcp([server], call_seconds=30) as client:
            yield McpPods(client)


@pytest.fixture
async def session() -> AsyncIterator[McpCaller]:
    async with run_computer_use(wall=PLAIN, limits=LIMITS, token="s3cret") as url:
        yield McpCaller(url, "s3cret")


@pytest.fixture
async def sessions() -> AsyncIterator[Sessions]:
    made = Sessions(PLAIN, LIMITS, most=2)
    yield made
    await made.close()


class TestEmbeddedPods(PodsContract):
    """What every computer-use server must do."""


@pytest.mark.parametrize(("layout", "locale"), crossed([*LAYOUTS], ["C", "C.UTF-8"]))
async def test_the_scripts_of_either_layout_run(pods: Pods, layout: str, locale: str) -> None:
    texts = {"scripts/init_skill.py": init_skill_script(), **LAYOUTS[layout]()}
    async with pods.open(ttl=60) as pod:
        for path, text in texts.items():
            await pod.create_file(
                f"/tmp/creator/{path}", text.replace("import yaml", "yaml = None")
            )
        setting = f"export LC_ALL={locale} PYTHONIOENCODING=utf-8; cd /tmp/creator"
        made = await pod.run_shell(f"{setting}; python3 scripts/init_skill.py a-b --path /tmp")
        assert made.exit_code == 0, made
        module = "PYTHONPATH=/tmp/creator python3 scripts/package_skill.py /tmp/a-b /tmp"
        packaged = await pod.run_shell(f"{setting}; {module} && test -s /tmp/a-b.skill")
    assert packaged.exit_code == 0, packaged


async def test_a_result_is_structured_and_readable(session: McpCaller) -> None:
    created = await session.call_tool("create_session", {"ttl": 60})
    assert created.structuredContent is not None
    pod = {"session_id": created.structuredContent["session_id"]}
    done = await session.call_tool("run_shell", {**pod, "command": "echo 예; echo no >&2; exit 4"})
    assert done.structuredContent == {"exit_code": 4, "stdout": "예\n", "stderr": "no\n"}
    assert [block.text for block in done.content if block.type == "text"] == [
        "exit_code: 4\n예\n\nSTDERR:\nno\n"
    ]
    assert not done.isError


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_shell", {"session_id": "none", "command": "true"}),
        ("create_file", {"session_id": "none", "file_path": "/tmp/a", "content": ""}),
        ("delete_file", {"session_id": "none", "file_path": "/tmp/a"}),
        ("delete_session", {"session_id": "none"}),
        ("create_session", {"ttl": 0}),
        ("create_session", {"ttl": 1_000_000}),
    ],
)
async def test_what_cannot_be_done_is_a_tool_error(
    session: McpCaller, tool: str, arguments: dict[str, object]
) -> None:
    assert (await session.call_tool(tool, arguments)).isError


async def test_content_that_looks_like_json_is_written_as_it_is(session: McpCaller) -> None:
    created = await session.call_tool("create_session", {"ttl": 60})
    assert created.structuredContent is not None
    pod = {"session_id": created.structuredContent["session_id"]}
    text = '{"a": [1, 2]}'
    await session.call_tool("create_file", {**pod, "file_path": "/tmp/a.json", "content": text})
    done = await session.call_tool("run_shell", {**pod, "command": "cat /tmp/a.json"})
    assert done.structuredContent is not None
    assert done.structuredContent["stdout"] == text


async def test_a_session_past_its_ttl_is_gone(sessions: Sessions) -> None:
    marker = "98123"
    session_id = await sessions.create(1)
    await sessions.get(session_id).run_shell(f"sleep {marker} &")
    with pytest.raises(PodCallFailed):
        await sessions.get(session_id).run_shell("sleep 60")
    await sessions.close()
    with pytest.raises(PodCallFailed, match="past its ttl"):
        sessions.get(session_id)
    assert running(marker) == []


async def test_there_are_only_so_many_sessions(sessions: Sessions) -> None:
    made = await asyncio.gather(sessions.create(60), sessions.create(60))
    with pytest.raises(PodCallFailed, match="2 sessions are open"):
        await sessions.create(60)
    await sessions.delete(made[0])
    assert await sessions.create(60) not in made


async def test_sessions_end_with_the_server(wall: Wall) -> None:
    marker = "98124"
    async with run_computer_use(wall=wall, limits=LIMITS, token="s3cret") as url:
        session = McpCaller(url, "s3cret")
        created = await session.call_tool("create_session", {"ttl": 600})
        assert created.structuredContent is not None
        pod = {"session_id": created.structuredContent["session_id"]}
        start = f"sleep {marker} & until pgrep -f 'sleep {marker}'; do :; done"
        await session.call_tool("run_shell", {**pod, "command": start})
        assert running(marker)
    assert running(marker) == []


async def test_a_token_is_asked_for() -> None:
    async with run_computer_use(wall=PLAIN, token="s3cret") as url, httpx.AsyncClient() as http:
        assert (await http.post(url, json={})).status_code == 401


async def test_a_page_of_another_site_is_refused() -> None:
    async with run_computer_use(wall=PLAIN, token="s3cret") as url, httpx.AsyncClient() as http:
        foreign = {"Origin": "https://evil.example", "Authorization": "Bearer s3cret"}
        assert (await http.post(url, json={}, headers=foreign)).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
async def test_it_is_not_served_without_a_token(host: str) -> None:
    with pytest.raises(ConfigurationError, match="COMPUTER_USE_MCP_TOKEN"):
        async with run_computer_use(wall=PLAIN, host=host, token=""):
            pass


async def test_the_log_names_the_file_of_the_token_and_never_the_token(tmp_path: Path) -> None:
    settings, stop = load_settings({"skill_worker_home": tmp_path}, env_file=None), asyncio.Event()
    stop.set()
    bubblewrap()
    with capture_logs() as logs:
        await serve_computer_use(settings, PodHost(), stop)
        await serve_computer_use(settings, PodHost(), stop)
    (file,) = tmp_path.glob("*.token")
    token = file.read_text().strip()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(token) > 40
    assert [entry["event"] for entry in logs].count("token.made") == 1
    assert str(file) in str(logs)
    assert token not in str(logs)


async def test_a_token_that_is_set_is_written_nowhere(tmp_path: Path) -> None:
    given = {"skill_worker_home": tmp_path, "computer_use_mcp_token": "s3cret"}
    stop = asyncio.Event()
    stop.set()
    bubblewrap()
    await serve_computer_use(load_settings(given, env_file=None), PodHost(), stop)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="root is refused")
def test_root_is_told_that_it_serves_no_pods_without_a_wall(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["serve", "computer-use", "--no-sandbox"]) == 4
    assert "root serves no sandboxes without a wall" in capsys.readouterr().err

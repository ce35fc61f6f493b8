"""The MCP client against real servers on loopback: tools, sessions, pods, documents."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest
from mcp.types import ToolAnnotations

from core.app.bootstrap import mcp_tools
from core.app.settings import load_settings
from core.domain.errors import ConfigurationError, Forbidden, McpDown, NotFound, PodCallFailed
from core.mcp_client import COMPUTER_USE, McpClient, McpPods, McpServer, McpSkillDocuments, open_mcp
from tests.support.mcp_servers import ID_SHAPES, ScriptedComputerUse, ScriptedSkills, connected
from tests.support.waiting import AT_LAST, SOON

SKILLS = "claude-skills"
DOCUMENTS = {"skill-creator/scripts/init_skill.py": "print('init')\n"}
NOBODY = "http://127.0.0.1:9/mcp"
SSE = pytest.mark.parametrize("sse", [False, True], ids=["http", "sse"])


async def test_forty_files_go_in_over_one_session(tmp_path: Path) -> None:
    server = ScriptedComputerUse(tmp_path)
    async with server.serve(), connected(server) as client, McpPods(client).open(ttl=60) as pod:
        await asyncio.gather(*(pod.create_file(f"/tmp/{n}.md", "한") for n in range(40)))
        assert (await pod.run_shell("ls /tmp | wc -l")).stdout.strip() == "40"
    assert server.calls.count("create_file") == 40
    assert server.initialized == 1


@SSE
async def test_the_session_stays_open_from_one_pod_to_the_next(tmp_path: Path, sse: bool) -> None:
    server = ScriptedComputerUse(tmp_path, sse=sse)
    async with server.serve(), connected(server) as client:

        async def one() -> None:
            async with McpPods(client).open(ttl=60) as pod:
                await pod.run_shell("true")

        await asyncio.gather(*(one() for _ in range(5)))
        await one()
    assert server.initialized == 1
    assert server.methods.count("tools/list") == 1
    assert not server.pods


@pytest.mark.parametrize("id_shape", ID_SHAPES)
async def test_the_pod_is_found_in_each_shape_of_its_id(tmp_path: Path, id_shape: str) -> None:
    server = ScriptedComputerUse(tmp_path, id_shape=id_shape)
    async with server.serve(), connected(server) as client, McpPods(client).open(ttl=77) as pod:
        assert (await pod.run_shell("echo 안녕")).stdout == "안녕\n"
    assert server.arguments[0] == {"ttl": 77}
    assert not server.pods


@pytest.mark.parametrize("prefix", ["", "mcp_computer-use_", "mcp_cursor-computer-use_"])
async def test_tools_are_known_by_each_form_of_their_name(tmp_path: Path, prefix: str) -> None:
    server = ScriptedComputerUse(tmp_path, rename=lambda name: prefix + name)
    async with server.serve(), connected(server) as client:
        tool = await client.get_mcp_tool_by_name_async("run_shell")
        assert tool.name == f"{prefix}run_shell"
        async with McpPods(client).open(ttl=60) as pod:
            assert (await pod.run_shell("echo x")).stdout == "x\n"
        assert f"{prefix}run_shell" in await client.tool_names(COMPUTER_USE)


async def test_an_unknown_tool_is_refused_with_the_names_there_are(tmp_path: Path) -> None:
    skills, pods = ScriptedSkills(DOCUMENTS), ScriptedComputerUse(tmp_path)
    async with skills.serve(), pods.serve(), both(skills.url, pods.url) as client:
        with pytest.raises(NotFound, match=r"no_such.*create_file.*read_skill_document"):
            await client.get_mcp_tool_by_name_async("no_such")


def both(skills: str, pods: str) -> AbstractAsyncContextManager[McpClient]:
    servers = [McpServer(SKILLS, skills), McpServer(COMPUTER_USE, pods)]
    return open_mcp(servers, call_seconds=10)


@SSE
async def test_a_server_that_is_down_leaves_the_tools_of_the_other(sse: bool) -> None:
    skills = ScriptedSkills(DOCUMENTS, sse=sse)
    async with skills.serve(), both(skills.url, NOBODY) as client:
        tool = await client.get_mcp_tool_by_name_async("read_skill_document")
        arguments = {"skill_name": "skill-creator", "document_path": "scripts/init_skill.py"}
        answer = await tool.ainvoke(arguments)
        assert "print('init')" in str(answer)
        with pytest.raises(McpDown, match="computer-use"):
            await client.get_mcp_tool_by_name_async("run_shell")
        with pytest.raises(McpDown, match="computer-use"):
            async with McpPods(client).open(ttl=60):
                pass
        assert await McpSkillDocuments(client, SKILLS).read("skill-creator", "x") is None


async def test_a_tool_raises_on_an_error_answer_and_outlives_its_session(
    tmp_path: Path,
) -> None:
    server = ScriptedComputerUse(tmp_path)
    async with server.serve(), connected(server) as client:
        tool = await client.get_mcp_tool_by_name_async("run_shell")
        with pytest.raises(PodCallFailed, match="unknown session_id"):
            await tool.ainvoke({"session_id": "none", "command": "true"})
        create = await client.get_mcp_tool_by_name_async("create_session")
        await server.restart()
        assert "session_id" in str(await create.ainvoke({"ttl": 5}))
    assert server.initialized == 2


async def test_a_server_that_comes_up_later_is_found(tmp_path: Path) -> None:
    server = ScriptedComputerUse(tmp_path)
    async with server.serve(), connected(server) as client:
        await server.stop()
        with pytest.raises(McpDown, match="does not answer"):
            await client.tool_names(COMPUTER_USE)
        await server.start()
        assert await client.tool_names(COMPUTER_USE)


@SSE
async def test_after_a_restart_the_next_pod_works(tmp_path: Path, sse: bool) -> None:
    server = ScriptedComputerUse(tmp_path, sse=sse)
    async with server.serve(), connected(server) as client:
        pods = McpPods(client)
        async with pods.open(ttl=60) as pod:
            await server.restart()
            with pytest.raises(McpDown):
                await pod.run_shell("true")
        async with pods.open(ttl=60) as pod:
            assert (await pod.run_shell("echo x")).stdout == "x\n"
    assert server.initialized == 2
    assert not server.pods


@SSE
async def test_the_token_goes_out_with_each_request(tmp_path: Path, sse: bool) -> None:
    server = ScriptedComputerUse(tmp_path, token="비밀".encode().hex(), sse=sse)
    async with server.serve():
        async with connected(server, token=server.token) as client:
            assert await client.tool_names(COMPUTER_USE)
        for wrong in (None, "other"):
            async with connected(server, token=wrong) as client:
                with pytest.raises(ConfigurationError, match="401: who are you") as caught:
                    await client.tool_names(COMPUTER_USE)
                assert "token" in caught.value.hint


async def test_no_proxy_of_the_environment_stands_before_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    server = ScriptedComputerUse(tmp_path)
    async with server.serve(), connected(server) as client:
        assert await client.tool_names(COMPUTER_USE)


async def test_an_unknown_server_and_two_of_one_name_are_wrong_settings() -> None:
    one = McpServer(COMPUTER_USE, NOBODY)
    with pytest.raises(ConfigurationError, match="share a name"):
        McpClient([one, one], call_seconds=1)
    async with open_mcp([one], call_seconds=1) as client:
        with pytest.raises(ConfigurationError, match="there is: computer-use"):
            await client.tool_names("other")


async def test_nothing_is_asked_of_a_server_before_the_first_use(tmp_path: Path) -> None:
    server = ScriptedComputerUse(tmp_path)
    async with server.serve(), connected(server):
        pass
    assert server.methods == []


_STDIO = """
import os
from mcp.server.fastmcp import FastMCP
server = FastMCP("pods")

@server.tool()
def run_shell(session_id: str, command: str) -> str:
    if command == "die":
        os._exit(1)
    return " ".join([os.environ["KEY"], os.environ.get("LLM_PROXY_API_KEY", "nothing"), command])

server.run()
"""


async def test_a_server_that_is_a_process_is_started_and_spoken_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LLM_PROXY_API_KEY", "s3cret")  # of the worker, and not for its servers
    command = (sys.executable, "-c", _STDIO)
    server = McpServer(COMPUTER_USE, command=command, environment={"KEY": "k"})
    async with open_mcp([server], call_seconds=AT_LAST) as client:
        tool = await client.get_mcp_tool_by_name_async("run_shell")
        assert "k nothing ls" in str(await tool.ainvoke({"session_id": "1", "command": "ls"}))
        with pytest.raises(McpDown, match=f"computer-use \\({re.escape(sys.executable)}\\)"):
            await tool.ainvoke({"session_id": "1", "command": "die"})
        assert "k nothing ls" in str(await tool.ainvoke({"session_id": "1", "command": "ls"}))


async def test_a_command_that_is_not_there_is_named() -> None:
    async with open_mcp(
        [McpServer(COMPUTER_USE, command=("no-such-server", "--key=s3cret"))], call_seconds=SOON
    ) as client:
        with pytest.raises(McpDown, match="no-such-server") as caught:
            await client.tool_names(COMPUTER_USE)
    assert "s3cret" not in caught.value.message


@SSE
async def test_servers_of_a_list_get_its_headers_with_their_variables(
    tmp_path: Path, sse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POD_TOKEN", "t0ken")
    server = ScriptedComputerUse(tmp_path, token="t0ken", sse=sse)
    async with server.serve():
        listed = {"url": server.url, "headers": {"Authorization": "Bearer $POD_TOKEN"}}
        given = json.dumps({"mcpServers": {COMPUTER_USE: listed}})
        settings = load_settings({"mcp_servers": given}, env_file=None)
        tools = await mcp_tools(settings, NOBODY, COMPUTER_USE)
        assert "run_shell" in [tool.name for tool in tools]


@pytest.mark.parametrize("prefix", ["", "mcp_computer-use_"])
async def test_a_destructive_tool_is_given_to_nobody(tmp_path: Path, prefix: str) -> None:
    server = ScriptedComputerUse(tmp_path, rename=lambda name: prefix + name)
    server.annotations = {
        "run_shell": ToolAnnotations(destructiveHint=True),
        "create_session": ToolAnnotations(readOnlyHint=True),
        "delete_file": ToolAnnotations(destructiveHint=True),
    }
    (tmp_path / "ours.yaml").write_text(
        "mcp_tools:\n  computer-use: {create_file: destructive, delete_file: writing}\n"
    )
    async with server.serve():
        given: dict[str, str | Path] = {"computer_use_mcp_url": server.url}
        given |= {"skill_worker_config": tmp_path / "ours.yaml"}
        settings = load_settings(given, env_file=None)
        marks = {
            tool.name.removeprefix(prefix): tool.mark.value
            for tool in await mcp_tools(settings, NOBODY, COMPUTER_USE)
        }
        assert marks == {
            "create_session": "reading",
            "create_file": "destructive",
            "run_shell": "destructive",
            "delete_file": "writing",
            "delete_session": "writing",
        }
        async with connected(server) as client:
            with pytest.raises(Forbidden, match="run_shell' is marked as destructive"):
                await client.get_mcp_tool_by_name_async("run_shell")
            async with McpPods(client).open(ttl=60) as pod:
                assert (await pod.run_shell("echo x")).stdout == "x\n"

"""Failures of an MCP server are reported once, in time, and cost no more than they must."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from structlog.testing import capture_logs

from core.adapters.embedded.http_server import run_server
from core.domain.errors import ConfigurationError, McpDown, PodCallFailed, SkillWorkerError
from core.mcp_client import COMPUTER_USE, McpClient, McpPods, McpServer, McpSkillDocuments, open_mcp
from tests.support.examples import at_night, crossed
from tests.support.mcp_servers import ScriptedComputerUse, ScriptedSkills, connected
from tests.support.waiting import NEVER, SOON, within

# The limit of a call to a hanging server; all other calls have to finish within it.
BOUND = 3
SSE = pytest.mark.parametrize("sse", [False, True], ids=["http", "sse"])
WIRE_FAULTS: dict[str, tuple[type[SkillWorkerError], str]] = {
    "unauthorized": (ConfigurationError, "401"),
    "expired": (McpDown, "404"),
    "unavailable": (McpDown, "503: unavailable 오류"),
    "too_large": (PodCallFailed, "413"),
    "html": (McpDown, "HTML: .*Sign in"),
    "garbage": (McpDown, "not MCP"),
    "cut": (McpDown, "broke off"),
    "silent": (McpDown, "broke off"),
    "restart": (McpDown, "MCP server computer-use"),
}


@asynccontextmanager
async def faulty(
    root: Path, faults: dict[str, str], *, sse: bool = False, call_seconds: float = NEVER
) -> AsyncIterator[tuple[ScriptedComputerUse, McpClient]]:
    server = ScriptedComputerUse(root, faults=faults, sse=sse)
    async with server.serve(), connected(server, call_seconds=call_seconds) as client:
        yield server, client


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("fault", "tool"), crossed([*WIRE_FAULTS], ("create_session", "create_file", "run_shell"))
)
async def test_a_fault_of_the_wire_is_told_at_once_and_the_next_pod_works(
    tmp_path: Path, fault: str, tool: str
) -> None:
    kind, says = WIRE_FAULTS[fault]
    if kind is PodCallFailed and tool == "create_session":
        kind = McpDown  # a server that yields no pod says nothing of what was to be done in it
    async with faulty(tmp_path, {f"{tool}:1": fault}) as (server, client):
        with within(), pytest.raises(kind, match=says) as caught:
            await whole_pod(client)
        assert type(caught.value) is kind
        await server.settled()
        assert await whole_pod(client) == "x\n"
        assert not server.pods


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits so long that a failure reported in time was not reported by them."""
    monkeypatch.setattr("core.adapters.mcp.session.CLOSE_SECONDS", NEVER)
    monkeypatch.setattr("core.adapters.mcp.session.PING_SECONDS", NEVER)


@SSE
async def test_over_sse_too_a_broken_connection_is_told_at_once(tmp_path: Path, sse: bool) -> None:
    for fault in ("unavailable", "restart", "unauthorized"):
        kind, _ = WIRE_FAULTS[fault]
        async with faulty(tmp_path, {"run_shell:1": fault}, sse=sse) as (server, client):
            with pytest.raises(kind):
                await whole_pod(client)
            await server.settled()
            assert await whole_pod(client) == "x\n"
            assert not server.pods


async def whole_pod(client: McpClient) -> str:
    async with McpPods(client).open(ttl=60) as pod:
        await pod.create_file("/tmp/a", "x\n")
        return (await pod.run_shell("cat /tmp/a")).stdout


@pytest.mark.parametrize("tool", ["create_session", "create_file", "run_shell"])
async def test_a_tool_error_is_known_by_its_status_whatever_it_says(
    tmp_path: Path, tool: str
) -> None:
    async with faulty(tmp_path, {tool: "tool_error"}) as (server, client):
        kind = McpDown if tool == "create_session" else PodCallFailed
        with pytest.raises(kind, match=f"{tool} failed: {tool} 실패: Skill is valid!"):
            await whole_pod(client)
        assert not server.pods
        assert server.initialized == 1


@pytest.mark.parametrize("sse", [False, *at_night(True)], ids=["http", "sse"])
async def test_a_call_is_bounded_and_only_it(tmp_path: Path, sse: bool) -> None:
    faults = {"run_shell:1": "hang"}
    async with faulty(tmp_path, faults, sse=sse, call_seconds=BOUND) as (server, client):
        pods = McpPods(client)
        async with pods.open(ttl=60) as slow, pods.open(ttl=60) as other:
            with pytest.raises(McpDown, match=r"run_shell gave no answer within 3 s"):
                await slow.run_shell("true")
            await other.create_file("/tmp/a", "1")
            assert (await other.run_shell("cat /tmp/a")).stdout == "1"
        assert not server.pods
        assert server.initialized == 2  # deleting the pods did not trust the first session


async def test_an_answer_that_comes_too_late_harms_nobody(tmp_path: Path) -> None:
    faults = {"run_shell:1": "hang"}
    async with (
        faulty(tmp_path, faults, call_seconds=BOUND) as (server, client),
        McpPods(client).open(ttl=60) as pod,
    ):
        with pytest.raises(McpDown):
            await pod.run_shell("true")
        server.released.set()
        assert (await pod.run_shell("echo x")).stdout == "x\n"


@SSE
async def test_a_cancelled_workflow_is_cancelled_and_its_pod_deleted(
    tmp_path: Path, sse: bool
) -> None:
    async with faulty(tmp_path, {"run_shell": "hang"}, sse=sse) as (server, client):
        work = asyncio.create_task(whole_pod(client))
        while "run_shell" not in server.calls:
            server.called.clear()
            await asyncio.wait_for(server.called.wait(), SOON)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert server.calls[-1] == "delete_session"
        assert not server.pods


async def test_a_cancellation_during_the_deletion_waits_for_it(tmp_path: Path) -> None:
    async with faulty(tmp_path, {"delete_session": "hang"}) as (server, client):
        work = asyncio.create_task(whole_pod(client))
        while "delete_session" not in server.calls:
            server.called.clear()
            await asyncio.wait_for(server.called.wait(), SOON)
        work.cancel()
        server.released.set()
        with pytest.raises(asyncio.CancelledError):
            await work
        assert not server.pods


@pytest.mark.parametrize(
    "fault", ["tool_error", "restart", *at_night("hang", "cut", "unauthorized")]
)
async def test_a_pod_that_cannot_be_deleted_is_logged_and_masks_nothing(
    tmp_path: Path, fault: str
) -> None:
    faults = {"delete_session": fault, "run_shell:1": "tool_error"}
    call_seconds = BOUND if fault == "hang" else NEVER
    async with faulty(tmp_path, faults, call_seconds=call_seconds) as (server, client):
        with capture_logs() as logs, pytest.raises(PodCallFailed, match="run_shell failed"):
            await whole_pod(client)
        await server.settled()
        with capture_logs() as more:
            assert await whole_pod(client) == "x\n"
    for entries in (logs, more):
        assert [entry["event"] for entry in entries] == ["pod.left_behind"]
        assert entries[0]["pod"].startswith("세션-")
        assert entries[0]["error"]


async def test_concurrent_calls_all_learn_that_the_server_died(tmp_path: Path) -> None:
    async with faulty(tmp_path, {"create_file:15": "restart"}) as (server, client):
        async with McpPods(client).open(ttl=60) as pod:
            calls = (pod.create_file(f"/tmp/{n}", "x") for n in range(30))
            results = await asyncio.gather(*calls, return_exceptions=True)
        assert {type(result) for result in results} == {type(None), McpDown}
        await server.settled()
        assert await whole_pod(client) == "x\n"


@pytest.mark.parametrize("fault", ["nonsense", "tool_error", "html", "cut"])
async def test_a_document_that_cannot_be_read_is_no_absence(fault: str) -> None:
    server = ScriptedSkills({"s/a.py": "x"}, faults={"read_skill_document:1": fault})
    async with server.serve(), connected(server, name="skills") as client:
        documents = McpSkillDocuments(client, "skills")
        with pytest.raises(McpDown):
            await documents.read("s", "a.py")
        assert await documents.read("s", "a.py") == "x"


async def test_a_server_without_the_tool_is_told_by_name(tmp_path: Path) -> None:
    server = ScriptedSkills({})
    async with server.serve(), connected(server) as client:
        with pytest.raises(SkillWorkerError, match="no tool create_session; it has: list_skills"):
            await whole_pod(client)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize(
    ("status", "kind", "body", "says"),
    [
        (200, "text/html", b"<h1>Welcome</h1>", "HTML: <h1>Welcome</h1>"),
        (200, "text/plain", "안녕".encode(), "not MCP"),
        (200, "application/json", b"{", "not MCP"),
        (200, "application/json", b"[]", "not MCP"),
        (404, "application/json", b"{}", "404"),
        (502, "text/html", b"<h1>Bad Gateway</h1>", "502: <h1>Bad Gateway"),
        (200, "text/event-stream", b"", "broke off"),
    ],
)
async def test_what_is_no_mcp_server_is_told_at_once(
    status: int, kind: str, body: bytes, says: str
) -> None:
    async def answer(request: Request) -> Response:
        return Response(body, status, media_type=kind)

    app = Starlette(routes=[Route("/mcp", answer, methods=["GET", "POST", "DELETE"])])
    async with (
        run_server(app) as url,
        open_mcp([McpServer(COMPUTER_USE, f"{url}/mcp")], call_seconds=NEVER) as client,
    ):
        with within(), pytest.raises(McpDown, match=says):
            await client.tool_names(COMPUTER_USE)


async def test_a_server_that_accepts_and_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mcp"
        async with open_mcp([McpServer(COMPUTER_USE, url)], call_seconds=0.3) as client:
            with pytest.raises(McpDown, match=r"did not answer within 0\.3 s"):
                await client.tool_names(COMPUTER_USE)

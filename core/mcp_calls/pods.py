"""Pods on the computer-use server: each lives on one MCP session and is deleted at its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog
from pydantic import JsonValue

from core.errors import McpDown, PodCallFailed, SkillWorkerError
from core.mcp_calls.answers import ToolAnswer, objects
from core.mcp_calls.errors import excerpt
from core.mcp_calls.server import COMPUTER_USE
from core.mcp_calls.session import McpSession
from core.mcp_calls.shell_result import read_shell_answer
from core.models import ShellResult

if TYPE_CHECKING:
    from core.mcp_client import McpClient

DELETE_SECONDS = 10.0
_ID_NAMES = ("session_id", "sessionId")
_log = structlog.get_logger(__name__)


class McpPods:
    """The port `Pods` over the connection `computer-use`."""

    def __init__(self, client: McpClient, *, server_name: str = COMPUTER_USE) -> None:
        """`server_name` is the computer-use connection of `client`."""
        self._client = client
        self._server = server_name
        self._deletions: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self, *, ttl: int) -> AsyncIterator[McpPod]:
        """Create a pod that lives at most `ttl` seconds; it is deleted at the end, always.

        Raises McpDown, also where the server has no pod to give now: that says nothing of what
        was to be done in it. A pod that cannot be deleted is logged and left to its ttl.
        """
        async with self._client.lease(self._server) as session:
            pod_id = await _create(session, ttl)
            try:
                yield McpPod(session, pod_id)
            finally:
                await self._delete(pod_id)

    async def _delete(self, pod_id: str) -> None:
        """Delete the pod though we may be cancelled meanwhile; that waits, but not for long."""
        task = asyncio.create_task(self._try_to_delete(pod_id))
        self._deletions.add(task)
        task.add_done_callback(self._deletions.discard)
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})
            raise

    async def _try_to_delete(self, pod_id: str) -> None:
        try:
            async with (
                asyncio.timeout(DELETE_SECONDS),
                self._client.lease(self._server) as session,
            ):
                await session.ask("delete_session", {"session_id": pod_id})
        except (SkillWorkerError, TimeoutError) as error:
            reason = str(error) or f"no answer within {DELETE_SECONDS:g} s"
            _log.warning("pod.left_behind", pod=pod_id, error=reason)


class McpPod:
    """The port `Pod`: a session of the computer-use server, over the MCP session that made it."""

    def __init__(self, session: McpSession, pod_id: str) -> None:
        """`pod_id` is what the server calls its session."""
        self._session = session
        self._id = pod_id

    async def create_file(self, path: str, content: str) -> None:
        """Write a text file. Raises McpDown, PodCallFailed."""
        await self._ask("create_file", {"file_path": path, "content": content})

    async def delete_file(self, path: str) -> None:
        """Delete a file. Raises McpDown, PodCallFailed."""
        await self._ask("delete_file", {"file_path": path})

    async def run_shell(self, command: str) -> ShellResult:
        """Run a shell command; a non-zero status is a result. Raises McpDown, PodCallFailed."""
        return read_shell_answer(await self._ask("run_shell", {"command": command}))

    async def _ask(self, tool: str, arguments: dict[str, JsonValue]) -> ToolAnswer:
        return await self._session.ask(tool, {"session_id": self._id, **arguments})


async def _create(session: McpSession, ttl: int) -> str:
    """Create a pod and give its id. Raises McpDown."""
    try:
        return read_session_id(await session.ask("create_session", {"ttl": ttl}))
    except PodCallFailed as error:
        hint = "has the computer-use server sessions left? it is tried again"
        raise McpDown(f"no pod was given: {error.message}", hint=hint) from error


def read_session_id(answer: ToolAnswer) -> str:
    """Find the id in what `create_session` answered. Raises PodCallFailed where there is none."""
    for found in objects(answer):
        for name in _ID_NAMES:
            value = found.get(name)
            if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
                return str(value)
    raise PodCallFailed(f"create_session gave no session id: {excerpt(answer.text)}")

"""The five tools of the computer-use server, as offered over MCP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import BaseModel, Field

from core.adapters.embedded.mcp_http import make_mcp_server
from core.domain.models import ShellResult

if TYPE_CHECKING:
    from mcp.server.fastmcp import FastMCP

    from core.adapters.embedded.computer_use_sessions import Sessions

MAX_TTL_SECONDS = 3_600
_DESTROYS = ToolAnnotations(destructiveHint=True)

Ttl = Annotated[int, Field(ge=1, le=MAX_TTL_SECONDS, description="Seconds the session may live.")]
Path = Annotated[str, Field(description="Absolute path of a file under /tmp.")]


class SessionCreated(BaseModel):
    """The answer of `create_session`."""

    session_id: str


class ShellAnswer(BaseModel):
    """The answer of `run_shell`."""

    exit_code: int
    stdout: str
    stderr: str


def make_server(sessions: Sessions) -> FastMCP:
    """Build the MCP server over these sessions. Their refusals become tool errors."""
    server = make_mcp_server("computer-use")

    @server.tool()
    async def create_session(ttl: Ttl = 600) -> SessionCreated:
        """Start a sandbox with a private file system, without network and environment."""
        return SessionCreated(session_id=await sessions.create(ttl))

    @server.tool(structured_output=False)
    async def create_file(session_id: str, file_path: Path, content: str) -> str:
        """Write a text file, and the folders above it."""
        await sessions.get(session_id).create_file(file_path, content)
        return f"{file_path} is written"

    @server.tool(annotations=_DESTROYS)
    async def run_shell(session_id: str, command: str) -> Annotated[CallToolResult, ShellAnswer]:
        """Run a shell command in /tmp, and wait for its end."""
        return _shell_result(await sessions.get(session_id).run_shell(command))

    @server.tool(structured_output=False, annotations=_DESTROYS)
    async def delete_file(session_id: str, file_path: Path) -> str:
        """Delete a file."""
        await sessions.get(session_id).delete_file(file_path)
        return f"{file_path} is deleted"

    @server.tool(structured_output=False, annotations=_DESTROYS)
    async def delete_session(session_id: str) -> str:
        """End a sandbox, with its files and all that runs in it."""
        await sessions.delete(session_id)
        return f"session {session_id} is deleted"

    return server


def _shell_result(result: ShellResult) -> CallToolResult:
    parts = [f"exit_code: {result.exit_code}", result.stdout]
    if result.stderr:
        parts += ["STDERR:", result.stderr]
    return CallToolResult(
        content=[TextContent(type="text", text="\n".join(parts))],
        structuredContent=result.model_dump(mode="json"),
    )

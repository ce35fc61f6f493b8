"""Building skills remotely: documents of the skill server, pods of the computer-use server."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from core.domain.models import ShellResult


class SkillDocuments(Protocol):
    """Skill files as served by the claude-skills MCP server (contracts, section 6)."""

    async def read(self, skill_name: str, document_path: str) -> str | None:
        """Return a file's text, None if the server says that there is none. Raises McpDown."""


class Pod(Protocol):
    """A sandbox session on the computer-use MCP server; paths are absolute POSIX paths in it."""

    async def create_file(self, path: str, content: str) -> None:
        """Write a text file. Raises McpDown, PodCallFailed."""

    async def delete_file(self, path: str) -> None:
        """Delete a file. Raises McpDown, PodCallFailed."""

    async def run_shell(self, command: str) -> ShellResult:
        """Run a shell command. Raises McpDown, PodCallFailed; a non-zero status is a result."""


class Pods(Protocol):
    """A pool of pods."""

    def open(self, *, ttl: int) -> AbstractAsyncContextManager[Pod]:
        """Create a session that lives at most `ttl` seconds; it is always deleted at the end."""

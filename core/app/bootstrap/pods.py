"""The skill-creator path: sessions to both MCP servers, if the flag is on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import structlog

from core.app.bootstrap.stores import LOOPBACK, Wrap, as_it_is, new_id
from core.app.settings import Settings
from core.skill_creator_committer import SkillCreatorDeps

if TYPE_CHECKING:
    from core.app.mcp_servers import McpEntry
    from core.mcp_client import McpServer

log = structlog.get_logger(__name__)


def log_skipped() -> None:
    """Log that skills are not built in a pod although the flag is on."""
    log.warning("skill_creator.skipped", reason="COMPUTER_USE_MCP_URL 없음 → 기존 HTTP 사용")


@asynccontextmanager
async def skill_creator(
    settings: Settings, skills_url: str, wrap: Wrap = as_it_is, *, quiet: bool = False
) -> AsyncIterator[SkillCreatorDeps | None]:
    """Yield the pods and documents of the skill-creator path; None if skills go over HTTP.

    `skills_url` is the skill API, whose server also speaks MCP if MCP_SERVER_URL is unset. Nothing
    is connected before a skill is built. If `quiet`, who commits a skill logs that there is no pod.
    """
    if not settings.builds_in_pods:
        if settings.use_skill_creator_workflow and not quiet:
            log_skipped()
        yield None
        return
    from core.mcp_client import McpPods, McpSkillDocuments, open_mcp

    async with open_mcp(
        mcp_servers(settings, skills_url), call_seconds=settings.mcp_timeout_seconds
    ) as client:
        yield SkillCreatorDeps(
            pods=wrap("pods", McpPods(client)),
            documents=wrap("documents", McpSkillDocuments(client, settings.mcp_server_name)),
            new_id=new_id,
        )


def mcp_servers(settings: Settings, skills_url: str) -> list[McpServer]:
    """Return the configured MCP servers; the embedded one has the same guard as its API."""
    from core.mcp_client import COMPUTER_USE, McpServer

    entries = settings.mcp_entries
    token = settings.mcp_server_token
    if settings.mcp_server_url is None:
        token = settings.skill_api_token
    given = {
        settings.mcp_server_name: (settings.mcp_server_url or f"{skills_url}/mcp", token),
        COMPUTER_USE: (settings.computer_use_mcp_url, settings.computer_use_mcp_token),
    }
    servers = []
    for name, (url, secret) in given.items():
        if name in entries:
            servers.append(_listed(name, entries[name]))
        elif url is not None:
            servers.append(McpServer(name, url, secret.get_secret_value() if secret else None))
    return servers


def _listed(name: str, entry: McpEntry) -> McpServer:
    from core.mcp_client import McpServer

    return McpServer(
        name,
        entry.url or "",
        more_headers=entry.headers,
        sse=entry.is_sse,
        command=(entry.command, *entry.args) if entry.command else (),
        environment=entry.env,
        folder=entry.cwd,
    )


async def mcp_tools(settings: Settings, skills_url: str, server_name: str) -> Sequence[str]:
    """Return the names of an MCP server's tools. Raises McpDown, ConfigurationError."""
    from core.mcp_client import open_mcp

    servers = mcp_servers(settings, skills_url)
    async with open_mcp(servers, call_seconds=settings.mcp_timeout_seconds) as client:
        return await client.tool_names(server_name)


@asynccontextmanager
async def computer_use(
    settings: Settings, host: str = LOOPBACK, port: int = 0
) -> AsyncIterator[str]:
    """Serve pods on this machine; yields the URL to set as COMPUTER_USE_MCP_URL.

    Raises ConfigurationError if the address is taken, or open to others without a token.
    """
    from core.adapters.embedded.computer_use import run_computer_use

    token = settings.computer_use_mcp_token
    secret = token.get_secret_value() if token else None
    async with run_computer_use(host=host, port=port, token=secret) as url:
        yield url


async def serve_computer_use(settings: Settings, host: str, port: int, stop: asyncio.Event) -> None:
    """Serve pods until `stop` is set. Raises ConfigurationError."""
    async with computer_use(settings, host, port) as url:
        log.info("server.started", url=url)
        await stop.wait()


async def sandbox_status() -> tuple[str, bool, str]:
    """Return this machine's sandbox wall: name, whether it is a boundary, and a sentence."""
    from core.adapters.embedded import sandbox

    return await asyncio.to_thread(sandbox.sandbox_status)

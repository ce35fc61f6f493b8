"""The skill-creator path: sessions to both MCP servers, if the flag is on."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import structlog

from core.app.bootstrap.stores import (
    LOOPBACK,
    SKILL_TOKEN_FILE,
    Wrap,
    as_it_is,
    handed_token,
    log_served,
    new_id,
    skill_token,
)
from core.app.config_file import load_config
from core.app.settings import Settings
from core.domain.hashing import tenant_token
from core.domain.models.access import MarkedTool
from core.skill_creator_committer import SkillCreatorDeps

if TYPE_CHECKING:
    from core.app.mcp_servers import McpEntry
    from core.mcp_client import McpServer

POD_TOKEN_FILE = "computer-use.token"  # noqa: S105 - the name of a file

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
    """Return the configured MCP servers; the embedded one has the same guard as its API.

    Raises ConfigurationError.
    """
    from core.mcp_client import COMPUTER_USE, McpServer

    entries, pods = settings.mcp_entries, settings.computer_use_mcp_url
    given = {
        settings.mcp_server_name: (
            settings.mcp_server_url or f"{skills_url}/mcp",
            _skills_token(settings),
        ),
        COMPUTER_USE: (pods, _pods_token(settings, pods)),
    }
    servers = []
    for name, (url, token) in given.items():
        if name in entries:
            servers.append(_listed(name, entries[name]))
        elif url is not None:
            servers.append(McpServer(name, url, token))
    marks = load_config(settings).mcp_tools
    return [replace(server, marks=marks.get(server.name, {})) for server in servers]


def _skills_token(settings: Settings) -> str | None:
    """Return the token for the documents of skills: what is built in belongs to no tenant."""
    url, given = settings.mcp_server_url, settings.mcp_server_token
    if url is None:
        token = skill_token(settings)
        return token("") if callable(token) else token
    if given is not None:
        return given.get_secret_value()
    found = handed_token(settings, url, SKILL_TOKEN_FILE)
    return tenant_token(found, "") if found else None


def _pods_token(settings: Settings, url: str | None) -> str | None:
    """Return the token for pods: the one given, or that of a server of the same home."""
    given = settings.computer_use_mcp_token
    if given is not None:
        return given.get_secret_value()
    return handed_token(settings, url, POD_TOKEN_FILE) if url else None


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


async def mcp_tools(settings: Settings, skills_url: str, server_name: str) -> Sequence[MarkedTool]:
    """Return an MCP server's tools with their marks. Raises McpDown, ConfigurationError."""
    from core.mcp_client import open_mcp

    servers = mcp_servers(settings, skills_url)
    async with open_mcp(servers, call_seconds=settings.mcp_timeout_seconds) as client:
        return await client.marked_tools(server_name)


@dataclass(frozen=True, kw_only=True)
class PodHost:
    """How pods are served: where, as which account under root, and whether no wall will do."""

    host: str = LOOPBACK
    port: int = 0
    user: int | None = None
    no_sandbox: bool = False


@asynccontextmanager
async def computer_use(settings: Settings, served: PodHost) -> AsyncIterator[str]:
    """Serve pods on this machine; yields the URL to set as COMPUTER_USE_MCP_URL.

    Raises ConfigurationError if the address is taken, the token cannot be kept, or no wall works
    here and that is not permitted.
    """
    from core.adapters.embedded.computer_use import TOKEN_SETTING, run_computer_use
    from core.adapters.embedded.home import stored_token
    from core.adapters.embedded.sandbox import require_wall

    wall = await asyncio.to_thread(
        require_wall, user=served.user, no_sandbox=served.no_sandbox, is_root=os.geteuid() == 0
    )
    given = settings.computer_use_mcp_token
    token = (
        given.get_secret_value()
        if given
        else stored_token(settings.skill_worker_home, POD_TOKEN_FILE, TOKEN_SETTING)
    )
    async with run_computer_use(host=served.host, port=served.port, token=token, wall=wall) as url:
        yield url


async def serve_computer_use(settings: Settings, served: PodHost, stop: asyncio.Event) -> None:
    """Serve pods until `stop` is set. Raises ConfigurationError."""
    async with computer_use(settings, served) as url:
        log_served(settings, url, settings.computer_use_mcp_token, POD_TOKEN_FILE)
        await stop.wait()


async def sandbox_status() -> tuple[str, bool, str]:
    """Return this machine's sandbox wall: name, whether it is a boundary, and a sentence."""
    from core.adapters.embedded import sandbox

    return await asyncio.to_thread(sandbox.sandbox_status)

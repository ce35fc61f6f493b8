"""How what skills are built with is: both MCP servers, and what keeps sandboxes in."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from core.doctor.checks import Check, CheckStatus, Probe, well
from core.settings import Settings

COMPUTER_USE = "computer-use"


def pod_probes(settings: Settings) -> Mapping[str, Probe]:
    """Give the probes of what skills are built with, where it is asked for or named."""
    wanted, url = settings.use_skill_creator_workflow, settings.computer_use_mcp_url
    probes: dict[str, Probe] = {}
    if wanted or url or settings.mcp_server_url:
        probes["skills MCP"] = lambda: _ask_mcp(settings, settings.mcp_server_name)
    if url:
        probes["computer-use MCP"] = lambda: _ask_mcp(settings, COMPUTER_USE)
    elif wanted:
        probes["computer-use MCP"] = _no_pods
    if (wanted or url) and (url is None or _is_loopback(url)):
        probes["sandbox"] = _ask_sandbox
    return probes


async def _ask_mcp(settings: Settings, server_name: str) -> str:
    from core import bootstrap

    async with bootstrap.skill_server(settings) as url:
        tools = await bootstrap.mcp_tools(settings, url, server_name)
    return f"{server_name} answers, its tools: {', '.join(tools) or 'none'}"


async def _no_pods() -> Check:
    return Check(
        name="computer-use MCP",
        status=CheckStatus.WARN,
        detail="COMPUTER_USE_MCP_URL is not set: skills go out over HTTP, without a sandbox",
        fix="run `skill-worker serve computer-use`, and set COMPUTER_USE_MCP_URL to its address",
    )


async def _ask_sandbox() -> Check:
    """Tell what would keep pods of this machine in."""
    from core import bootstrap

    name, is_boundary, detail = await bootstrap.sandbox_status()
    if is_boundary:
        return well("sandbox", f"{name}, a security boundary: {detail}")
    return Check(
        name="sandbox",
        status=CheckStatus.WARN,
        detail=detail,
        fix="install bubblewrap (the program bwrap), e.g. `apt-get install bubblewrap`",
    )


def _is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in {"127.0.0.1", "::1", "localhost"}

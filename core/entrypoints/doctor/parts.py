"""Probes of the models and of the sandbox: whether they answer, and what waits for a vector."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from core.app.settings import COMPUTER_USE, OFFLINE_MODEL, Settings
from core.domain.errors import ConfigurationError, DatabaseDown, ModelDown
from core.domain.messages import Message, joined
from core.entrypoints.doctor.checks import Check, CheckStatus, Probe, well


async def ask_embeddings(settings: Settings) -> str | Check:
    """Ask the embedding model for one vector. Raises ModelDown, ConfigurationError."""
    from core.app import bootstrap

    name = settings.embedding_model
    if name is None:
        return "off: EMBEDDING_MODEL is not set, search goes by words"
    async with bootstrap.open_meaning(settings) as meaning:
        assert meaning is not None
        vector = await meaning.model().embed_query("ready")
    answers = f"{name} answers, with vectors of {len(vector)} numbers"
    try:
        backlog = await bootstrap.vector_backlog(settings)
    except (DatabaseDown, ConfigurationError):
        return answers  # the check of the database reports it
    if backlog.others:
        answers += f"; vectors of {', '.join(backlog.others)} are kept beside and not used"
    if not backlog.waiting:
        return f"{answers}; all {backlog.documents} documents have theirs"
    waiting = f"{answers}; {backlog.waiting} of {backlog.documents} documents wait for theirs"
    if backlog.error:
        waiting += f", and the last call of a worker failed: {backlog.error}"
    return Check(
        name="embeddings",
        status=CheckStatus.WARN,
        detail=waiting,
        fix="a running worker makes them: `skill-worker run`",
    )


async def ask_model(settings: Settings) -> str | Check:
    """Ask the model for one word. Raises ModelDown, ConfigurationError."""
    from core.agent.model.chat_model import probe
    from core.app import bootstrap

    name = settings.require_model()
    model = bootstrap.chat_model(settings)
    if name == OFFLINE_MODEL:
        return "the offline stand-in, for trying things out"
    paused = await _paused(settings)
    try:
        await probe(model)
    except ModelDown as error:
        raise ModelDown(
            joined([error.message, paused], ""), hint=_model_fix(settings, name, error)
        ) from error
    except ConfigurationError as error:
        raise ConfigurationError(joined([error.message, paused], ""), hint=error.hint) from error
    finally:
        await bootstrap.close_chat_model(model)
    if not paused:
        return f"{name} answers"
    return Check(
        name="model",
        status=CheckStatus.WARN,
        detail=f"{name} answers{paused}",
        fix="a running worker asks it every LLM_PROBE_SECONDS and goes on: `skill-worker run`",
    )


async def _paused(settings: Settings) -> str:
    """Return since when workers have blocked the model, or nothing, also if that is unknown."""
    from core.app import bootstrap

    try:
        pause = await bootstrap.model_pause(settings)
    except (DatabaseDown, ConfigurationError):
        return ""  # the check of the database reports it
    if pause is None:
        return ""
    return Message(
        "doctor.held_back", since=f"{pause.since:%Y-%m-%d %H:%M:%S} UTC", why=pause.reason
    )


def _model_fix(settings: Settings, name: str, error: ModelDown) -> str:
    if "cannot be reached" not in error.message:
        return "nothing here: it answers, but not usefully; workers ask it again by themselves"
    if settings.llm_proxy_url is not None:
        return f"start the proxy at LLM_PROXY_URL={settings.llm_proxy_url}, or mend that setting"
    provider = name.partition(":")[0]
    return f"see whether this machine reaches {provider}, or set LLM_PROXY_URL to a proxy"


def pod_probes(settings: Settings) -> Mapping[str, Probe]:
    """Return the probes of what skills are built with, if it is enabled or configured."""
    wanted, url = settings.use_skill_creator_workflow, settings.computer_use_mcp_url
    listed = settings.mcp_entries
    probes: dict[str, Probe] = {}
    if wanted or settings.has_pods or settings.mcp_server_url or listed:
        probes["skills MCP"] = lambda: _ask_mcp(settings, settings.mcp_server_name)
    if settings.has_pods:
        probes["computer-use MCP"] = lambda: _ask_mcp(settings, COMPUTER_USE)
    elif wanted:
        probes["computer-use MCP"] = _no_pods
    if COMPUTER_USE in listed:
        return probes
    if (wanted or url) and (url is None or _is_loopback(url)):
        probes["sandbox"] = _ask_sandbox
    return probes


async def _ask_mcp(settings: Settings, server_name: str) -> str:
    from core.app import bootstrap

    async with bootstrap.skill_server(settings) as url:
        tools = await bootstrap.mcp_tools(settings, url, server_name)
    shown = ", ".join(f"{tool.name} ({tool.mark})" for tool in tools)
    return f"{server_name} answers, its tools: {shown or 'none'}"


async def _no_pods() -> Check:
    return Check(
        name="computer-use MCP",
        status=CheckStatus.WARN,
        detail="COMPUTER_USE_MCP_URL is not set: skills go out over HTTP, without a sandbox",
        fix="run `skill-worker serve computer-use`, and set COMPUTER_USE_MCP_URL to its address",
    )


async def _ask_sandbox() -> Check:
    """Return the check of what would isolate pods on this machine."""
    from core.app import bootstrap

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

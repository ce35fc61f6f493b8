"""The doctor: asks each part how it is, and says of each that is not well how to mend it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from core.errors import ConfigurationError, DatabaseDown, ModelDown, SkillWorkerError
from core.models.base import Model
from core.settings import OFFLINE_MODEL, Settings

_GIB = 1024**3
_LOW_BYTES = _GIB
_FULL_BYTES = _GIB // 10
COMPUTER_USE = "computer-use"
DiskUsage = Callable[[Path], int]


class CheckStatus(StrEnum):
    """How one part is."""

    OK = "OK"
    WARN = "WARN"
    FAIL = "FAIL"


class Check(Model):
    """One part: how it is, what was found, how to mend it; `kind` is that of the error."""

    name: str
    status: CheckStatus
    detail: str
    fix: str = ""
    kind: str = ""


async def check_up(settings: Settings) -> list[Check]:
    """Check everything that these settings name; the model is asked for one word."""
    return await examine(
        warnings=settings.warnings,
        home=settings.skill_worker_home,
        probes={
            "database": lambda: _ask_database(settings),
            "skill API": lambda: _ask_skill_api(settings),
            "model": lambda: _ask_model(settings),
            **_pod_probes(settings),
            **_source_probes(settings),
        },
    )


Probe = Callable[[], Awaitable[str | Check]]


def free_bytes(home: Path) -> int:
    """Give the bytes that are free where `home` is or will be.

    Raises OSError, also where nothing can be made there.
    """
    existing = next(path for path in (home, *home.parents) if path.exists())
    Path(tempfile.mkdtemp(prefix=".doctor-", dir=existing)).rmdir()
    return shutil.disk_usage(existing).free


async def examine(
    *,
    warnings: tuple[str, ...],
    home: Path,
    probes: Mapping[str, Probe],
    free: DiskUsage = free_bytes,
) -> list[Check]:
    """Check configuration and disk, then each probe in order.

    A probe gives a sentence about a part that is well, or a whole check, and raises
    SkillWorkerError where something is wrong.
    """
    checks = [_config(warnings), _disk(home, free)]
    checks += [await _probe(name, probe) for name, probe in probes.items()]
    return checks


def failed_config(error: ConfigurationError) -> Check:
    """Give the check of a configuration that cannot be read."""
    return _failed("config", error)


def _config(warnings: tuple[str, ...]) -> Check:
    if warnings:
        return Check(
            name="config",
            status=CheckStatus.WARN,
            detail="; ".join(warnings),
            fix="mend it, or leave it out",
        )
    return Check(name="config", status=CheckStatus.OK, detail="all settings can be read")


def _disk(home: Path, free: DiskUsage) -> Check:
    try:
        left = free(home)
    except OSError as error:
        return Check(
            name="disk",
            status=CheckStatus.FAIL,
            detail=f"{home} cannot be used: {error.strerror}",
            fix="set SKILL_WORKER_HOME to a folder you may write to",
            kind="configuration",
        )
    status = CheckStatus.OK
    if left < _LOW_BYTES:
        status = CheckStatus.FAIL if left < _FULL_BYTES else CheckStatus.WARN
    return Check(
        name="disk",
        status=status,
        detail=f"{left / _GIB:.1f} GiB free for {home}",
        fix="" if status is CheckStatus.OK else "free some space, or move SKILL_WORKER_HOME",
        kind="" if status is CheckStatus.OK else "dependency",
    )


async def _probe(name: str, probe: Probe) -> Check:
    try:
        found = await probe()
    except SkillWorkerError as error:
        return _failed(name, error)
    return found if isinstance(found, Check) else _well(name, found)


def _well(name: str, detail: str) -> Check:
    return Check(name=name, status=CheckStatus.OK, detail=detail)


def _failed(name: str, error: SkillWorkerError) -> Check:
    return Check(
        name=name,
        status=CheckStatus.FAIL,
        detail=error.message,
        fix=error.hint,
        kind=error.kind,
    )


async def _ask_database(settings: Settings) -> str:
    from core import bootstrap

    try:
        status = await bootstrap.migration_status(settings)
    except DatabaseDown as error:
        raise DatabaseDown(error.message, hint=_database_fix(settings, error)) from error
    is_embedded = settings.database_url is None
    where = "embedded PostgreSQL" if is_embedded else "PostgreSQL of DATABASE_URL"
    if status.newer_than_code:
        raise ConfigurationError(
            f"{where}: migrated by a newer skill-worker", hint="upgrade skill-worker here"
        )
    if status.up_to_date:
        return f"{where} answers, its schemas are up to date"
    if is_embedded:
        return f"{where} answers, the next command brings its schemas to date"
    raise ConfigurationError(
        f"{where} answers, but its schemas are behind", hint="run `skill-worker db migrate`"
    )


def _database_fix(settings: Settings, error: DatabaseDown) -> str:
    if settings.database_url is None:
        return error.hint
    return "start PostgreSQL there, mend DATABASE_URL, or unset it to use the embedded one"


async def _ask_skill_api(settings: Settings) -> str:
    from core import bootstrap

    async with (
        bootstrap.skill_server(settings) as url,
        bootstrap.skill_store(settings, url) as store,
    ):
        await store.list("doctor")
    return f"{settings.skill_api_base_url or 'the embedded skill server'} answers"


async def _ask_model(settings: Settings) -> str | Check:
    from core import bootstrap
    from core.llm import knock

    name = settings.require_model()
    model = bootstrap.chat_model(settings)
    if name == OFFLINE_MODEL:
        return "the offline stand-in, for trying things out"
    held = await _held(settings)
    try:
        await knock(model)
    except ModelDown as error:
        raise ModelDown(error.message + held, hint=_model_fix(settings, name, error)) from error
    except ConfigurationError as error:
        raise ConfigurationError(error.message + held, hint=error.hint) from error
    finally:
        await bootstrap.close_chat_model(model)
    if not held:
        return f"{name} answers"
    return Check(
        name="model",
        status=CheckStatus.WARN,
        detail=f"{name} answers{held}",
        fix="a running worker asks it every LLM_PROBE_SECONDS and goes on: `skill-worker run`",
    )


async def _held(settings: Settings) -> str:
    """Say since when workers hold the model back, or nothing: also where no one can tell."""
    from core import bootstrap

    try:
        hold = await bootstrap.model_hold(settings)
    except (DatabaseDown, ConfigurationError):
        return ""  # the check of the database says why
    since = f"{hold.since:%Y-%m-%d %H:%M:%S} UTC" if hold else ""
    return f"; workers have held it back since {since}: {hold.reason}" if hold else ""


def _model_fix(settings: Settings, name: str, error: ModelDown) -> str:
    if "cannot be reached" not in error.message:
        return "nothing here: it answers, but not usefully; workers ask it again by themselves"
    if settings.llm_proxy_url is not None:
        return f"start the proxy at LLM_PROXY_URL={settings.llm_proxy_url}, or mend that setting"
    provider = name.partition(":")[0]
    return f"see whether this machine reaches {provider}, or set LLM_PROXY_URL to a proxy"


def _pod_probes(settings: Settings) -> Mapping[str, Probe]:
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


def _source_probes(settings: Settings) -> Mapping[str, Probe]:
    """Give the probes of sources that are named, or half named."""
    if settings.supabase_url is None and settings.supabase_key is None:
        return {}
    return {"supabase": lambda: _ask_supabase(settings)}


async def _ask_supabase(settings: Settings) -> str:
    from core import bootstrap

    return await bootstrap.ask_supabase(settings)


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
        return _well("sandbox", f"{name}, a security boundary: {detail}")
    return Check(
        name="sandbox",
        status=CheckStatus.WARN,
        detail=detail,
        fix="install bubblewrap (the program bwrap), e.g. `apt-get install bubblewrap`",
    )


def _is_loopback(url: str) -> bool:
    return urlsplit(url).hostname in {"127.0.0.1", "::1", "localhost"}

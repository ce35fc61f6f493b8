"""The doctor: checks each part, and says how to mend those that are not well."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import partial

from core.app.config_file import load_config
from core.app.settings import Settings
from core.domain.errors import ConfigurationError, DatabaseDown
from core.domain.messages import Message, joined
from core.domain.models.feedback import WORKER_AGENT
from core.entrypoints.doctor.checks import (
    Check,
    CheckStatus,
    Probe,
    examine,
    failed_config,
    free_bytes,
)
from core.entrypoints.doctor.parts import ask_embeddings, ask_model, pod_probes

__all__ = ["Check", "CheckStatus", "Probe", "check_up", "examine", "failed_config", "free_bytes"]


async def check_up(settings: Settings) -> list[Check]:
    """Check everything that these settings name; the model is asked for one word."""
    return await examine(
        warnings=settings.warnings,
        home=settings.skill_worker_home,
        probes={
            "policy": lambda: _see_config(settings),
            "plug-ins": lambda: _see_plugins(settings),
            "database": lambda: _ask_database(settings),
            "intake": lambda: _ask_intake(settings),
            "skill API": lambda: _ask_skill_api(settings),
            "model": lambda: ask_model(settings),
            "embeddings": lambda: ask_embeddings(settings),
            **pod_probes(settings),
            **_source_probes(settings),
        },
    )


async def _see_config(settings: Settings) -> str | Check:
    """Return which file of rules and sections is in force. Raises ConfigurationError."""
    from core.app.config_file import config_in_words
    from core.changes.policy.explaining import unreachable

    config = load_config(settings)
    if never := unreachable(config):
        return Check(
            name="policy",
            status=CheckStatus.WARN,
            detail=joined(never),
            fix="`skill-worker policy explain` shows which rule decides",
        )
    return config_in_words(config)


async def _see_plugins(settings: Settings) -> str:
    """Return which plug-ins are loaded; screens and hooks are opened. Raises ConfigurationError."""
    from core.app import bootstrap

    try:
        load_config(settings)
    except ConfigurationError:
        return "unknown: see the policy"
    loaded = await bootstrap.see_plugins(settings)
    return joined(map(str, loaded), ", ") or "none: skill-worker.yaml names none"


_NOT_APART = {
    "nothing": "but the role of DATABASE_URL is a superuser or has BYPASSRLS: no policy holds it",
    "owner": "but one role owns the tables and works with them: a statement of its own can"
    " lift what keeps tenants apart",
}
_TWO_ROLES = (
    "give DATABASE_URL a role of its own, set DATABASE_MIGRATION_URL to that of the owner,"
    " and run `skill-worker db migrate`"
)


async def _ask_database(settings: Settings) -> str | Check:
    from core.app import bootstrap

    try:
        status = await bootstrap.migration_status(settings)
        if status.up_to_date and not status.newer_than_code:
            await bootstrap.try_writing(settings)
    except DatabaseDown as error:
        raise DatabaseDown(error.message, hint=_database_fix(settings, error)) from error
    is_embedded = settings.database_url is None
    where = "embedded PostgreSQL" if is_embedded else "PostgreSQL of DATABASE_URL"
    if status.newer_than_code:
        raise ConfigurationError(
            Message("doctor.newer", where=where),
            hint=Message("doctor.hint_upgrade"),
        )
    if status.up_to_date:
        well = f"{where} answers and takes writes, its schemas are up to date"
        apart = _NOT_APART.get(await bootstrap.tenant_wall(settings))
        if apart is not None:
            return Check(
                name="database", status=CheckStatus.WARN, detail=f"{well}, {apart}", fix=_TWO_ROLES
            )
        return await _see_reserved(settings) or well
    if is_embedded:
        return f"{where} answers, the next command brings its schemas to date"
    raise ConfigurationError(
        Message("doctor.behind", where=where),
        hint=Message("doctor.hint_migrate"),
    )


async def _see_reserved(settings: Settings) -> Check | None:
    """Return a warning about agents that have the worker's own id; None if there are none."""
    from core.app import bootstrap

    tenants = await bootstrap.in_the_workers_name(settings)
    if not tenants:
        return None
    return Check(
        name="database",
        status=CheckStatus.WARN,
        detail=f"an agent of {', '.join(tenants)} has the id {WORKER_AGENT!r}, which is the"
        " worker's own by now: it learns and is given nothing any more",
        fix="add it under another id, and have what it knew taught again",
    )


def _database_fix(settings: Settings, error: DatabaseDown) -> str:
    if settings.database_url is None or error.hint != Message("database.hint_down"):
        return error.hint
    return "start PostgreSQL there, mend DATABASE_URL, or unset it to use the embedded one"


async def _ask_skill_api(settings: Settings) -> str:
    from core.app import bootstrap

    chosen = load_config(settings).stores.skills
    if chosen:
        async with bootstrap.skill_store(settings, bootstrap.IN_PROCESS) as store:
            await store.list("doctor")
        return f"not used: skills are kept by the plug-in {next(iter(chosen))}, which answers"
    async with (
        bootstrap.skill_server(settings) as url,
        bootstrap.skill_store(settings, url) as store,
    ):
        await store.list("doctor")
    return f"{settings.skill_api_base_url or 'the embedded skill server'} answers"


async def _ask_intake(settings: Settings) -> str | Check:
    """Return whether somebody has paused the intake of feedback."""
    from core.app import bootstrap

    try:
        pause = await bootstrap.intake_pause(settings)
    except (DatabaseDown, ConfigurationError):
        return "unknown: see the database"
    if pause is None:
        return "workers take up feedback"
    return Check(
        name="intake",
        status=CheckStatus.WARN,
        detail=f"paused since {pause.since:%Y-%m-%d %H:%M:%S} UTC: {pause.reason or 'no reason'}",
        fix="`skill-worker intake resume`",
    )


def _source_probes(settings: Settings) -> Mapping[str, Probe]:
    """Return the probes of sources that are configured, or half configured."""
    probes: dict[str, Probe] = {}
    if settings.supabase_url is not None or settings.supabase_key is not None:
        probes["supabase"] = lambda: _ask_supabase(settings)
        if settings.writes_back:
            probes["write-back"] = lambda: _ask_platform(settings)
    with suppress(ConfigurationError):  # the check of the policy reports it
        for name in load_config(settings).sources:
            probes[f"source {name}"] = partial(_ask_source, settings, name)
    return probes


async def _ask_source(settings: Settings, name: str) -> str:
    from core.app import bootstrap

    await bootstrap.ask_source(settings, name)
    return f"{name} answers"


async def _ask_supabase(settings: Settings) -> str:
    from core.app import bootstrap

    return await bootstrap.ask_supabase(settings)


async def _ask_platform(settings: Settings) -> str:
    from core.app import bootstrap

    return await bootstrap.ask_platform(settings)

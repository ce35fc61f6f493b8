"""The doctor: checks each part, and says how to mend those that are not well."""

from __future__ import annotations

from collections.abc import Mapping

from core.app.settings import Settings
from core.domain.errors import ConfigurationError, DatabaseDown
from core.domain.messages import Message
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
            "database": lambda: _ask_database(settings),
            "intake": lambda: _ask_intake(settings),
            "skill API": lambda: _ask_skill_api(settings),
            "model": lambda: ask_model(settings),
            "embeddings": lambda: ask_embeddings(settings),
            **pod_probes(settings),
            **_source_probes(settings),
        },
    )


async def _ask_database(settings: Settings) -> str:
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
        return f"{where} answers and takes writes, its schemas are up to date"
    if is_embedded:
        return f"{where} answers, the next command brings its schemas to date"
    raise ConfigurationError(
        Message("doctor.behind", where=where),
        hint=Message("doctor.hint_migrate"),
    )


def _database_fix(settings: Settings, error: DatabaseDown) -> str:
    if settings.database_url is None or error.hint != Message("database.hint_down"):
        return error.hint
    return "start PostgreSQL there, mend DATABASE_URL, or unset it to use the embedded one"


async def _ask_skill_api(settings: Settings) -> str:
    from core.app import bootstrap

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
    if settings.supabase_url is None and settings.supabase_key is None:
        return {}
    return {"supabase": lambda: _ask_supabase(settings)}


async def _ask_supabase(settings: Settings) -> str:
    from core.app import bootstrap

    return await bootstrap.ask_supabase(settings)

"""The doctor's probes: each asks one real part."""

from __future__ import annotations

from core.bootstrap.learning import chat_model
from core.bootstrap.stores import database, skill_store
from core.doctor import Check, Probe, examine
from core.errors import ConfigurationError
from core.postgres import migrations
from core.settings import Settings


async def doctor(settings: Settings, offline: bool) -> list[Check]:
    """Ask configuration, disk, database, migrations, skill API and model how they are."""
    probes: dict[str, Probe] = {
        "database": lambda: _database(settings),
        "migrations": lambda: _migrations(settings),
        "skill_api": lambda: _skill_api(settings),
        "model": lambda: _model(settings, offline=offline),
    }
    return await examine(warnings=settings.warnings, home=settings.skill_worker_home, probes=probes)


async def _database(settings: Settings) -> str:
    with database(settings) as conninfo:
        await migrations.status(conninfo)
    return "answers" if settings.database_url else "the embedded PostgreSQL starts and answers"


async def _migrations(settings: Settings) -> str:
    with database(settings) as conninfo:
        found = await migrations.status(conninfo)
    if found.up_to_date:
        return "all schemas are the code's"
    if settings.database_url is None:
        return "not yet made; the first command makes them"
    raise ConfigurationError(
        "the database's schemas are not the code's", hint="run `skill-worker db migrate`"
    )


async def _skill_api(settings: Settings) -> str:
    async with skill_store(settings) as skills:
        found = await skills.list("")
    where = settings.skill_api_base_url or "the embedded skill server"
    return f"{where} answers; {len(found)} skills without a tenant"


async def _model(settings: Settings, *, offline: bool) -> str:
    chat_model(settings, offline=offline)
    return f"{settings.llm_model} can be built (not called: a call costs money)"

"""The skills of a tenant as the skill API has them, and their graph on stdout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.entrypoints.cli.knowledge.tenants import only_tenant
from core.entrypoints.cli.output import print_json, say, talk
from core.entrypoints.cli.session import load, run_async
from core.skills.graph import RENDERERS, SkillGraph, SkillParts, as_json, skill_graph
from core.skills.library import look_through

if TYPE_CHECKING:
    from core.app.settings import Settings


def read_graph(tenant_id: str | None) -> SkillGraph:
    """Read all skills of a tenant; of the only tenant if none is named.

    Raises WrongCall that lists the tenants if there are several, SkillApiDown.
    """
    settings = load(interactive=True)
    return run_async(_read(settings, tenant_id))


def show_graph(graph: SkillGraph, form: str) -> None:
    """Print the graph; what could not be read is reported on stderr."""
    for name, problem in graph.unreadable.items():
        talk(f"skill {name!r} cannot be read: {problem}")
    if form == "json":
        print_json(as_json(graph))
    else:
        say(RENDERERS[form](graph))


async def _read(settings: Settings, tenant_id: str | None) -> SkillGraph:
    from core.app import bootstrap

    tenant = await _tenant_of_all(settings) if tenant_id is None else tenant_id
    async with bootstrap.skill_store(settings, bootstrap.IN_PROCESS) as skills:
        read = await look_through(skills, tenant, SkillParts.of)
    return skill_graph(read.seen, read.unreadable)


async def _tenant_of_all(settings: Settings) -> str:
    """Return the tenant of all agents; skills need no database, but whose they are does."""
    from core.app import program

    async with program.open_over_tenants(settings) as app:
        return await only_tenant(app)

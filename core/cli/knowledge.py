"""`skill-worker knowledge`: what is known now."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from core.cli.options import AgentId, Json, KindName, KindOption, Tenant
from core.cli.output import print_json, print_model, print_page, print_table, talk
from core.cli.session import load, run_async, with_app
from core.errors import DependencyDown, InvalidInput, NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from core.app import App
    from core.models import Hit, Kind, KnowledgeItem, SkillFile
    from core.settings import Settings

app = typer.Typer(help="See what is known: memories, decision tables, skills.")


@app.command("list")
def list_(
    kind: KindOption = None, agent: AgentId = None, tenant: Tenant = None, as_json: Json = False
) -> None:
    """List what is known, newest first."""
    items = with_app(lambda opened: _list(opened, tenant, agent, _kind(kind)))
    if as_json:
        print_json({"items": [_listed(item) for item in items], "next": None})
        return
    print_table(
        ("ID", "KIND", "TENANT", "AGENT", "NAME", "VERSION"),
        [(i.id, i.kind, i.tenant_id, i.agent_id, i.name, i.version) for i in items],
    )


@app.command("show")
def show(
    item_id: Annotated[str, typer.Argument(help="Id; for a skill its name.")],
    tenant: Tenant = None,
    kind: KindOption = None,
    as_json: Json = False,
) -> None:
    """Show one item whole: a memory, a decision table as a grid, a skill with its files."""
    from core.cli.render import show_item

    item, files = with_app(lambda opened: _read(opened, item_id, tenant, _kind(kind)))
    if as_json:
        listed: list[JsonValue] = [
            {"path": path, "size": len(file.data), "executable": file.executable}
            for path, file in sorted(files.items())
        ]
        print_model(item, {"files": listed} if files else None)
        return
    show_item(item, files)


@app.command("search")
def search(
    query: Annotated[str, typer.Argument(help="What to look for; `-` reads stdin.")],
    kind: KindOption = None,
    agent: AgentId = None,
    tenant: Tenant = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, max=50, help="Most hits.")] = None,
    as_json: Json = False,
) -> None:
    """Search what one tenant knows, best first."""
    settings = load(interactive=True)
    text = sys.stdin.read() if query == "-" else query
    if not text.strip():
        raise InvalidInput("the query is blank", hint="give a few words to look for")
    hits = run_async(_search(settings, text, _kind(kind), agent, tenant, limit))
    if as_json:
        print_page(hits)
        return
    print_table(
        ("SCORE", "KIND", "ID", "NAME", "EXCERPT"),
        [(f"{hit.score:.2f}", hit.kind, hit.id, hit.name, hit.excerpt) for hit in hits],
    )


async def _list(
    opened: App, tenant: str | None, agent_id: str | None, kind: Kind | None
) -> Sequence[KnowledgeItem]:
    from core.models import Kind

    if kind in {None, Kind.SKILL}:
        await _follow_skills(opened, await _tenants(opened, tenant, agent_id))
    return await opened.knowledge.list(tenant_id=tenant, agent_id=agent_id, kind=kind)


def _listed(item: KnowledgeItem) -> JsonValue:
    """Give an item as a list has it: a skill without its text, which is behind the skill API."""
    from core.models import Kind

    dumped: JsonValue = item.model_dump(
        mode="json", exclude={"content"} if item.kind is Kind.SKILL else None
    )
    return dumped


async def _tenants(opened: App, tenant: str | None, agent_id: str | None) -> Sequence[str]:
    if tenant:
        return [tenant]
    agents = await opened.agents.list()
    return sorted({a.tenant_id for a in agents if agent_id in {None, a.id}})


async def _follow_skills(opened: App, tenants: Sequence[str]) -> None:
    """Look what skills others wrote; where the skill API is down, say that they may be missing."""
    try:
        for tenant_id in tenants:
            await opened.search.refresh(tenant_id)
    except DependencyDown as error:
        talk(f"warning: skills may be stale: {error.message}")


async def _search(
    settings: Settings,
    query: str,
    kind: Kind | None,
    agent_id: str | None,
    tenant: str | None,
    limit: int | None,
) -> Sequence[Hit]:
    from core import bootstrap

    async with bootstrap.open_app(settings) as opened:
        tenant_id = tenant or await _only_tenant(opened, agent_id)
        await _follow_skills(opened, [tenant_id])
        return await opened.search.search(
            query,
            tenant_id=tenant_id,
            agent_id=agent_id,
            kind=kind,
            limit=limit or settings.search_limit,
        )


async def _only_tenant(opened: App, agent_id: str | None) -> str:
    if agent_id:
        return (await opened.agents.get(agent_id)).tenant_id
    tenants = {agent.tenant_id for agent in await opened.agents.list()}
    if len(tenants) != 1:
        raise InvalidInput(
            f"there are {len(tenants)} tenants: say whose knowledge", hint="add --tenant or --agent"
        )
    return tenants.pop()


async def _read(
    opened: App, item_id: str, tenant: str | None, kind: Kind | None
) -> tuple[KnowledgeItem, dict[str, SkillFile]]:
    from core.models import Kind

    found = [item for item in await _list(opened, tenant, None, kind) if item.id == item_id]
    places = {(item.kind, item.tenant_id) for item in found}
    if not places:
        raise NotFound(
            f"nothing known has the id {item_id!r}", hint="see `skill-worker knowledge list`"
        )
    if len(places) > 1:
        raise InvalidInput(f"{item_id!r} is known in several places", hint="add --tenant or --kind")
    where, tenant_id = places.pop()
    item = await opened.knowledge.get(where, tenant_id, item_id)
    bundle = await opened.skills.read(item_id, tenant_id) if where is Kind.SKILL else None
    return item, dict(bundle.files) if bundle else {}


def _kind(name: KindName | None) -> Kind | None:
    from core.models import Kind

    return Kind(name) if name else None

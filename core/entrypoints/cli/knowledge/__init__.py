"""`skill-worker knowledge`: what is known now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall, see_help
from core.entrypoints.cli.knowledge.archived import show_archived
from core.entrypoints.cli.knowledge.context import context
from core.entrypoints.cli.knowledge.effect import effect
from core.entrypoints.cli.knowledge.exporting import export
from core.entrypoints.cli.knowledge.importing import import_
from core.entrypoints.cli.knowledge.promoting import promote
from core.entrypoints.cli.knowledge.searching import search
from core.entrypoints.cli.knowledge.showing import show
from core.entrypoints.cli.knowledge.syncing import sync
from core.entrypoints.cli.knowledge.tenants import known_owner, refresh_skills, tenants_of
from core.entrypoints.cli.knowledge.versions import history, restore
from core.entrypoints.cli.options import AgentId, Json, KindName, KindOption, Tenant
from core.entrypoints.cli.output import print_json, print_table, reach_in_words
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import Kind, KnowledgeItem
    from core.domain.models.cases import CaseCounts

app = typer.Typer(help="See what is known: memories, decision tables, skills.")
app.command("show")(show)
app.command("import")(import_)
app.command("export")(export)
app.command("search")(search)
app.command("context")(context)
app.command("history")(history)
app.command("restore")(restore)
app.command("effect")(effect)
app.command("promote")(promote)
app.command("sync")(sync)


@app.command("list")
def list_(
    kind: KindOption = None,
    agent: AgentId = None,
    tenant: Tenant = None,
    expired: Annotated[
        bool, typer.Option("--expired", help="Memories whose time is over, instead.")
    ] = False,
    archived: Annotated[
        bool, typer.Option("--archived", help="What a person has archived, instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List what is known, newest first."""
    if archived:
        if expired:
            raise WrongCall(Message("knowledge.one_state"), hint=see_help("knowledge list"))
        show_archived(tenant, agent, _kind(kind), as_json=as_json)
        return
    items = with_app(lambda opened: _list(opened, tenant, agent, _kind(kind), expired=expired))
    if as_json:
        print_json({"items": [_listed(*one) for one in items], "next": None})
        return
    print_table(
        ("ID", "KIND", "TENANT", "AGENT", "NAME", "VERSION", "CASES", "HOLDS"),
        [
            (
                *(i.id, i.kind, i.tenant_id, i.agent_id, i.name, i.version),
                *(counts.badge, reach_in_words(i.reach)),
            )
            for i, counts in items
        ],
        empty="nothing is known yet",
    )


async def _list(
    opened: App, tenant: str | None, agent_id: str | None, kind: Kind | None, *, expired: bool
) -> Sequence[tuple[KnowledgeItem, CaseCounts]]:
    from core.domain.models import Kind
    from core.domain.models.cases import CaseCounts

    await opened.require_kind(kind)
    tenant = await known_owner(opened, tenant, agent_id)
    if kind in {None, Kind.SKILL} and not expired:
        await refresh_skills(opened, await tenants_of(opened, tenant))
    items = await opened.stores.knowledge.list(
        tenant_id=tenant, agent_id=agent_id, kind=kind, expired=expired
    )
    keys = [(item.tenant_id, item.kind, item.id) for item in items]
    counts = await opened.stores.cases.counts(keys)
    return [(item, counts.get(key, CaseCounts())) for item, key in zip(items, keys, strict=True)]


def _listed(item: KnowledgeItem, counts: CaseCounts) -> JsonValue:
    """Return an item for a list: a skill without its text, which only the skill API has."""
    from core.domain.models import Kind

    left_out = {"content"} if item.kind is Kind.SKILL else None
    dumped: dict[str, JsonValue] = item.model_dump(mode="json", exclude=left_out)
    return {**dumped, "cases": counts.model_dump(mode="json")}


def _kind(name: KindName | None) -> Kind | None:
    from core.domain.models import Kind

    return Kind(name) if name else None

"""`skill-worker cases`: what must stay true of what was learnt, and whether it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.entrypoints.cli.cases.adding import add, edit
from core.entrypoints.cli.cases.showing import print_case, print_coverage, print_run
from core.entrypoints.cli.exits import FAILED
from core.entrypoints.cli.knowledge.tenants import known_owner
from core.entrypoints.cli.options import (
    AgentId,
    Cursor,
    Json,
    KindName,
    KindOption,
    Limit,
    Tenant,
    who,
)
from core.entrypoints.cli.output import print_json, print_list, print_model, say, talk
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from core.app.program import App
    from core.domain.models.case_figures import CasePage, CasesRun
    from core.domain.models.cases import Case, CaseFilter

app = typer.Typer(help="See, add and run cases: what must stay true of what was learnt.")
app.command("add")(add)
app.command("edit")(edit)

StatusName = Literal["green", "red", "unproved", "disabled"]
CaseId = Annotated[str, typer.Argument(metavar="ID", help="Id of the case.")]
Status = Annotated[StatusName | None, typer.Option("--status", help="Only this status.")]
Item = Annotated[
    str | None,
    typer.Option("--item", metavar="ID", help="Only of this item: its id, or a name of one alone."),
]


@app.command("list")
def list_(
    agent: AgentId = None,
    tenant: Tenant = None,
    kind: KindOption = None,
    item: Item = None,
    status: Status = None,
    change: Annotated[
        str | None, typer.Option("--change", metavar="ID", help="Only those of this change.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """List cases, newest first, and which rows of their tables no case decides by."""

    async def read(opened: App) -> CasePage:
        from core.domain.models.case_figures import CasePage

        wanted = await _wanted(opened, agent, tenant, kind, item, status, change)
        found, following = await opened.stores.cases.page(wanted, limit=limit, cursor=cursor)
        covered = await opened.cases.coverage(wanted, found)
        return CasePage(items=tuple(found), next=following, coverage=covered)

    page = with_app(read)
    if as_json:
        print_model(page)
        return
    print_list(
        (page.items, page.next),
        ("ID", "STATUS", "ROLE", "KIND", "ITEM", "AGENT", "SINCE", "CASE"),
        lambda one: (
            *(one.id, one.status, one.role, one.kind, one.item_name or one.item_id, one.agent_id),
            *(f"{one.since:%F %T}" if one.since else "", _words(one)),
        ),
        as_json=False,
        empty="no cases",
    )
    print_coverage(page.coverage)


@app.command("show")
def show(case_id: CaseId, as_json: Json = False) -> None:
    """Show one case: what it asks, whether it holds, since when and by which change."""
    found = with_app(lambda opened: opened.stores.cases.get(case_id))
    if as_json:
        print_model(found)
        return
    print_case(found)


@app.command("run")
def run(
    case_ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Only these cases.")
    ] = None,
    agent: AgentId = None,
    tenant: Tenant = None,
    kind: KindOption = None,
    item: Item = None,
    status: Status = None,
    limit: Limit = 1000,
    as_json: Json = False,
) -> None:
    """Run cases now, and note how they end; exit 1 if one fails."""

    async def work(opened: App) -> CasesRun:
        if case_ids:
            cases = [await opened.stores.cases.get(case_id) for case_id in case_ids]
            return await opened.cases.run_these(cases)
        wanted = await _wanted(opened, agent, tenant, kind, item, status)
        return await opened.cases.run(wanted, limit)

    done = with_app(work, failed=lambda ran: ran.has_failed)
    if as_json:
        print_model(done)
    else:
        print_run(done)
    if done.has_failed:
        raise typer.Exit(FAILED)


@app.command("disable")
def disable(
    case_id: CaseId,
    reason: Annotated[str, typer.Option("--reason", help="Why it is not to be run any more.")],
    as_json: Json = False,
) -> None:
    """Disable a case for good: it is kept, with the reason, and not run any more."""

    async def work(opened: App) -> Case:
        why = opened.gate.decisions.findings.masked(reason.strip())
        return await opened.stores.cases.disable(case_id, by=who(), reason=why)

    found = with_app(work)
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    say(f"{found.id} is disabled")
    talk("what it asks is tried again only by a new case: `skill-worker cases add`")


async def _wanted(
    opened: App,
    agent: str | None,
    tenant: str | None,
    kind: KindName | None,
    item: str | None,
    status: str | None,
    change: str | None = None,
) -> CaseFilter:
    from core.domain.models import Kind
    from core.domain.models.cases import CaseFilter, CaseStatus
    from core.entrypoints.cli.knowledge.showing import find_known

    of = Kind(kind) if kind else None
    await opened.require_kind(of)
    tenant = await known_owner(opened, tenant, agent)
    wanted = CaseFilter(
        tenant_id=tenant,
        agent_id=agent,
        kind=of,
        change_id=change,
        status=CaseStatus(status) if status else None,
    )
    if item is None:
        return wanted
    found = await find_known(opened, item, tenant, kind)
    whose = {"tenant_id": found.tenant_id, "kind": found.kind, "item_id": found.id}
    return wanted.model_copy(update=whose)


def _words(case: Case) -> str:
    from core.changes.cases.wording import case_words

    return case_words(case.body)

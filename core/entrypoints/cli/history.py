"""`skill-worker history`: the record of every change that was made or tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.entrypoints.cli import auditing
from core.entrypoints.cli.knowledge.tenants import see_feedback, see_tenant
from core.entrypoints.cli.options import Cursor, Json, Limit, Tenant
from core.entrypoints.cli.output import print_list, print_model
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.app.program import App
    from core.domain.models import HistoryRecord

app = typer.Typer(help="See the record of changes, and whether it is whole.")
app.command("verify")(auditing.verify)
app.command("export")(auditing.export)
app.command("calls")(auditing.calls)


@app.command("list")
def list_(
    feedback: Annotated[
        str | None, typer.Option("--feedback", help="Only what this feedback caused.")
    ] = None,
    tenant: Tenant = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """List history records, newest first."""
    from core.domain.models import HistoryFilter, HistoryStatus

    wanted = HistoryFilter(feedback_id=feedback, tenant_id=tenant)

    async def work(opened: App) -> tuple[Sequence[HistoryRecord], str | None]:
        await see_tenant(opened, tenant)
        await see_feedback(opened, feedback)
        return await opened.stores.reader.history(wanted, limit=limit, cursor=cursor)

    print_list(
        with_app(work),
        ("ID", "STATUS", "OPERATION", "KIND", "NAME", "AGENT", "FEEDBACK"),
        lambda r: (
            r.id,
            r.status,
            r.operation,
            r.knowledge_type,
            r.knowledge_name,
            r.agent_id or ("" if r.status is HistoryStatus.REVERTED else "(outside)"),
            r.feedback_content[:120],
        ),
        as_json=as_json,
        empty="no history",
    )


@app.command("show")
def show(
    record_id: Annotated[str, typer.Argument(help="Id of the record.")], as_json: Json = False
) -> None:
    """Show one record: what was there before, what after, and why."""
    from core.entrypoints.cli.render import show_record

    record = with_app(lambda opened: opened.stores.reader.history_record(record_id))
    if as_json:
        print_model(record)
        return
    show_record(record)

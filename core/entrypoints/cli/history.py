"""`skill-worker history`: the record of every change that was made or tried."""

from __future__ import annotations

from typing import Annotated

import typer

from core.entrypoints.cli.options import Cursor, Json, Limit
from core.entrypoints.cli.output import print_model, print_page, print_table, talk
from core.entrypoints.cli.session import with_app

app = typer.Typer(help="See the record of changes.")


@app.command("list")
def list_(
    feedback: Annotated[
        str | None, typer.Option("--feedback", help="Only what this feedback caused.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """List history records, newest first."""
    from core.domain.models import HistoryFilter

    wanted = HistoryFilter(feedback_id=feedback)
    items, following = with_app(
        lambda opened: opened.stores.reader.history(wanted, limit=limit, cursor=cursor)
    )
    if as_json:
        print_page(items, following)
        return
    print_table(
        ("ID", "STATUS", "OPERATION", "KIND", "NAME", "AGENT", "FEEDBACK"),
        [
            (
                r.id,
                r.status,
                r.operation,
                r.knowledge_type,
                r.knowledge_name,
                r.agent_id,
                r.feedback_content[:120],
            )
            for r in items
        ],
        empty="no history",
    )
    if following:
        talk(f"more: --cursor {following}")


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

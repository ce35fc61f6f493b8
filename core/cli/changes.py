"""`skill-worker changes`: what was asked to change, what it came to, and taking it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from core.cli.exits import FAILED
from core.cli.options import Cursor, Json, Limit
from core.cli.output import print_model, print_page, print_table, say, talk
from core.cli.session import with_app

if TYPE_CHECKING:
    from core.app import App
    from core.models import Change

app = typer.Typer(help="See and revert changes of what is known.")
Status = Literal[
    "prepared", "held", "applying", "applied", "rejected", "stale", "failed", "reverted"
]
ChangeId = Annotated[str, typer.Argument(help="Id of the change.")]


@app.command("list")
def list_(
    status: Annotated[Status | None, typer.Option("--status", help="Only this status.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
    as_json: Json = False,
) -> None:
    """List changes, newest first."""
    items, following = with_app(
        lambda opened: opened.reader.changes(status=status, limit=limit, cursor=cursor)
    )
    if as_json:
        print_page(items, following)
        return
    print_table(
        ("ID", "STATUS", "OPERATION", "KIND", "TARGET", "WARN", "REASON"),
        [
            (c.id, c.status, c.operation, c.kind, c.target_name, len(c.warnings) or "", c.reason)
            for c in items
        ],
        empty="no changes",
    )
    if following:
        talk(f"more: --cursor {following}")


@app.command("show")
def show(
    change_id: ChangeId,
    diff: Annotated[bool, typer.Option("--diff", help="Show before against after.")] = False,
    as_json: Json = False,
) -> None:
    """Show one change; with --diff what it does, file by file."""
    from core.cli.render import show_change

    change, text = with_app(lambda opened: _read(opened, change_id, wants_diff=diff))
    if as_json:
        print_model(change, {"diff": text} if diff else None)
        return
    show_change(change, text)


@app.command("revert")
def revert(
    change_id: ChangeId,
    reason: Annotated[str, typer.Option("--reason", help="Why, for the history.")] = "reverted",
    as_json: Json = False,
) -> None:
    """Bring the target of an applied change back to what it was before it."""
    receipt = with_app(lambda opened: opened.revert(change_id, reason))
    if as_json:
        print_model(receipt)
    else:
        say(f"{receipt.status}: {receipt.message}")
    if not receipt.status.is_outcome:
        raise typer.Exit(FAILED)


async def _read(opened: App, change_id: str, *, wants_diff: bool) -> tuple[Change, str]:
    from core.cli.diff import change_diff

    change = await opened.changes.get(change_id)
    return change, await change_diff(change, opened.changes) if wants_diff else ""

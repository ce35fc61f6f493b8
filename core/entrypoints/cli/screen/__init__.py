"""`skill-worker screen`: what the screen finds in a text or a skill, and in all that is known."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import FAILED, WrongCall, see_help
from core.entrypoints.cli.options import Json, Tenant
from core.entrypoints.cli.session import load, run_async, with_app

app = typer.Typer(help="See what may do harm: in a text, in a skill, in all that is known.")


@app.command("check")
def check(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="A text, a .skill file or a skill's folder; or -."),
    ] = None,
    text: Annotated[str | None, typer.Option("--text", metavar="TEXT", help="The text.")] = None,
    as_json: Json = False,
) -> None:
    """Say what the screen finds, and whether a change that adds it would wait.

    Nothing is stored and no database is needed. Exit 1 where it would wait.
    """
    if (file is None) == (text is None):
        raise WrongCall(Message("cli.screen_one"), hint=see_help("screen check"))
    from core.entrypoints.cli.screen.looking import checked, given, show_checked

    found = run_async(checked(given(file, text), load(interactive=True)))
    show_checked(found, as_json=as_json)
    if any(finding.holds for finding in found):
        raise typer.Exit(FAILED)


@app.command("scan")
def scan(tenant: Tenant = None, as_json: Json = False) -> None:
    """Look at all that is known, skills of the skill store too; nothing is changed.

    Exit 1 where something is found that would wait, or that would be masked, and that nobody has
    allowed.
    """
    from core.entrypoints.cli.screen.looking import look_through, show_scanned

    settings = load(interactive=True)
    scanned = with_app(lambda opened: look_through(opened, settings, tenant))
    show_scanned(scanned, as_json=as_json)
    if scanned.unread or any(row.counts for row in scanned.rows):
        raise typer.Exit(FAILED)

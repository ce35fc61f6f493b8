"""`skill-worker db`: the schemas of the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.errors import ConfigurationError
from core.entrypoints.cli.exits import CONFIGURATION, FAILED
from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_model, print_page, print_table, say, talk
from core.entrypoints.cli.session import load, run_async

if TYPE_CHECKING:
    from core.domain.models.views import MigrationStatus

app = typer.Typer(help="Bring the database's schemas to date, or see where they are.")


@app.command("migrate")
def migrate(as_json: Json = False) -> None:
    """Bring all schemas to date; several processes at once are fine."""
    from core.app import bootstrap

    _show(run_async(bootstrap.migrate(load(interactive=True))), as_json=as_json)


@app.command("status")
def status(as_json: Json = False) -> None:
    """Show the schemas; leaves with 1 where one is behind the code, with 4 where one is newer."""
    from core.app import bootstrap

    found = run_async(bootstrap.migration_status(load(interactive=True)))
    _show(found, as_json=as_json)
    try:
        bootstrap.refuse_newer(found)
    except ConfigurationError as error:  # the table, or the one JSON value, is on stdout
        talk(f"error: {error.message}")
        talk(f"hint: {error.hint}")
        raise typer.Exit(CONFIGURATION) from None
    if not found.up_to_date:
        talk("Run `skill-worker db migrate`.")
        raise typer.Exit(FAILED)


@app.command("copy")
def copy(
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="URL",
            help="An empty PostgreSQL database, as in DATABASE_URL.",
        ),
    ],
    as_json: Json = False,
) -> None:
    """Copy the whole database, embedded or not, into an empty one, and check every row."""
    from core.app import bootstrap

    copied = run_async(bootstrap.copy_database(load(interactive=True), to))
    if as_json:
        print_page(copied)
        return
    filled = [table for table in copied if table.rows]
    print_table(("TABLE", "ROWS"), [(table.table, table.rows) for table in filled])
    rows = sum(table.rows for table in copied)
    say(f"copied and checked: {rows} rows of {len(filled)} tables")
    talk(
        "Next: set DATABASE_URL to it. Skills are files of the skill API: they stay where they are."
    )


def _show(found: MigrationStatus, *, as_json: bool) -> None:
    if as_json:
        print_model(found, {"up_to_date": found.up_to_date})
        return
    print_table(
        ("SCHEMA", "HAS", "WANTS"),
        [
            (name, version.current or "none", version.head)
            for name, version in (
                ("skill-worker", found.ours),
                ("procrastinate", found.procrastinate),
                ("langgraph saver", found.saver),
                ("tenants apart", found.tenants),
                ("search by meaning", found.vectors),
            )
            if version is not None
        ],
    )

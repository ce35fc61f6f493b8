"""`skill-worker config`: the settings in force."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, print_table, say
from core.entrypoints.cli.session import load

if TYPE_CHECKING:
    from pydantic import JsonValue

app = typer.Typer(help="See the settings in force.")


@app.callback()
def _group() -> None:
    """See the settings in force."""


@app.command("show")
def show(as_json: Json = False) -> None:
    """Show every setting, its value (secrets masked) and whether it was set; and the file."""
    from core.app.config_file import config_in_words, load_config
    from core.app.settings_text import shown

    settings = load(interactive=True)
    rows, config = shown(settings), load_config(settings)
    path = str(config.source.path) if config.source else None
    if as_json:
        items: list[JsonValue] = [
            {"name": row.name, "value": row.value, "is_set": row.is_set, "about": row.about}
            for row in rows
        ]
        file: JsonValue = {"path": path, "rules": len(config.own_rules), "mode": config.mode}
        print_json({"items": items, "next": None, "file": file})
        return
    print_table(
        ("SETTING", "VALUE", "FROM"),
        [(row.name, row.value, "you" if row.is_set else "default") for row in rows],
    )
    say("")
    say(config_in_words(config))

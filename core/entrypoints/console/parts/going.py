"""Leading the browser to another page of the console, as a link would."""

from __future__ import annotations

from nicegui import ui

from core.entrypoints.console.parts.markup import see_own

MOUNTED = "/console"  # the framework puts it before what it leads to


def go_to(path: str) -> None:
    """Open a page of the console. Raises ValueError on what is no path of it."""
    see_own(path)
    if not path.startswith(f"{MOUNTED}/"):
        raise ValueError(f"{path!r} is no page of the console")
    ui.navigate.to(path.removeprefix(MOUNTED))

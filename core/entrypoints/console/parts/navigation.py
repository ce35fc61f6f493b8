"""Navigation to another page of the console, as by a link."""

from __future__ import annotations

from nicegui import ui

from core.entrypoints.console.parts.markup import see_own

MOUNTED = "/console"  # NiceGUI prefixes it to the path it navigates to


def go_to(path: str) -> None:
    """Open a page of the console. Raises ValueError on a path outside it."""
    see_own(path)
    if not path.startswith(f"{MOUNTED}/"):
        raise ValueError(f"{path!r} is no page of the console")
    ui.navigate.to(path.removeprefix(MOUNTED))

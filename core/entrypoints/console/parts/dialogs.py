"""Dialogs: a mandatory reason, a question to confirm."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from nicegui import ui

from core.domain.text import printable
from core.entrypoints.console.parts.markup import el, show
from core.entrypoints.console.visit import Visit

OnReason = Callable[[str], Awaitable[None]]


def ask_reason(visit: Visit, title: str, do: str, on_reason: OnReason) -> ui.dialog:
    """Create a dialog that asks why; `do` labels its button. Without a reason it stays open."""
    with _dialog(title) as dialog:
        given = ui.textarea(visit.say("frame.reason")).props("autofocus outlined autogrow")
        given.classes("full-width")

        async def go() -> None:
            reason = str(given.value or "").strip()
            if not reason:
                given.props("error").props(f'error-message="{visit.say("frame.reason_needed")}"')
                return
            dialog.close()
            given.value = ""
            await on_reason(reason)

        given.on("keydown.ctrl.enter", go)
        _buttons(visit, dialog, do, go)
    return dialog


def ask(
    visit: Visit,
    title: str,
    do: str,
    on_yes: Callable[[], Awaitable[None]],
    details: Sequence[str] = (),
) -> ui.dialog:
    """Create a dialog that asks for confirmation of an action, with details."""
    with _dialog(title) as dialog:
        if details:
            show(el("ul", *(el("li", detail) for detail in details), class_="text"))

        async def go() -> None:
            dialog.close()
            await on_yes()

        _buttons(visit, dialog, do, go)
    return dialog


def ask_which(
    visit: Visit,
    title: str,
    do: str,
    options: Sequence[str],
    chosen: Sequence[str],
    on_chosen: Callable[[Sequence[str]], Awaitable[None]],
) -> ui.dialog:
    """Create a dialog in which any number of options is chosen; `chosen` are at first."""
    with _dialog(title) as dialog:
        chooser = ui.select([*options], value=[*chosen], multiple=True, label=title)
        chooser.props("outlined use-chips").classes("full-width")

        async def go() -> None:
            dialog.close()
            await on_chosen([str(option) for option in chooser.value or ()])

        _buttons(visit, dialog, do, go)
    return dialog


def keys_help(visit: Visit, keys: Mapping[str, str]) -> ui.dialog:
    """Create the dialog that lists the keys."""
    with _dialog(visit.say("frame.keys")) as dialog:
        rows = [el("tr", el("td", el("kbd", key)), el("td", what)) for key, what in keys.items()]
        show(el("table", el("tbody", *rows), class_="keys"))
        ui.button(visit.say("frame.close"), on_click=dialog.close).props("flat no-caps autofocus")
    return dialog


@contextmanager
def _dialog(title: str) -> Iterator[ui.dialog]:
    """Create a dialog with a title, which is also its accessible name."""
    with ui.dialog() as dialog, ui.card().classes("dialog"):
        dialog.props["aria-label"] = printable(title)
        show(el("h2", title))
        yield dialog


def _buttons(visit: Visit, dialog: ui.dialog, do: str, go: Callable[[], Awaitable[None]]) -> None:
    with ui.row().classes("justify-end full-width"):
        ui.button(visit.say("frame.cancel"), on_click=dialog.close).props("flat no-caps")
        ui.button(do, on_click=go).props("unelevated no-caps")

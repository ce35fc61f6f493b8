"""Dialogs: a reason that has to be given, a question that has to be answered."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from nicegui import ui

from core.entrypoints.console.parts.markup import el, show
from core.entrypoints.console.visit import Visit

OnReason = Callable[[str], Awaitable[None]]


def ask_reason(visit: Visit, title: str, do: str, on_reason: OnReason) -> ui.dialog:
    """Make a dialog that asks why; `do` is the word on its button. Without a reason it stays."""
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
    """Make a dialog that asks whether something is really to be done, and says what that is."""
    with _dialog(title) as dialog:
        if details:
            show(el("ul", *(el("li", detail) for detail in details), class_="text"))

        async def go() -> None:
            dialog.close()
            await on_yes()

        _buttons(visit, dialog, do, go)
    return dialog


def keys_help(visit: Visit, keys: Mapping[str, str]) -> ui.dialog:
    """Make the dialog that says which key does what."""
    with _dialog(visit.say("frame.keys")) as dialog:
        rows = [el("tr", el("td", el("kbd", key)), el("td", what)) for key, what in keys.items()]
        show(el("table", el("tbody", *rows), class_="keys"))
        ui.button(visit.say("frame.close"), on_click=dialog.close).props("flat no-caps autofocus")
    return dialog


@contextmanager
def _dialog(title: str) -> Iterator[ui.dialog]:
    """Make a dialog under a title, which is its name for who does not see it."""
    with ui.dialog() as dialog, ui.card().classes("dialog"):
        dialog.props["aria-label"] = title
        show(el("h2", title))
        yield dialog


def _buttons(visit: Visit, dialog: ui.dialog, do: str, go: Callable[[], Awaitable[None]]) -> None:
    with ui.row().classes("justify-end full-width"):
        ui.button(visit.say("frame.cancel"), on_click=dialog.close).props("flat no-caps")
        ui.button(do, on_click=go).props("unelevated no-caps")

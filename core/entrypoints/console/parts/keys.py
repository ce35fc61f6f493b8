"""Keyboard shortcuts of a page, and the help that "?" shows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from nicegui import ui
from nicegui.events import KeyEventArguments

from core.entrypoints.console.parts.dialogs import keys_help
from core.entrypoints.console.visit import Visit

_SHOWN = {"ArrowLeft": "←", "ArrowRight": "→"}
HELP = "?"


@dataclass(frozen=True)
class Key:
    """The action of a key, in the visitor's words; `do` performs it."""

    what: str
    do: Callable[[], Awaitable[None] | None]


def listen(visit: Visit, keys: Mapping[str, Key]) -> None:
    """Let keys act while no field has the focus and no dialog is open; "?" lists them.

    Names are those of the browser: `a`, `ArrowLeft`. Keys with Ctrl, Alt or Meta are left to it.
    """
    shown = {_SHOWN.get(name, name): key.what for name, key in keys.items()}
    shown[HELP] = visit.say("frame.keys_help")
    help_dialog = keys_help(visit, shown)

    async def on_key(event: KeyEventArguments) -> None:
        modifiers = event.modifiers
        if (
            not event.action.keydown
            or event.action.repeat
            or modifiers.ctrl
            or modifiers.alt
            or modifiers.meta
        ):
            return
        if _is_asked():
            return
        if event.key.name == HELP:
            help_dialog.open()
            return
        key = _meant(event.key.name, event.key.code, keys)
        done = key.do() if key else None
        if done is not None:
            await done

    ui.keyboard(on_key, ignore=["input", "select", "textarea"])


def _meant(name: str, code: str, keys: Mapping[str, Key]) -> Key | None:
    """Return the key that is meant, also with Caps Lock or a non-Latin keyboard layout."""
    by_place = code.removeprefix("Key").lower()
    return (
        keys.get(name)
        or keys.get(name.lower())
        or (keys.get(by_place) if not name.isascii() or name == "Process" else None)
    )


def _is_asked() -> bool:
    """Whether a dialog is open: a key typed in it, however early, is not one of the page."""
    return any(
        isinstance(element, ui.dialog) and element.value
        for element in ui.context.client.elements.values()
    )

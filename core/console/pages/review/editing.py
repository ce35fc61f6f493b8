"""The editor of a held change: the text of a file, checked when it is saved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from nicegui import ui

from core.console.parts.markup import el, show
from core.console.visit import Visit
from core.desk.changes import ChangesDesk
from core.desk.sheet.heads import ChangeHead

Save = Callable[[Callable[[], Awaitable[object]]], Awaitable[bool]]


async def open_editor(visit: Visit, desk: ChangesDesk, change: ChangeHead, save: Save) -> None:
    """Open the editor over the texts of a change. What the checks refuse stays in it."""
    texts = dict(await desk.texts(change.id))
    path = next(iter(texts))
    with ui.dialog().props("maximized persistent") as dialog, ui.card().classes("dialog editor"):
        title = visit.say("review.edit_title", name=change.target_name)
        dialog.props["aria-label"] = title
        show(el("h2", title))
        if len(texts) > 1:
            chooser = ui.select(list(texts), value=path, label=visit.say("review.edit_file"))
            chooser.props("outlined dense").classes("full-width")
        field = ui.textarea(value=texts[path])
        field.props('outlined autofocus input-class="editor-text"')
        field.props["aria-label"] = title
        field.classes("full-width")

        def choose() -> None:
            nonlocal path
            texts[path] = str(field.value or "")
            path = str(chooser.value)
            field.value = texts[path]

        if len(texts) > 1:
            chooser.on_value_change(choose)

        async def go() -> None:
            texts[path] = str(field.value or "")
            if await save(lambda: desk.edit_texts(change.id, texts, seen=change.content_hash)):
                dialog.close()

        with ui.row().classes("justify-end full-width"):
            ui.button(visit.say("frame.cancel"), on_click=dialog.close).props("flat no-caps")
            ui.button(visit.say("review.save"), on_click=go).props("unelevated no-caps")
    dialog.open()

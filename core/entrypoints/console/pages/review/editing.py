"""The editor of a held change: the text of a file, checked when it is saved."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from nicegui import ui

from core.domain.errors import InvalidInput
from core.domain.models import Kind
from core.entrypoints.console.parts.markup import el, show
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.changes import ChangesService
from core.entrypoints.service.review_view.heads import ChangeHead

# In characters: an editor sends its whole text at each key, in one limited websocket message.
MOST = 100_000
Save = Callable[[Callable[[], Awaitable[object]]], Awaitable[bool]]


async def open_editor(
    visit: Visit, service: ChangesService, change: ChangeHead, save: Save
) -> None:
    """Open the editor on the texts of a change. A text that the checks refuse stays in it."""
    known = await service.texts(change.id)
    texts = {path: text for path, text in known.items() if len(text) <= MOST}
    large = [path for path in known if path not in texts]
    if not texts:
        raise InvalidInput(_elsewhere(visit, change, large))
    path = next(iter(texts))
    with ui.dialog().props("maximized persistent") as dialog, ui.card().classes("dialog editor"):
        title = visit.say("review.edit_title", name=change.target_name)
        dialog.props["aria-label"] = title
        show(el("h2", title))
        if large:
            show(el("p", _elsewhere(visit, change, large), class_="banner warn"))
        if len(texts) > 1:
            chooser = ui.select(list(texts), value=path, label=visit.say("review.edit_file"))
            chooser.props("outlined dense").classes("full-width")
        field = ui.textarea(value=texts[path])
        field.props(f'outlined autofocus counter maxlength={2 * MOST} input-class="editor-text"')
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
            if await save(lambda: service.edit_texts(change.id, texts, seen=change.content_hash)):
                dialog.close()

        with ui.row().classes("justify-end full-width"):
            ui.button(visit.say("frame.cancel"), on_click=dialog.close).props("flat no-caps")
            ui.button(visit.say("review.save"), on_click=go).props("unelevated no-caps")
    dialog.open()


def _elsewhere(visit: Visit, change: ChangeHead, large: Sequence[str]) -> str:
    """Return how to edit texts that are too large for the editor."""
    option = "--folder" if change.kind is Kind.SKILL else "--file"
    how = f"skill-worker changes edit {change.id} {option} …"
    return visit.say("review.too_large", files=", ".join(large), most=f"{MOST:,}", how=how)

"""The replacement for a held change's content: a file, a folder, or what an editor saved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.domain.models import Change, Edited, Kind
from core.entrypoints.cli.exits import WrongCall
from core.entrypoints.cli.files import MAX_DOCUMENT, read_text
from core.entrypoints.cli.options import who

if TYPE_CHECKING:
    from core.app.program import App

_SUFFIX = {Kind.DMN_RULE: ".dmn", Kind.SKILL: ".md"}


async def edit(opened: App, change_id: str, file: Path | None, folder: Path | None) -> Change:
    """Replace the content of a held change."""
    change = await opened.stores.changes.get(change_id)
    edited = _given(file, folder) or Edited(content=_written(change))
    return await opened.gate.decisions.edit(change_id, edited, by=who(), seen=change.content_hash)


def _given(file: Path | None, folder: Path | None) -> Edited | None:
    if file is not None and folder is not None:
        raise WrongCall(Message("cli.file_and_folder"))
    if folder is not None:
        from core.skills.bundle import read_folder

        return Edited(files=read_folder(folder).files)
    if file is not None:
        return Edited(content=read_text(file, most=MAX_DOCUMENT))
    return None


def _written(change: Change) -> str:
    """Let the user edit it in their editor. Raises InvalidInput if they left it unchanged."""
    before = change.after.content if change.after else ""
    try:
        after = click.edit(before, extension=_SUFFIX.get(change.kind, ".txt"))
    except click.ClickException as error:
        raise WrongCall(
            Message("cli.nothing_changed", why=error.format_message()),
            hint=Message("cli.hint_editor"),
        ) from None
    if after is not None and not before.endswith("\n"):
        after = after.removesuffix("\n")  # which editors append
    if after is None or after == before:
        raise InvalidInput(Message("cli.nothing_edited"), hint=Message("cli.hint_decide"))
    return after

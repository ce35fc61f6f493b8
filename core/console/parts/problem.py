"""What went wrong, told on the page or in a corner of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from nicegui import ui

from core.console.parts.markup import el, show
from core.console.visit import Visit
from core.errors import Forbidden, NotFound, SkillWorkerError


def show_problem(visit: Visit, error: SkillWorkerError) -> None:
    """Tell on the page why it cannot be shown."""
    key = {NotFound: "frame.not_found", Forbidden: "frame.forbidden"}.get(type(error))
    title = el("h1", visit.say(key or "frame.failed"))
    hint = el("p", error.hint, class_="muted") if error.hint else None
    show(el("section", title, el("p", error.message), hint, class_="problem", role="alert"))


def show_unexpected(visit: Visit) -> None:
    """Tell on the page that something went wrong which nobody planned; the log has what."""
    title = el("h1", visit.say("frame.unexpected"))
    hint = el("p", visit.say("frame.unexpected_hint"), class_="muted")
    show(el("section", title, hint, class_="problem", role="alert"))


@contextmanager
def told(visit: Visit) -> Iterator[None]:
    """Tell in a corner why something that was asked for did not work; the page stays."""
    try:
        yield
    except SkillWorkerError as error:
        text = f"{visit.say('frame.failed')}: {error.message}"
        if error.hint:
            text += f"\n{error.hint}"
        ui.notify(text, type="negative", multi_line=True, close_button=visit.say("frame.close"))

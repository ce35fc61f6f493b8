"""The outcome of an action, shown on the page or in a notification."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

import structlog
from nicegui import ui

from core.domain.errors import Forbidden, NotFound, Refused, SkillWorkerError
from core.domain.models import Receipt, ReceiptStatus
from core.domain.text import printable
from core.entrypoints.api.problems import problem_of
from core.entrypoints.console.parts.markup import el, show
from core.entrypoints.console.visit import Visit

log = structlog.get_logger(__name__)


def show_problem(visit: Visit, error: SkillWorkerError) -> None:
    """Show on the page why it cannot be drawn."""
    key = {NotFound: "frame.not_found", Forbidden: "frame.forbidden"}.get(type(error))
    ui.context.client.status_code = problem_of(error).status
    title = el("h1", visit.say(key or "frame.failed"))
    said = el("p", visit.translated(error.message))
    hint = el("p", visit.translated(error.hint), class_="muted") if error.hint else None
    show(el("section", title, said, hint, class_="problem", role="alert"))


def show_unexpected(visit: Visit) -> None:
    """Show on the page that an unexpected error occurred; details are in the log."""
    ui.context.client.status_code = HTTPStatus.INTERNAL_SERVER_ERROR
    title = el("h1", visit.say("frame.unexpected"))
    hint = el("p", visit.say("frame.unexpected_hint"), class_="muted")
    show(el("section", title, hint, class_="problem", role="alert"))


@contextmanager
def notify_failures(visit: Visit) -> Iterator[None]:
    """Show in a notification why an action failed; the page stays."""
    try:
        yield
    except SkillWorkerError as error:
        said = visit.translated(error.message)
        _notify(visit, f"{visit.say('frame.failed')}: {said}", visit.translated(error.hint))
    except Exception:
        log.exception("console.failed", path=visit.request.url.path)
        _notify(visit, visit.say("frame.unexpected"), visit.say("frame.unexpected_hint"))


def notify_done(visit: Visit, key: str, done: object, name: str) -> None:
    """Show in a notification that an action is done, or, per its receipt, waits for a person.

    Raises Refused if the receipt says that nothing was done.
    """
    if isinstance(done, Receipt) and not done.status.is_outcome:
        raise Refused(done.message)
    if isinstance(done, Receipt) and done.status is ReceiptStatus.HELD:
        ui.notify(printable(visit.say("frame.waits", name=name)), type="warning")
    else:
        ui.notify(printable(visit.say(key, name=name)), type="positive")


def _notify(visit: Visit, text: str, hint: str) -> None:
    lines = "\n".join(filter(None, (text, hint)))
    ui.notify(
        printable(lines), type="negative", multi_line=True, close_button=visit.say("frame.close")
    )

"""Retracting what a piece of feedback taught: first the consequences, then the question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from nicegui import ui

from core.changes.retraction.retract import Effect, Retraction, Standpoint
from core.domain.models import ReceiptStatus
from core.domain.text import printable
from core.entrypoints.console.parts.dialogs import ask
from core.entrypoints.console.parts.named import kind, operation
from core.entrypoints.console.parts.problem import notify_failures
from core.entrypoints.console.visit import Visit
from core.entrypoints.service.feedback import FeedbackService


async def ask_retraction(
    visit: Visit, feedback_id: str, after: Callable[[], Awaitable[None]]
) -> None:
    """Show what would be retracted; if nothing prevents it, do it on confirmation."""
    service = FeedbackService(visit.session)

    async def go() -> None:
        with notify_failures(visit):
            _tell(visit, await service.retract(feedback_id))
        await after()

    with notify_failures(visit):
        would = await service.retract(feedback_id, dry_run=True)
        if would.in_the_way:
            _tell(visit, would)
            return
        title, what = visit.say("run.retract_title"), [*effects(visit, would)]
        ask(visit, title, visit.say("run.retract"), go, what).open()


def _tell(visit: Visit, done: Retraction) -> None:
    if done.in_the_way:
        what = "; ".join(standing(visit, one) for one in done.in_the_way)
        said = printable(visit.say("run.in_the_way", what=what))
        ui.notify(said, type="warning", multi_line=True)
    elif (waits := _waits(done)) or not done.is_done:
        what = "; ".join(effects(visit, done))
        said = printable(visit.say("run.waits" if waits else "run.partly", what=what))
        ui.notify(said, type="warning", multi_line=True)
    else:
        ui.notify(visit.say("run.retracted"), type="positive")


def standing(visit: Visit, one: Standpoint) -> str:
    """Return what prevents it, and how."""
    if one.change_id is None:
        return f"{one.target_name}: {visit.say('run.past_the_worker')}"
    return f"{one.target_name} ({one.change_id}): {visit.translated(one.why)}"


def effects(visit: Visit, done: Retraction) -> Iterator[str]:
    """Yield what is done to each target, and what is forgotten of others."""
    for effect in done.effects:
        yield f"{kind(visit, effect.kind)} {effect.target_name}{_came_of(visit, effect)}"
    if done.rejected:
        yield visit.say("run.rejects", n=len(done.rejected))
    if done.unsaid:
        yield visit.say("run.unsaid", n=len(done.unsaid))


def _came_of(visit: Visit, effect: Effect) -> str:
    """Return what is done, or, if there is more to say than that, the outcome."""
    receipt = effect.receipt
    if receipt is not None and receipt.status is not ReceiptStatus.APPLIED:
        return f": {visit.translated(receipt.message)}"
    return f" · {operation(visit, effect.operation)}" if effect.operation else ""


def _waits(done: Retraction) -> bool:
    return any(e.receipt and e.receipt.status is ReceiptStatus.HELD for e in done.effects)

"""`skill-worker retract`: one piece of feedback never taught anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.entrypoints.cli.exits import FAILED
from core.entrypoints.cli.options import DryRun, Json, who
from core.entrypoints.cli.output import print_model, say, talk
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from core.app.program import App
    from core.changes.retraction.retract import Effect, Retraction, Standpoint


def retract(
    feedback_id: Annotated[str, typer.Argument(metavar="FEEDBACK_ID", help="Id of the feedback.")],
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Take back what one piece of feedback taught, and keep what was learnt since.

    Where a later change cannot stand without it, that change is named and nothing is done.
    """
    done = with_app(
        lambda opened: _retract(opened, feedback_id), dry_run, failed=lambda done: not done.is_done
    )
    if as_json:
        print_model(done)
    else:
        _show(done, dry_run=dry_run)
    if not done.is_done:
        raise typer.Exit(FAILED)


async def _retract(opened: App, feedback_id: str) -> Retraction:
    feedback = await opened.stores.inbox.get(feedback_id)
    return await opened.retractor.retract(feedback, by=who())


def _show(done: Retraction, *, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    for effect in done.effects:
        say(f"{effect.kind} {effect.target_name!r}: {_came_to(effect)}")
    for change_id in done.rejected:
        say(f"change {change_id}: {would}rejected, it will not be applied")
    for waiter in done.unsaid:
        forgotten = f"{would or 'is '}forgotten"
        say(f"{waiter.kind} {waiter.target_id}: stays, that this feedback says it too {forgotten}")
    for stands in done.in_the_way:
        say(f"{stands.kind} {stands.target_name!r}: {_in_the_way(stands)}")
    if done.in_the_way:
        talk("nothing was changed; revert or retract what stands in the way, then try again")


def _in_the_way(stands: Standpoint) -> str:
    if stands.change_id is None:
        return stands.why
    origin = f" of feedback {stands.feedback_id}" if stands.feedback_id else ""
    return f"change {stands.change_id}{origin} is in the way\n  {stands.why}"


def _came_to(effect: Effect) -> str:
    if effect.receipt is not None:
        return f"{effect.receipt.status}: {effect.receipt.message}"
    if effect.said_too:
        waits = f"change {effect.change_id} waits on" if effect.change_id else "stays"
        return f"{waits}, feedback {', '.join(effect.said_too)} says the same"
    return "nothing of it is left"

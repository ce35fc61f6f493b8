"""`skill-worker feedback erase`: a person's words and name, out of everything that is stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall, see_help
from core.entrypoints.cli.options import DryRun, Json, Tenant, who
from core.entrypoints.cli.output import print_model, say, talk
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from core.app.program import App
    from core.domain.models.audit import ErasedTenant, Erasure

_HERE = "inbox"  # given to us by command, with its tenant or without


def erase(
    author: Annotated[
        str, typer.Option("--author", metavar="AUTHOR", help="Who it was, as feedback names them.")
    ],
    tenant: Tenant = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Erase what a person said and their name, everywhere; what was learnt from it is named.

    Digests stay, so that the record can still be verified. It may be repeated.
    """
    if not author.strip():
        raise WrongCall(Message("erase.blank"), hint=see_help("feedback erase"))
    done, writes_back = with_app(lambda opened: _erase(opened, author, tenant, dry_run=dry_run))
    if as_json:
        print_model(done)
        return
    for one in done.tenants:
        _show(one, dry_run=dry_run)
    _say_where_else(done, writes_back=writes_back)
    if done.token is not None:
        talk("there is a token of that name, which still lets them in: `skill-worker tokens list`")


async def _erase(
    opened: App, author: str, tenant: str | None, *, dry_run: bool
) -> tuple[Erasure, bool]:
    from core.changes.erasing import Eraser

    eraser = Eraser(
        erasing=opened.stores.erasing,
        cancel=opened.stores.intake.cancel,
        reject=opened.gate.decisions.reject,
    )
    done = await eraser.erase(author, tenant, by=who(), dry_run=dry_run)
    return done, opened.stores.parts.settings.writes_back


def _show(one: ErasedTenant, *, dry_run: bool) -> None:
    would = "would be " if dry_run else ""
    say(
        f"tenant {one.tenant_id}: {would}erased: {one.feedback} pieces of feedback,"
        f" {one.changes} changes, {one.items} items of theirs alone, {one.names} names"
    )
    if one.ended or one.rejected:
        say(f"  {would}ended first: {one.ended} pieces in work, {one.rejected} changes that waited")
    if one.runs_of_others:
        say(f"  {would}forgotten: {one.runs_of_others} runs of others in the same conversations")
    for target, count in one.sent.items():
        say(f"  {would}sent to {target}: that the records of {count} changes are emptied")
    for item in one.left:
        others = ", others taught it too" if item.by_others else ""
        say(f"  left: {item.kind} {item.id} {item.name!r}{others}")
        for feedback_id in item.feedback_ids:
            say(f"    to take it back: skill-worker retract {feedback_id}")
    if one.left:
        talk("what was learnt stays; retract it, then erase again: its texts go as well")


def _say_where_else(done: Erasure, *, writes_back: bool) -> None:
    """Say what of it others may have, as far as is known here."""
    if any(one.sent for one in done.tenants):
        talk("`skill-worker deliveries list` shows when that has arrived; a worker sends it")
    if writes_back:
        talk(
            "the platform has its own copy of the feedback (`todolist`), what is left here, and its"
            " backups: erase these there"
        )
    else:
        talk("nothing is written back to a platform from here: what one had before, it still has")
    for name in sorted({name for one in done.tenants for name in one.sources}):
        if name.partition("/")[0] == _HERE:
            continue
        count = sum(one.sources.get(name, 0) for one in done.tenants)
        talk(f"{count} pieces came by the source {name!r}, which may have them still")

"""`skill-worker intake`: let all workers begin nothing new, and let them begin again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, say
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import Pause

app = typer.Typer(help="Let all workers begin nothing new, and let them begin again.")


@app.command("pause")
def pause(
    reason: Annotated[str, typer.Option("--reason", help="Why, for whoever looks.")] = "",
    as_json: Json = False,
) -> None:
    """Begin no new work; what runs goes on to its end, and feedback is still taken in."""
    _show(with_app(lambda opened: opened.stores.intake.pause(reason)), as_json=as_json)


@app.command("resume")
def resume(as_json: Json = False) -> None:
    """Let all workers begin new work again."""
    was_paused = with_app(lambda opened: opened.stores.intake.resume())
    if as_json:
        _show(None, as_json=True)
    else:
        say("resumed" if was_paused else "it was not paused")


@app.command("status")
def status(as_json: Json = False) -> None:
    """Show whether work is paused, since when and why."""

    async def read(opened: App) -> Pause | None:
        return await opened.stores.intake.paused()

    _show(with_app(read), as_json=as_json)


def _show(pause: Pause | None, *, as_json: bool) -> None:
    if as_json:
        fields: JsonValue = (
            pause.model_dump(mode="json", include={"reason", "since"}) if pause else {}
        )
        print_json({"paused": pause is not None, **(fields if isinstance(fields, dict) else {})})
    elif pause is None:
        say("not paused")
    else:
        since = pause.since.isoformat(timespec="seconds")
        say(f"paused since {since}" + (f": {pause.reason}" if pause.reason else ""))

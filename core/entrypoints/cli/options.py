"""Options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

import getpass
import os
from pathlib import Path
from typing import Annotated

import typer

KindName = str


def any_kind_name(given: str | None) -> str | None:
    """Return the name of a kind in upper case; which packages add, the program knows."""
    if given is None:
        return None
    from core.domain.models.knowledge import Kind, is_kind_name

    name = given.upper()
    if not is_kind_name(name):
        raise typer.BadParameter(f"{given!r} is none of {', '.join(Kind)}, nor a package's kind")
    return name


def _kind_name(given: str | None) -> str | None:
    """Return the name of a kind of items; an agent's list of skills is none."""
    name = any_kind_name(given)
    if name == "AGENT_SKILLS":
        raise typer.BadParameter("AGENT_SKILLS is no kind of items; see `agents skills`")
    return name


Json = Annotated[bool, typer.Option("--json", help="Answer as JSON, also for failures.")]
Limit = Annotated[
    int, typer.Option("--limit", metavar="N", min=1, max=1000, help="Most items to give.")
]
Cursor = Annotated[
    str | None,
    typer.Option("--cursor", metavar="CURSOR", help="Where to go on: `next` of the page before."),
]
Tenant = Annotated[str | None, typer.Option("--tenant", metavar="TENANT", help="Only this tenant.")]
AgentId = Annotated[str | None, typer.Option("--agent", metavar="AGENT", help="Only this agent.")]
KindOption = Annotated[
    KindName | None,
    typer.Option("--kind", metavar="KIND", callback=_kind_name, help="Only this kind."),
]
Offline = Annotated[
    bool, typer.Option("--offline", help="Use the offline stand-in instead of a model.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Say what would happen, and leave no trace.")
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="DIR",
        exists=True,
        file_okay=False,
        help="Folder of prompts to use in place of ours.",
    ),
]
FromStep = Annotated[
    int,
    typer.Option(
        "--from", metavar="STEP", min=1, help="Which answer of the model is asked for anew first."
    ),
]
Host = Annotated[str, typer.Option("--host", help="Address to listen on.")]


def who() -> str:
    """Return the name of this machine's user."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user, as in a bare container
        return f"uid {os.getuid()}"

"""`skill-worker knowledge context`: what an agent would see for a task."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.entrypoints.cli.files import read_text
from core.entrypoints.cli.knowledge.tenants import known_agent, refresh_skills
from core.entrypoints.cli.options import Json, Tenant
from core.entrypoints.cli.output import print_json, say, talk
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from core.app.program import App
    from core.entrypoints.service.context import Context

_STDIN = "-"
MAX_TASK = 4 * 2**20  # bytes; a shorter one may still be too long


def context(
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT", help="The agent that is to do it.")
    ],
    task: Annotated[
        str,
        typer.Option(
            "--task", metavar="TEXT", help="What it is to do, as people say it; `-` reads stdin."
        ),
    ],
    tenant: Tenant = None,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", help="Most tokens, of 3 bytes of UTF-8 each.")
    ] = 1_500,
    user: Annotated[
        str | None, typer.Option("--user", metavar="ID", help="Also what is for this end user.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what an agent should see for a task, as a block for its prompt; nothing if nothing fits.

    Of a long task the first 4,000 characters are searched.
    """
    if task == _STDIN:
        task = read_text(Path(_STDIN), most=MAX_TASK)
    made = with_app(lambda opened: _made(opened, agent, task, tenant, budget, user))
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    for warning in made.warnings:
        talk(warning)
    if made.text:
        say(made.text)
    else:
        talk("nothing known fits this task")


async def _made(
    opened: App, agent_id: str, task: str, tenant: str | None, budget: int, user: str | None
) -> Context:
    from core.entrypoints.service.context import check, context_of

    check(task, budget)
    agent = await known_agent(opened, agent_id, tenant)
    if agent.skills:
        await refresh_skills(opened, [agent.tenant_id])
    return await context_of(opened, agent, task, budget, user=user)

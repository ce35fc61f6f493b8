"""`skill-worker agents`: who learns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.cli.exits import named_by_option
from core.cli.options import Json, Tenant
from core.cli.output import print_json, print_page, print_table, say
from core.cli.session import with_app

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app import App
    from core.models import Agent

_OPTIONS = {"id": "--id", "tenant_id": "--tenant", "name": "--name"}

app = typer.Typer(help="Manage the agents that learn.")


@app.command("add")
def add(
    agent_id: Annotated[str, typer.Option("--id", help="Id, unique over all tenants.")],
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant the agent belongs to.")],
    name: Annotated[str, typer.Option("--name", help="Name that people know it by.")],
    role: Annotated[str, typer.Option("--role", help="What it is.")] = "",
    goal: Annotated[str, typer.Option("--goal", help="What it is for.")] = "",
    persona: Annotated[str, typer.Option("--persona", help="How it speaks.")] = "",
    as_json: Json = False,
) -> None:
    """Add an agent, or change one that is there."""
    from core.intake.agent_input import checked_agent

    given = {
        "id": agent_id,
        "tenant_id": tenant,
        "name": name,
        "role": role,
        "goal": goal,
        "persona": persona,
    }
    with named_by_option("agents add", _OPTIONS):
        agent = checked_agent(given)
    _save([agent], as_json=as_json)


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="JSONL, or a YAML or JSON list; `-` is stdin.")],
    as_json: Json = False,
) -> None:
    """Add or change every agent of a file; a file with one bad entry changes nothing."""
    from core.cli.files import read_text
    from core.intake.agent_input import read_agents

    _save(read_agents(read_text(file)), as_json=as_json)


@app.command("list")
def list_(tenant: Tenant = None, as_json: Json = False) -> None:
    """List agents."""
    agents = with_app(lambda opened: opened.agents.list(tenant))
    if as_json:
        print_page(agents)
        return
    print_table(
        ("ID", "TENANT", "NAME", "ROLE", "GOAL", "SKILLS"),
        [(a.id, a.tenant_id, a.name, a.role, a.goal, ", ".join(a.skills)) for a in agents],
    )


def _save(agents: list[Agent], *, as_json: bool) -> None:
    async def save(opened: App) -> list[bool]:
        return [await opened.agents.save(agent) for agent in agents]

    are_new = with_app(save)
    if as_json:
        saved: list[JsonValue] = [
            {"id": agent.id, "new": is_new} for agent, is_new in zip(agents, are_new, strict=True)
        ]
        print_json({"items": saved, "next": None})
        return
    for agent, is_new in zip(agents, are_new, strict=True):
        say(f"{'added' if is_new else 'changed'} {agent.id}")

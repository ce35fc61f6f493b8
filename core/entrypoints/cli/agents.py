"""`skill-worker agents`: who learns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall, named_by_option, see_help
from core.entrypoints.cli.options import DryRun, Json, Tenant, who
from core.entrypoints.cli.output import print_json, print_page, print_table, say, talk
from core.entrypoints.cli.receipts import has_failed, tell_receipt
from core.entrypoints.cli.session import with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models import Agent, Feedback, Receipt
    from core.domain.models.views import ListedSkill

_OPTIONS = {"id": "--id", "tenant_id": "--tenant", "name": "--name"}

app = typer.Typer(help="Manage the agents that learn.")


@app.command("add")
def add(
    agent_id: Annotated[str, typer.Option("--id", help="Id, unique within the tenant.")],
    tenant: Annotated[str, typer.Option("--tenant", help="Tenant the agent belongs to.")],
    name: Annotated[str, typer.Option("--name", help="Name that people know it by.")],
    role: Annotated[str, typer.Option("--role", help="What it is.")] = "",
    goal: Annotated[str, typer.Option("--goal", help="What it is for.")] = "",
    persona: Annotated[str, typer.Option("--persona", help="How it speaks.")] = "",
    as_json: Json = False,
) -> None:
    """Add an agent, or change one that is there."""
    from core.domain.input_formats.agents import checked_agent

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
    from core.domain.input_formats.agents import read_agents
    from core.entrypoints.cli.files import read_text

    _save(read_agents(read_text(file)), as_json=as_json)


@app.command("setup")
def setup(
    agent_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the agent.")],
    again: Annotated[
        bool, typer.Option("--again", help="Also where it was asked for before.")
    ] = False,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="DIR",
            help="Learn from a repository's AGENTS.md, CLAUDE.md, rules, skills, tables instead.",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="With --from: also in place of what has its name.")
    ] = False,
    tenant: Tenant = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --from: show what would be learnt.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Let the worker propose an agent's first knowledge from its goal and persona."""
    if from_ is not None:
        from core.entrypoints.cli.setting_up import learn_from

        if again:
            raise WrongCall(Message("cli.again_or_from"), hint=see_help("agents setup"))
        asked = {"in_place": replace, "dry_run": dry_run, "as_json": as_json}
        learn_from(from_, agent_id, tenant, **asked)
        return
    if replace or dry_run:
        raise WrongCall(Message("cli.only_with_from"), hint=see_help("agents setup"))

    async def begin(opened: App) -> tuple[Feedback, bool]:
        from core.app.agent_setup import setup_feedback
        from core.domain.models import SETUP
        from core.entrypoints.cli.knowledge.tenants import known_agent

        agent = await known_agent(opened, agent_id, tenant)
        piece = setup_feedback(agent, again=opened.new_id() if again else "")
        ((feedback_id, is_new),) = await opened.stores.inbox.add(SETUP, [piece])
        await opened.stores.agents.setup_begun(agent.tenant_id, agent.id)
        return await opened.stores.inbox.get(feedback_id), is_new

    feedback, is_new = with_app(begin)
    if as_json:
        print_json({"id": feedback.id, "new": is_new, "status": feedback.status})
        return
    if is_new:
        say(f"queued {feedback.id}")
        return
    say(f"{feedback.id} asked for it before: {feedback.status}")
    talk("--again asks anew; a changed goal or persona is a new question anyway")


@app.command("skills")
def skills(
    agent_id: Annotated[str, typer.Argument(metavar="AGENT", help="Id of the agent.")],
    more: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="More names for the option.")
    ] = None,
    add: Annotated[
        list[str] | None, typer.Option("--add", metavar="NAME...", help="Put them on its list.")
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option("--remove", metavar="NAME...", help="Take them off it.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME...", help="Make them the list; '' empties it."),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="TENANT", help="Whose agent it is.")
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """List the skills that an agent has, or change which; a skill itself is never deleted."""
    from core.domain.models import ListEdit
    from core.learning_committers.base import split_names

    options = {ListEdit.ADD: add, ListEdit.REMOVE: remove, ListEdit.SET: set_}
    given = {edit: names for edit, names in options.items() if names}
    if len(given) > 1 or (more and not given):
        raise WrongCall(Message("cli.one_list_edit"), hint=see_help("agents skills"))
    if not given:
        _show_skills(agent_id, tenant, as_json=as_json)
        return
    ((edit, first),) = given.items()
    names = [name for text in (*first, *(more or ())) for name in split_names(text)]
    if not names and edit is not ListEdit.SET:
        raise WrongCall(Message("skills.none_named"), hint=see_help("agents skills"))

    async def change(opened: App) -> Receipt:
        from core.entrypoints.cli.knowledge.tenants import known_agent

        agent = await known_agent(opened, agent_id, tenant)
        return await opened.skill_lists.edit(agent, edit, names, who())

    tell_receipt(with_app(change, dry_run, failed=has_failed), as_json=as_json)


def _show_skills(agent_id: str, tenant: str | None, *, as_json: bool) -> None:
    async def read(opened: App) -> Sequence[ListedSkill]:
        from core.entrypoints.cli.knowledge.tenants import known_agent

        return await opened.skill_lists.of(await known_agent(opened, agent_id, tenant))

    listed = with_app(read)
    if as_json:
        print_page(listed)
        return
    print_table(
        ("NAME", "ALSO ON THE LIST OF"),
        [(skill.name, ", ".join(skill.shared_with)) for skill in listed],
        empty="no skills on its list; --add puts some on it",
    )


@app.command("list")
def list_(tenant: Tenant = None, as_json: Json = False) -> None:
    """List agents."""
    agents = with_app(lambda opened: _list(opened, tenant))
    if as_json:
        print_page(agents)
        return
    print_table(
        ("ID", "TENANT", "NAME", "ROLE", "GOAL", "SKILLS"),
        [(a.id, a.tenant_id, a.name, a.role, a.goal, ", ".join(a.skills)) for a in agents],
        empty="no agents yet; `skill-worker agents add` adds one",
    )


async def _list(opened: App, tenant: str | None) -> Sequence[Agent]:
    from core.entrypoints.cli.knowledge.tenants import known_tenant

    if tenant is not None:
        await known_tenant(opened, tenant)
    return await opened.stores.agents.list(tenant)


def _save(agents: list[Agent], *, as_json: bool) -> None:
    async def save(opened: App) -> tuple[list[bool], int]:
        from core.app.agent_setup import set_up_new_agents

        saved = [await opened.stores.agents.save(agent) for agent in agents]
        return saved, await set_up_new_agents(opened.stores.agents, opened.stores.inbox)

    are_new, begun = with_app(save)
    if as_json:
        saved: list[JsonValue] = [
            {"id": agent.id, "new": is_new} for agent, is_new in zip(agents, are_new, strict=True)
        ]
        print_json({"items": saved, "next": None})
        return
    for agent, is_new in zip(agents, are_new, strict=True):
        say(f"{'added' if is_new else 'changed'} {agent.id}")
    if begun:
        talk(f"first knowledge of {begun} will be proposed: `skill-worker run` works it off")

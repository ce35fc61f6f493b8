"""`skill-worker skill install`, `upgrade` and `remove`: skills that others publish."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias

import typer

from core.domain.errors import NotFound, with_advice
from core.domain.messages import Message
from core.entrypoints.cli.exits import FAILED, WrongCall
from core.entrypoints.cli.options import DryRun, Json
from core.entrypoints.cli.output import print_block
from core.entrypoints.cli.receipts import has_failed, tell_receipt
from core.entrypoints.cli.session import with_app
from core.entrypoints.cli.skill.importing import Outcome, Outcomes

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.program import App
    from core.changes.installing.fetching import Wanted
    from core.changes.installing.installer import Chosen, Done, Files, Installer
    from core.domain.models import Receipt
    from core.skills.published.places import Place

Tenant = Annotated[str | None, typer.Option("--tenant", metavar="TENANT", help="Whose skills.")]
Agent = Annotated[
    str | None, typer.Option("--agent", metavar="AGENT", help="The agent that gets it, too.")
]

_Job: TypeAlias = "tuple[str, Callable[[], Awaitable[Done]]]"


class _Task(NamedTuple):
    """One skill to install."""

    place: Place
    wanted: Wanted
    name: str


def install(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="./FOLDER, FILE.skill, https://…/x.skill, git+https://…@REF#subdirectory=…, or "
            "NAME[@VERSION] of an index.",
        ),
    ] = None,
    tenant: Tenant = None,
    agent: Agent = None,
    name: Annotated[
        str, typer.Option("--as", metavar="NAME", help="Install it under another name.")
    ] = "",
    pin: Annotated[
        str,
        typer.Option(
            "--sha256", metavar="HEX", help="What its file or its content must be; else refused."
        ),
    ] = "",
    index: Annotated[
        list[str] | None,
        typer.Option("--index", metavar="URL", help="Where names are looked up, in this call."),
    ] = None,
    lock: Annotated[
        Path | None,
        typer.Option("--lock", metavar="FILE", help="Install what a lock file pins, just so."),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Install a skill that others publish: pinned by digest, through the gate, on record."""
    if (source is None) == (lock is None):
        raise WrongCall(Message("cli.source_or_lock"), hint=Message("place.hint"))
    if lock is not None and (name or pin or index):
        raise WrongCall(Message("cli.lock_alone"))
    tasks = _locked(lock) if lock is not None else [_task(source or "", name, pin)]
    outcomes = Outcomes(dry_run)

    async def work(opened: App) -> None:
        service = await _installer(opened, tenant, agent, index or ())
        jobs: list[_Job] = [
            (one.place.source, partial(service.install, agent=agent, **one._asdict()))
            for one in tasks
        ]
        await _each(jobs, outcomes)

    with_app(work, dry_run, failed=lambda _: outcomes.counts["refused"])
    _show(outcomes, as_json=as_json)


def upgrade(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME…", help="Which installed skills.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All that are installed.")] = False,
    to: Annotated[
        str,
        typer.Option("--to", metavar="REF|VERSION", help="That one; else what its source has."),
    ] = "",
    in_place: Annotated[
        bool,
        typer.Option(
            "--replace", help="Where both changed the same lines, take the published file."
        ),
    ] = False,
    tenant: Tenant = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Bring installed skills to what their sources publish now; what was learnt since stays."""
    from core.changes.installing.installer import Chosen

    if bool(names) == every:
        raise WrongCall(Message("cli.names_or_all"))
    chosen = Chosen(here=Path.cwd(), to=to, replaces=in_place)
    outcomes = Outcomes(dry_run)
    with_app(
        lambda opened: _upgrade(opened, names, tenant, chosen, outcomes),
        dry_run,
        failed=lambda _: outcomes.counts["refused"],
    )
    _show(outcomes, as_json=as_json)


def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A skill, installed or learnt.")],
    tenant: Tenant = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="AGENT", help="Take it off this one's list.")
    ] = None,
    for_all: Annotated[
        bool, typer.Option("--for-all", help="Delete it for all agents; a person decides that.")
    ] = False,
    cuts_off: Annotated[
        list[str] | None,
        typer.Option("--cuts-off", metavar="SKILL", help="One that refers to it, and may dangle."),
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Remove a skill: off a list, and deleted where no other agent has it."""
    from core.entrypoints.cli.options import who

    async def work(opened: App) -> Receipt:
        installer = await _installer(opened, tenant, agent, ())
        if for_all:
            return await opened.skill_lists.delete_for_all(installer.tenant_id, name, who())
        return await installer.remove(name, agent=agent, cuts_off=cuts_off or ())

    tell_receipt(with_app(work, dry_run, failed=has_failed), as_json=as_json)


def _task(source: str, name: str, pin: str) -> _Task:
    from core.changes.installing.fetching import Wanted
    from core.skills.published.places import check_pin, read_place

    digest = check_pin(pin.lower().removeprefix("sha256:")) if pin else ""
    return _Task(read_place(source, Path.cwd()), Wanted(pin=digest), name)


def _locked(path: Path) -> list[_Task]:
    """Return what a lock file pins. Raises NotFound, InvalidInput."""
    from core.changes.installing.fetching import Wanted
    from core.entrypoints.cli.files import open_input
    from core.skills.published.lock_file import MAX_LOCK_BYTES, read_lock
    from core.skills.published.places import read_place

    with open_input(path) as handle:
        lock = read_lock(handle.read(MAX_LOCK_BYTES + 1), path)
    return [
        _Task(
            read_place(one.source, path.resolve().parent),
            Wanted(digest=one.digest, commit=one.commit, version=one.version, index=one.index),
            one.name,
        )
        for one in lock.skills
    ]


async def _installer(
    opened: App, tenant: str | None, agent: str | None, indexes: Sequence[str]
) -> Installer:
    from core.entrypoints.cli.knowledge.tenants import known_agent, known_tenant, only_tenant

    if agent is not None:
        tenant = (await known_agent(opened, agent, tenant)).tenant_id
    elif tenant is not None:
        await known_tenant(opened, tenant)
    return opened.installer(tenant or await only_tenant(opened), indexes)


async def _upgrade(
    opened: App,
    names: Sequence[str] | None,
    tenant: str | None,
    chosen: Chosen,
    outcomes: Outcomes,
) -> None:
    installer = await _installer(opened, tenant, None, ())
    found = await installer.installed.list(installer.tenant_id)
    standing = {one.name: one for one in found if not one.is_held}
    if missing := [name for name in names or () if name not in standing]:
        raise NotFound(Message("installed.none", name=missing[0]), hint=Message("see.installed"))
    wanted = [standing[name] for name in dict.fromkeys(names or standing)]
    jobs: list[_Job] = [
        (one.published.source, partial(installer.upgrade, one, chosen)) for one in wanted
    ]
    await _each(jobs, outcomes)


async def _each(jobs: Sequence[_Job], outcomes: Outcomes) -> None:
    """Do one after another; what is refused of several stops none of the others."""
    from core.knowledge.transfer.importer import OF_THE_LINE
    from core.skills.bundle import NoSkill

    for source, do in jobs:
        try:
            outcomes.found.append(_outcome(source, await do()))
        except OF_THE_LINE as error:
            if len(jobs) == 1:
                raise
            problems = error.problems if isinstance(error, NoSkill) else ()
            found = Outcome(source, "", "refused", problems, message=error.sentences)
            outcomes.found.append(found)


def _outcome(source: str, done: Done) -> Outcome:
    from core.skill_quick_validate import with_rule

    offer = done.offer
    ours = {with_advice(with_rule(problem), problem.hint) for problem in offer.problems}
    facts: dict[str, JsonValue] = {
        **offer.published.model_dump(mode="json", exclude={"files", "name", "source"}),
        "published_as": offer.published.name,
    }
    if done.after is not None:
        facts["diff"] = _diff(done.name, done.before or {}, done.after)
    return Outcome(
        source,
        done.name,
        done.outcome,
        offer.problems,
        [warning for warning in done.warnings if warning not in ours],
        done.said,
        facts,
    )


def _diff(name: str, before: Files, after: Files) -> str:
    from core.domain.models import Bundle
    from core.entrypoints.cli.diff import files_diff
    from core.skills.bundle import file_refs

    old, new = (file_refs(Bundle(name=name, files=files)) for files in (before, after))
    blobs = {
        **{ref.sha256: before[path].data for path, ref in old.items()},
        **{ref.sha256: after[path].data for path, ref in new.items()},
    }
    return files_diff(name, old, new, blobs)


def _show(outcomes: Outcomes, *, as_json: bool) -> None:
    """Print what became of each, and what upgrades change; exit 1 where one was refused."""
    if not as_json:
        for item in outcomes.found:
            if diff := item.facts.get("diff"):
                print_block(item.name, str(diff))
    outcomes.show(as_json=as_json)
    if outcomes.counts["refused"]:
        raise typer.Exit(FAILED)

"""`skill-worker knowledge promote`: an agent's knowledge to another database, shown first."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qs, urlsplit

import typer

from core.domain.errors import ConfigurationError, DatabaseDown, NotFound
from core.domain.messages import Message
from core.entrypoints.cli.exits import FAILED, WrongCall, see_help
from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, print_table, say, talk
from core.entrypoints.cli.session import in_app, load, run_async

if TYPE_CHECKING:
    from pydantic import JsonValue

    from core.app.program import App
    from core.app.settings import Settings
    from core.changes.promotion.plan import Step
    from core.changes.promotion.promoter import Promoter, Source
    from core.changes.promotion.taking import Outcome
    from core.domain.models import Agent
    from core.domain.ports import Agents

_SHOWN_WARNINGS = 20
_SHOWN = ("new", "changed", "merged", "conflict", "only_in_target", "kept", "unreadable", "same")


@dataclass(frozen=True)
class _Asked:
    """Which agent is promoted, from where to where; the settings are those of either side."""

    source: Settings
    target: Settings
    place: str
    agent: str
    tenant: str | None
    to_tenant: str | None
    delete: bool


@dataclass
class _Result:
    """The steps, and what became of those that write."""

    steps: Sequence[Step] = ()
    outcomes: dict[tuple[str, str], Outcome] = field(default_factory=dict)

    @property
    def has_failed(self) -> bool:
        """Whether something could not be promoted."""
        unreadable = any(step.standing == "unreadable" for step in self.steps)
        return unreadable or any(outcome.has_failed for outcome in self.outcomes.values())

    @property
    def writes(self) -> list[Step]:
        """The steps that change something in the target."""
        return [step for step in self.steps if step.writes]


def promote(
    from_: Annotated[
        str,
        typer.Option(
            "--from", metavar="URL", help="PostgreSQL database to read, as in DATABASE_URL."
        ),
    ],
    agent: Annotated[
        str, typer.Option("--agent", metavar="AGENT", help="Agent whose knowledge is promoted.")
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="URL", help="Database to write to; without it this installation's own."
        ),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="TENANT", help="Whose agent it is.")
    ] = None,
    to_tenant: Annotated[
        str | None,
        typer.Option(
            "--to-tenant", metavar="TENANT", help="Whose it is in the target, if another."
        ),
    ] = None,
    delete: Annotated[
        bool, typer.Option("--delete", help="Also delete what only the target knows.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would happen, and store nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Take an agent's knowledge from one database to another; shows the difference first.

    Policy, screen and skill API are those of the settings: run it with the target's.
    """
    if not (yes or dry_run or (sys.stdin.isatty() and not as_json)):
        raise WrongCall(Message("promote.say_yes"), hint=see_help("knowledge promote"))
    asked = _Asked(
        source=_settings(from_, "--from", is_source=True),
        target=_settings(to, "--to") if to is not None else load(interactive=True),
        place=place_of(from_),
        agent=agent,
        tenant=tenant,
        to_tenant=to_tenant,
        delete=delete,
    )
    result = run_async(_look(asked, dry_run=dry_run))
    if not as_json:
        _show(result)
    if dry_run or not result.writes:
        _end(result, dry_run=dry_run, as_json=as_json)
        return
    if not (yes or _agreed(len(result.writes))):
        say(Message("promote.nothing_done"))
        raise typer.Exit(FAILED)
    run_async(_promote(asked, result))
    _end(result, dry_run=False, as_json=as_json)


def place_of(url: str) -> str:
    """Return where a database is: host, port and name, and nothing of user or password."""
    parts = urlsplit(url)
    named = parse_qs(parts.query)
    host = parts.netloc.rpartition("@")[2] or next(iter(named.get("host", ())), "")
    name = parts.path.lstrip("/") or next(iter(named.get("dbname", ())), "")
    return f"{host or 'localhost'}/{name}"


def _settings(url: str, option: str, *, is_source: bool = False) -> Settings:
    """Return the settings with another database. Raises WrongCall for an address of another kind.

    The source needs no semantic search.
    """
    from core.app.settings import load_settings

    _check_address(url, option)
    if is_source:
        return load_settings({"database_url": url, "embedding_model": None})
    return load({"database_url": url}, interactive=True)


def _check_address(url: str, option: str) -> None:
    """Raise WrongCall, which quotes nothing of it, for what is no address of a database.

    libpq takes a password with a bare ? or #, at which other readers of addresses end the host:
    they would take the password for the place.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"postgresql", "postgres"}:
        said = Message("promote.no_database", option=option)
        raise WrongCall(said, hint=see_help("knowledge promote"))
    if url.count("@") > ("@" in parts.netloc):
        raise WrongCall(Message("promote.no_escape", option=option))


async def _look(asked: _Asked, *, dry_run: bool) -> _Result:
    """Return what there is to promote; in a dry run also what would become of each step."""
    from core.app import program
    from core.changes.promotion.taking import take

    async with (
        _source(asked) as source,
        program.open_over_tenants(asked.target, dry_run=True) as app,
    ):
        promoter = await _promoter(asked, source, app)
        result = _Result(await promoter.plan())
        async for step, outcome in take(promoter, result.writes if dry_run else ()):
            result.outcomes[step.kind, step.id] = outcome
    return result


async def _promote(asked: _Asked, result: _Result) -> None:
    """Carry out what was shown."""

    async def work(app: App) -> None:
        from core.changes.promotion.taking import take_shown
        from core.entrypoints.cli.progress import count_bar

        async with _source(asked) as source:
            promoter = await _promoter(asked, source, app)
            with count_bar("promoting") as advance:
                async for step, outcome in take_shown(promoter, result.steps):
                    result.outcomes[step.kind, step.id] = outcome
                    advance(1)

    await in_app(asked.target, work, failed=lambda _: result.has_failed)


@asynccontextmanager
async def _source(asked: _Asked) -> AsyncIterator[Source]:
    """Yield the source, once both databases have answered with the schema of this version."""
    from core.app.bootstrap.promotion import open_source
    from core.domain.tasks import over_all_tenants

    with over_all_tenants():
        await _see_ready(asked.target, "--to")
        await _see_ready(asked.source, "--from")
        async with open_source(asked.source) as source:
            yield source


async def _see_ready(settings: Settings, option: str) -> None:
    """Raise ConfigurationError or DatabaseDown, naming the option, for a database of no use."""
    from core.app.bootstrap.promotion import open_source

    try:
        async with open_source(settings):
            pass
    except (ConfigurationError, DatabaseDown) as error:
        is_behind = getattr(error.message, "code", "") == "database.schema_behind"
        hint = Message("promote.hint_migrate", option=option) if is_behind else error.hint
        if hint == Message("database.hint_down"):  # which speaks of DATABASE_URL
            hint = Message("copy.hint_target")
        named = Message("promote.side", option=option, why=error.message)
        raise type(error)(named, hint=hint) from error


async def _promoter(asked: _Asked, source: Source, app: App) -> Promoter:
    from core.app.bootstrap.stores import utc_now
    from core.changes.promotion.promoter import Promoter, Target

    agent = await _agent(source.agents, asked.agent, asked.tenant, "--from")
    to_tenant = asked.to_tenant or agent.tenant_id
    to = await _agent(app.stores.agents, asked.agent, to_tenant, "--to")
    stores = app.stores
    return Promoter(
        source=source,
        target=Target(
            pages=stores.pages,
            knowledge=stores.knowledge,
            agents=stores.agents,
            changes=stores.changes,
            steps=stores.steps,
            skills=stores.skills,
            installed=stores.installed,
            gate=app.gate,
        ),
        agent=agent,
        to=to,
        kinds=tuple(dict.fromkeys((*await app.item_kinds(), *source.packages))),
        place=asked.place,
        now=utc_now(),
        delete=asked.delete,
    )


async def _agent(agents: Agents, agent_id: str, tenant: str | None, option: str) -> Agent:
    """Return the agent of a side. Raises NotFound, WrongCall that name the side."""
    found = {agent.tenant_id: agent for agent in await agents.of_id(agent_id)}
    if tenant is None and len(found) > 1:
        several = Message(
            "agents.of_several", id=agent_id, tenants=", ".join(map(repr, sorted(found)))
        )
        raise WrongCall(several, hint=Message("cli.hint_tenant"))
    if not found or (tenant is not None and tenant not in found):
        why: str = Message("no.agent", id=agent_id)
        if found and tenant is not None:
            why = Message("no.agent_of_tenant", tenant=tenant, agent=agent_id)
        hint = Message("promote.hint_agent") if option == "--to" else Message("see.agents")
        raise NotFound(Message("promote.side", option=option, why=why), hint=hint)
    return found[tenant] if tenant is not None else next(iter(found.values()))


def _show(result: _Result) -> None:
    """Print every item but those that are the same, then what is to change, as a diff."""
    rows = [
        (step.standing, step.kind, step.id, step.name, step.why)
        for step in result.steps
        if step.standing != "same"
    ]
    if rows:
        print_table(("IS", "KIND", "ID", "NAME", "WHY"), rows)
    for step in result.writes:
        if diff := _diff(step):
            say(f"\n{diff}")
    counts = Counter(step.standing.value for step in result.steps)
    words = ", ".join(f"{counts[word]} {word}" for word in _SHOWN if counts[word])
    say(words or Message("promote.nothing_known"))


def _diff(step: Step) -> str:
    from core.entrypoints.cli.diff import states_diff

    return "" if step.is_listed else states_diff(step.kind, step.name, step.before, step.after)


def _agreed(count: int) -> bool:
    return typer.confirm(Message("promote.ask", n=count), default=False, err=True)


def _end(result: _Result, *, dry_run: bool, as_json: bool) -> None:
    """Print what became of it; exits with 1 where something could not be promoted."""
    if as_json:
        _print_json(result, dry_run=dry_run)
    else:
        _tell(result, dry_run=dry_run)
    if result.has_failed:
        raise typer.Exit(FAILED)


def _tell(result: _Result, *, dry_run: bool) -> None:
    told = [(step, result.outcomes.get((step.kind, step.id))) for step in result.writes]
    for step, outcome in told:
        if outcome and outcome.why:
            talk(f"{step.name}: {outcome.word}: {outcome.why}")
    warned = [(step, one.warnings[0]) for step, one in told if one and one.warnings]
    for step, warning in warned[:_SHOWN_WARNINGS]:
        talk(f"{step.name}: warning: {warning}")
    if len(warned) > _SHOWN_WARNINGS:
        talk(f"{len(warned)} with a warning; --json gives them all, also with --dry-run")
    counts = Counter(outcome.word for outcome in result.outcomes.values())
    words = ", ".join(f"{count} {word}" for word, count in sorted(counts.items()))
    lead = "dry run, nothing was stored: " if dry_run else ""
    say(lead + (words or "there was nothing to promote"))


def _print_json(result: _Result, *, dry_run: bool) -> None:
    items: list[JsonValue] = []
    for step in result.steps:
        outcome = result.outcomes.get((step.kind, step.id))
        item: Mapping[str, JsonValue] = {
            "kind": step.kind,
            "id": step.id,
            "name": step.name,
            "standing": step.standing,
            "reason": step.why,
            "diff": _diff(step) if step.writes else "",
            "outcome": outcome.word if outcome else None,
            "message": outcome.why if outcome else "",
            "change_id": outcome.change_id if outcome else None,
            "warnings": [*outcome.warnings] if outcome else [],
        }
        items.append({**item})
    counts = Counter(step.standing.value for step in result.steps)
    print_json(
        {
            "items": items,
            "next": None,
            "counts": {word: counts[word] for word in _SHOWN},
            "dry_run": dry_run,
        }
    )

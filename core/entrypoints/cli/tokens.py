"""`skill-worker tokens`: who may call the API and open the console."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall, named_by_option
from core.entrypoints.cli.options import Json
from core.entrypoints.cli.output import print_json, print_table, say, talk
from core.entrypoints.cli.session import load, with_app

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from core.app.program import App
    from core.domain.models.access import AccessToken
    from core.entrypoints.auth import Access, Grant, Made

app = typer.Typer(help="Say who may call the API and open the console.")
_ROLES = ("submit", "read", "review", "operate")
LONGEST_DAYS = 36_500
_ONE_OF = f"One of {', '.join(_ROLES)}"
_OPTIONS = {"name": "--name", "tenant_id": "--tenant", "agent_id": "--agent", "roles": "--role"}
Tenant = Annotated[
    str | None, typer.Option("--tenant", metavar="TENANT", help="Only for this tenant.")
]


@app.command("add")
def add(
    name: Annotated[str, typer.Option("--name", help="Name it is known by; history shows it.")],
    role: Annotated[
        list[str], typer.Option("--role", metavar="ROLE", help=f"{_ONE_OF}; again for more.")
    ],
    tenant: Tenant = None,
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="AGENT", help="For this agent, to use what it knows."),
    ] = None,
    expires_days: Annotated[
        int | None,
        typer.Option("--expires-days", metavar="N", min=1, max=LONGEST_DAYS, help="Days it lasts."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token. Its secret is shown once, here."""
    from datetime import timedelta

    life = timedelta(days=expires_days) if expires_days is not None else None
    grant = _grant(name, tenant, role, agent)

    async def make(opened: App) -> Made:
        if tenant is not None and agent is not None:
            await opened.stores.agents.get(tenant, agent)
        return await _access(opened).add(grant, life)

    with named_by_option("tokens add", _OPTIONS):
        made = with_app(make)
    if as_json:
        print_json({"secret": made.secret.get_secret_value(), "token": _shown(made.token)})
        return
    talk(f"token {made.token.name!r}; its secret is not shown again:")
    say(made.secret.get_secret_value())


@app.command("link")
def link(
    tenant: Tenant = None,
    role: Annotated[
        list[str] | None,
        typer.Option("--role", metavar="ROLE", help=f"{_ONE_OF}; again for more. Without: all."),
    ] = None,
    name: Annotated[
        str, typer.Option("--name", help="Whom it is for; history shows it.")
    ] = "console",
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Address of the worker's server.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a link that opens the console once, within ten minutes."""
    from core.entrypoints.cli.front import link_of

    base = url or _base()
    if urlsplit(base).scheme not in {"http", "https"} or not urlsplit(base).hostname:
        raise WrongCall(Message("cli.no_url", url=base))
    grant = _grant(name, tenant, role or _ROLES)
    with named_by_option("tokens link", _OPTIONS):
        made = with_app(lambda opened: _access(opened).link(grant))
    address = link_of(made, base)
    if as_json:
        expires = made.token.expires_at
        print_json({"link": address, "expires_at": expires.isoformat() if expires else None})
        return
    say(address)
    if url is None:
        talk(f"It is for a worker at {base}; where yours serves elsewhere, give --url.")


@app.command("skills")
def skills(
    tenant: Annotated[
        str, typer.Option("--tenant", metavar="TENANT", help="Whose skills it admits to.")
    ],
) -> None:
    """Show the token that admits to one tenant's skills on the embedded skill server."""
    settings = load()

    from core.app import bootstrap

    say(bootstrap.tenant_tokens(settings)(tenant))


@app.command("list")
def list_(as_json: Json = False) -> None:
    """List the tokens that are valid, oldest first."""

    async def read(opened: App) -> Sequence[AccessToken]:
        return await opened.stores.tokens.list()

    tokens = with_app(read)
    if as_json:
        print_json({"items": [_shown(token) for token in tokens], "next": None})
        return
    of_agents = any(token.agent_id for token in tokens)
    print_table(
        ("ID", "NAME", "TENANT", *(("AGENT",) if of_agents else ()), "ROLES", "MADE", "EXPIRES"),
        [
            (
                token.id,
                token.name,
                token.tenant_id or "all",
                *((token.agent_id,) if of_agents else ()),
                ", ".join(token.roles),
                token.created_at,
                token.expires_at or "never",
            )
            for token in tokens
        ],
        empty="no tokens yet; `skill-worker tokens add` adds one",
    )


@app.command("revoke")
def revoke(
    token: Annotated[str, typer.Argument(metavar="ID|NAME", help="Id or name of the token.")],
    as_json: Json = False,
) -> None:
    """End a token at once, and the console sessions that were opened with it."""
    revoked = with_app(lambda opened: _access(opened).revoke(token))
    if as_json:
        print_json(_shown(revoked))
        return
    say(f"revoked {revoked.id} ({revoked.name})")


@app.command("sessions")
def sessions(as_json: Json = False) -> None:
    """List who is signed in to the console, the latest first."""

    async def read(opened: App) -> Sequence[AccessToken]:
        return await opened.stores.tokens.sessions()

    found = with_app(read)
    if as_json:
        print_json({"items": [_shown(one) for one in found], "next": None})
        return
    print_table(
        ("ID", "NAME", "TENANT", "ROLES", "SINCE", "ENDS"),
        [
            (
                one.id,
                one.name,
                one.tenant_id or "all",
                ", ".join(one.roles),
                one.created_at,
                one.expires_at,
            )
            for one in found
        ],
        empty="nobody is signed in",
    )


@app.command("end")
def end(
    session: Annotated[
        str, typer.Argument(metavar="ID|NAME", help="Id of a session, or name: all of that name.")
    ],
    as_json: Json = False,
) -> None:
    """End sessions of the console at once; their open pages close within seconds."""
    ended = with_app(lambda opened: _access(opened).end(session))
    if as_json:
        print_json({"items": [_shown(one) for one in ended], "next": None})
        return
    for one in ended:
        say(f"ended {one.id} ({one.name})")


def _grant(name: str, tenant: str | None, roles: Sequence[str], agent: str | None = None) -> Grant:
    from core.domain.models.access import Role
    from core.entrypoints.auth import Grant

    for role in roles:
        if role not in _ROLES:
            raise WrongCall(Message("cli.no_role", role=role, roles=", ".join(_ROLES)))
    return Grant(name=name, tenant_id=tenant, agent_id=agent, roles=tuple(map(Role, roles)))


def _access(opened: App) -> Access:
    from core.entrypoints.auth import Access

    return Access(opened.stores.tokens, opened.new_id)


def _base() -> str:
    """Return the address at which a worker with these settings answers."""
    from core.app.bootstrap.health import USUAL_PORT

    settings = load(interactive=True)
    host = f"[{settings.health_host}]" if ":" in settings.health_host else settings.health_host
    return f"http://{host}:{settings.health_port or USUAL_PORT}"


def _shown(token: AccessToken) -> JsonValue:
    hidden = {"hash", "kind", "parent", "on_purpose" if token.kind == "session" else "subject"}
    shown: JsonValue = token.model_dump(mode="json", exclude=hidden)
    return shown

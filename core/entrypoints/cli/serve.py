"""`skill-worker serve`: the embedded servers as processes of their own."""

from __future__ import annotations

import pwd
from typing import Annotated

import typer

from core.domain.messages import Message
from core.entrypoints.cli.exits import WrongCall
from core.entrypoints.cli.options import Host
from core.entrypoints.cli.output import talk
from core.entrypoints.cli.session import load, run_until_stopped

app = typer.Typer(help="Run an embedded server by itself.")


@app.callback()
def _group() -> None:
    """Run an embedded server by itself."""


@app.command("skills")
def skills(
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 picks one.")] = 8765,
) -> None:
    """Serve the skills under SKILL_WORKER_HOME, as HTTP and as MCP at /mcp, until told to stop."""
    settings = load()

    from core.app import bootstrap

    run_until_stopped(
        lambda stop: bootstrap.serve_skills(settings, host, port, stop),
        lambda: talk("Stopping. The same signal again stops at once."),
    )


@app.command("computer-use")
def computer_use(
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 picks one.")] = 8766,
    sandbox_user: Annotated[
        str | None,
        typer.Option(
            "--sandbox-user",
            metavar="NAME|UID",
            help="Account that sandboxes run as when root serves. Default: a number of no account.",
        ),
    ] = None,
    no_sandbox: Annotated[
        bool,
        typer.Option("--no-sandbox", help="Serve where no wall works, without one. Not for root."),
    ] = False,
) -> None:
    """Serve sandboxes over MCP at /mcp, until told to stop. Every call needs the token."""
    settings = load()
    user = None if sandbox_user is None else _uid(sandbox_user)

    from core.app import bootstrap

    served = bootstrap.PodHost(host=host, port=port, user=user, no_sandbox=no_sandbox)
    run_until_stopped(
        lambda stop: bootstrap.serve_computer_use(settings, served, stop),
        lambda: talk("Stopping. The same signal again stops at once."),
    )


@app.command("knowledge")
def knowledge(
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Serve one client over stdin and stdout.")
    ] = False,
    agent: Annotated[
        str | None,
        typer.Option("--agent", metavar="AGENT", help="Whose knowledge it is. Needed by --stdio."),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option("--tenant", metavar="TENANT", help="Whose agent that is.")
    ] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", metavar="USER", help="With --stdio: the end user it serves."),
    ] = None,
    submit: Annotated[
        bool, typer.Option("--submit", help="With --stdio: it may pass on feedback too.")
    ] = False,
    host: Host = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 picks one.")] = 8767,
) -> None:
    """Serve what agents know over MCP, to a client on stdio or at /mcp, until told to stop."""
    from core.entrypoints.cli.serving_knowledge import StdioAgent, serve_http, serve_stdio

    if stdio and agent is None:
        raise WrongCall(Message("cli.no_agent"), hint=Message("access.say_agent"))
    if not stdio and (user is not None or submit):
        raise WrongCall(Message("cli.stdio_only"), hint=Message("cli.hint_stdio"))
    overrides: dict[str, str | int] = {} if stdio else {"health_host": host, "health_port": port}
    settings = load(overrides)
    whose = StdioAgent(agent or "", tenant, user, submit)
    run_until_stopped(
        lambda stop: (
            serve_stdio(settings, stop, whose)
            if stdio
            else serve_http(settings, stop, agent, tenant)
        ),
        lambda: talk("Stopping. The same signal again stops at once."),
    )


def _uid(user: str) -> int:
    """Return the number of an account. Raises WrongCall."""
    try:
        return int(user) if user.isdecimal() else pwd.getpwnam(user).pw_uid
    except KeyError:
        raise WrongCall(Message("cli.no_user", user=user)) from None

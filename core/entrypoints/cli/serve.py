"""`skill-worker serve`: the embedded servers as processes of their own."""

from __future__ import annotations

from typing import Annotated

import typer

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
) -> None:
    """Serve sandboxes over MCP at /mcp, until told to stop."""
    settings = load()

    from core.app import bootstrap

    run_until_stopped(
        lambda stop: bootstrap.serve_computer_use(settings, host, port, stop),
        lambda: talk("Stopping. The same signal again stops at once."),
    )

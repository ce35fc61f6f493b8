"""The command tree, and the boundary where every failure becomes a message and an exit code."""

from __future__ import annotations

import errno
import logging
import sys
import traceback
from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import Annotated, Any

import typer
from typer.main import get_command

from core import __version__
from core.domain.errors import InvalidInput
from core.domain.messages import Message
from core.entrypoints.cli import (
    agents,
    cases,
    changes,
    config,
    costs,
    db,
    deliveries,
    demo,
    doctor,
    evals,
    feedback,
    history,
    hooks,
    intake,
    knowledge,
    lessons,
    new,
    policy,
    retracting,
    rule,
    runs,
    screen,
    serve,
    skill,
    tokens,
    worker,
)
from core.entrypoints.cli.exits import FAILED, OK, Failure, describe
from core.entrypoints.cli.output import print_json, talk
from core.entrypoints.cli.session import COMMAND
from core.entrypoints.cli.streams import OutputLost, give_up_stdout, prepare_streams

app = typer.Typer(
    name="skill-worker",
    help="Make AI agents learn from what their users say.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, group in {
    "agents": agents.app,
    "feedback": feedback.app,
    "intake": intake.app,
    "lessons": lessons.app,
    "runs": runs.app,
    "eval": evals.app,
    "knowledge": knowledge.app,
    "changes": changes.app,
    "cases": cases.app,
    "history": history.app,
    "hooks": hooks.app,
    "deliveries": deliveries.app,
    "skill": skill.app,
    "rule": rule.app,
    "screen": screen.app,
    "tokens": tokens.app,
    "serve": serve.app,
    "config": config.app,
    "policy": policy.app,
    "db": db.app,
    "new": new.app,
}.items():
    app.add_typer(group, name=name)
app.command("demo")(demo.demo)
app.command("run")(worker.run)
app.command("doctor")(doctor.doctor)
app.command("retract")(retracting.retract)
app.command("costs")(costs.costs)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"skill-worker {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@cache
def command_tree(name: str = "") -> Any:
    """Return the command tree, whose commands say that they run.

    With the name of a command or a group of the first level that one alone: to build the 125
    commands takes a process longer than to run one of them.
    """
    tree = get_command(_only(name) if name else app)
    _name(tree, "")
    return tree


def _only(name: str) -> typer.Typer:
    part = copy(app)
    part.registered_groups = [one for one in app.registered_groups if one.name == name]
    part.registered_commands = [one for one in app.registered_commands if one.name == name]
    return part


def names() -> frozenset[str]:
    """Return the names of the first level."""
    groups, commands = app.registered_groups, app.registered_commands
    found = (*(one.name for one in groups), *(one.name for one in commands))
    return frozenset(filter(None, found))


def _name(command: Any, words: str) -> None:
    for name, part in getattr(command, "commands", {}).items():
        _name(part, f"{words} {name}".strip())
    callback = command.callback
    if callback is None or hasattr(command, "commands"):
        return

    def run(**given: object) -> object:
        COMMAND.set((words, given))
        return callback(**given)

    command.callback = run


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Every failure ends here, as text or as JSON."""
    prepare_streams()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except OutputLost as error:
        give_up_stdout()
        if error.errno != errno.EPIPE:
            talk(f"error: stdout cannot be written: {error.strerror}")
        return FAILED
    return code


def _run(arguments: Sequence[str]) -> int:
    try:
        _refuse_broken_text(arguments)
        is_known = bool(arguments) and arguments[0] in names()
        tree = command_tree(arguments[0] if is_known else "")
        result = tree.main([*arguments], prog_name="skill-worker", standalone_mode=False)
    except OutputLost:
        raise
    except Exception as error:  # noqa: BLE001 - the last boundary: nothing escapes as a trace
        return _report(error, as_json="--json" in arguments)
    return result if isinstance(result, int) else OK


def _refuse_broken_text(arguments: Sequence[str]) -> None:
    from core.domain.text import has_lone_surrogate

    for position, argument in enumerate(arguments, start=1):
        if has_lone_surrogate(argument):
            raise InvalidInput(
                Message("cli.argument", n=position),
                hint=Message("cli.hint_argument"),
            )


def _report(error: Exception, *, as_json: bool) -> int:
    if logging.getLogger("core").isEnabledFor(logging.DEBUG):
        traceback.print_exception(error)
    failure: Failure = describe(error)
    if as_json:
        print_json({"error": failure.data})
    else:
        talk(f"error: {failure.message}")
        if failure.hint:
            talk(f"hint: {failure.hint}")
    return failure.exit_code

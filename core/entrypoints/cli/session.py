"""How a command reaches the program: settings, logs, an open app."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import warnings
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, TypeVar

import typer

from core.domain.errors import ConfigurationError, SkillWorkerError
from core.domain.messages import Message
from core.entrypoints.cli.exits import exit_code_of_signal
from core.entrypoints.cli.output import talk

if TYPE_CHECKING:
    from pathlib import Path

    from core.app.program import App
    from core.app.settings import Override, Settings

T = TypeVar("T")
# SIGHUP is sent when the terminal closes: what was started in it must not stay behind.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_async(work: Coroutine[object, object, T]) -> T:
    """Run `work`; a signal cancels it, so that what it opened is closed.

    Raises typer.Exit with the signal's code if one arrived.
    """

    async def main() -> T:
        task = asyncio.ensure_future(work)
        received: list[int] = []

        def on_signal(number: int) -> None:
            received.append(number)
            task.cancel()

        with _handled(on_signal):
            return await _outcome(task, received)

    return asyncio.run(main())


def run_until_stopped(
    make: Callable[[asyncio.Event], Coroutine[object, object, T]],
    on_first: Callable[[], None],
    *,
    whole: bool = False,
    part: Callable[[T], None] = lambda _: None,
) -> T:
    """Run a service: the first signal sets its stop event, the second cancels it at once.

    What ends after the first signal has ended well, unless it is useful only as a `whole`; then, as
    after the second, raises typer.Exit with the signal's code; `part` is given what there is.
    """
    received: list[int] = []
    with _quiet_at_the_end() as be_quiet:
        outcome = asyncio.run(_serve(make, on_first, be_quiet, received))
    if whole and received:
        part(outcome)
        talk("stopped")
        raise typer.Exit(exit_code_of_signal(received[0]))
    return outcome


async def _serve(
    make: Callable[[asyncio.Event], Coroutine[object, object, T]],
    on_first: Callable[[], None],
    be_quiet: Callable[[], None],
    received: list[int],
) -> T:
    stop = asyncio.Event()
    task = asyncio.ensure_future(make(stop))
    cut_off: list[int] = []

    def on_signal(number: int) -> None:
        received.append(number)
        if not stop.is_set():
            on_first()
            stop.set()
        elif not cut_off:
            talk("Stopping at once; what is unfinished is taken up again later.")
            be_quiet()
            cut_off.append(number)
            task.cancel()

    with _handled(on_signal):
        return await _outcome(task, cut_off)


async def _outcome(task: asyncio.Future[T], cut_off: list[int]) -> T:
    """Return the task's result; the errors of a task that a signal cancelled are ignored."""
    try:
        return await task
    except (asyncio.CancelledError, Exception):
        if not cut_off:
            raise
        raise typer.Exit(exit_code_of_signal(cut_off[0])) from None


@contextlib.contextmanager
def _quiet_at_the_end() -> Iterator[Callable[[], None]]:
    """Yield a function that silences all logging and warnings until the block is left."""

    def be_quiet() -> None:
        logging.disable(logging.CRITICAL)
        warnings.simplefilter("ignore")  # about coroutines cancelled before they began

    with warnings.catch_warnings():
        try:
            yield be_quiet
        finally:
            logging.disable(logging.NOTSET)


@contextlib.contextmanager
def _handled(handler: Callable[[int], None]) -> Iterator[None]:
    """Handle the signals that are not ignored (as under `nohup`); restore them at the end."""
    loop = asyncio.get_running_loop()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    heard = [number for number in _SIGNALS if before[number] is not signal.SIG_IGN]
    for number in heard:
        loop.add_signal_handler(number, handler, number)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])


def chosen_model(model: str | None) -> str:
    """Return the model of `--model`, else that of the settings. Raises ConfigurationError."""
    found = model or load(interactive=True).llm_model
    if found is None:
        raise ConfigurationError(Message("model.unset"), hint=Message("model.hint_option"))
    return found


def load(overrides: Mapping[str, Override] | None = None, *, interactive: bool = False) -> Settings:
    """Read the settings and set up the logs. Raises ConfigurationError.

    An `interactive` command prints in plain lines what a service logs for a log collector.
    """
    import structlog

    from core.app.observability import configure_logging
    from core.app.settings import load_settings

    settings = load_settings(overrides)
    if interactive and settings.log_format == "auto":
        level = "warning" if settings.log_level == "info" else settings.log_level
        configure_logging(level, "talk")
    else:
        configure_logging(settings.log_level, settings.log_format)
    for warning in settings.warnings:
        structlog.get_logger(__name__).warning("setting.ignored", reason=warning)
    return settings


def load_apart(home: Path, **given: Override) -> Settings:
    """Read settings that leave the user's database, servers, policies and platform alone."""
    apart: dict[str, Override] = {
        "skill_worker_home": home,
        "skill_worker_config": None,
        "database_url": None,
        "database_migration_url": None,
        "mcp_server_url": None,
        "mcp_servers": None,
        "skill_api_base_url": None,
        "skill_api_token": None,
        "computer_use_mcp_url": None,
        "computer_use_mcp_token": None,
        "use_skill_creator_workflow": False,
        "platform_write_back": None,
        "setup_new_agents": False,
        "log_level": "warning",
    }
    return load({**apart, **given}, interactive=True)


# The command that runs, and what it was given by name.
COMMAND: ContextVar[tuple[str, Mapping[str, object]]] = ContextVar("COMMAND", default=("", {}))
# Last words of commands that change nothing. Any other is put on record.
_READING = frozenset(
    (
        *("list", "show", "search", "export", "history", "versions", "verify", "calls", "scan"),
        *("status", "costs", "graph", "decide", "check", "validate", "inspect", "doctor"),
        "context",
    )
)


_FAILED = "failed"


def _never(_done: object) -> bool:
    return False


async def in_app(
    settings: Settings,
    work: Callable[[App], Awaitable[T]],
    *,
    dry_run: bool = False,
    failed: Callable[[T], object] = _never,
) -> T:
    """Open the program for a command, which is put on record if it changes something.

    `failed` returns whether the command ends with FAILED, having done this.
    """
    from core.app import program

    async with program.open_over_tenants(settings, dry_run=dry_run) as app:
        words, given = COMMAND.get()
        if dry_run or given.get("dry_run") or not words or _only_reads(words.split()[-1], given):
            return await work(app)
        outcome = _FAILED
        try:
            done = await work(app)
            outcome = _FAILED if failed(done) else "done"
        except SkillWorkerError as error:
            outcome = error.kind
            raise
        finally:
            await _put_on_record(app, words, given, outcome)
        return done


def _only_reads(command: str, given: Mapping[str, object]) -> bool:
    if command == "skills":
        return not any(given.get(edit) for edit in ("add", "remove", "set_"))
    return command in _READING


async def _put_on_record(app: App, command: str, given: Mapping[str, object], outcome: str) -> None:
    from core.domain.models.audit import Call, Via
    from core.entrypoints.auth import utc_now
    from core.entrypoints.cli.options import who

    ids = {key: value for key, value in given.items() if key.endswith("_id") and value}
    call = Call(
        tenant_id=str(given.get("tenant") or ""),
        at=utc_now(),
        via=Via.CLI,
        caller=who(),
        route=command,
        ids={key: str(value)[:200] for key, value in ids.items()},
        outcome=outcome,
    )
    await app.stores.calls.add([call])


def with_app(
    work: Callable[[App], Awaitable[T]],
    dry_run: bool = False,
    *,
    failed: Callable[[T], object] = _never,
) -> T:
    """Open the program for one command, without a model, as `in_app` does."""
    return run_async(in_app(load(interactive=True), work, dry_run=dry_run, failed=failed))

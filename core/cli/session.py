"""How a command reaches the program: settings, logs, an open app, signals."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

import typer

from core.cli.exits import TERMINATED

if TYPE_CHECKING:
    from core.app import App
    from core.settings import Override, Settings

T = TypeVar("T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def load(overrides: Mapping[str, Override] | None = None) -> Settings:
    """Read the settings and set up the logs. Raises ConfigurationError."""
    import structlog

    from core.observability import configure_logging
    from core.settings import load_settings

    settings = load_settings(overrides)
    configure_logging(settings.log_level, settings.log_format)
    for warning in settings.warnings:
        structlog.get_logger(__name__).warning("setting.ignored", reason=warning)
    return settings


def with_app(work: Callable[[App], Awaitable[T]]) -> T:
    """Open the program for one command, without a model."""
    settings = load()

    async def opened() -> T:
        from core import bootstrap

        async with bootstrap.open_app(settings) as app:
            return await work(app)

    return run_async(opened())


def run_async(work: Coroutine[object, object, T]) -> T:
    """Run `work`; SIGTERM cancels it, so that what it opened is closed."""

    async def main() -> T:
        task = asyncio.ensure_future(work)
        with _handled((signal.SIGTERM,), task.cancel):
            return await _outcome(task)

    return asyncio.run(main())


def run_until_stopped(
    make: Callable[[asyncio.Event], Coroutine[object, object, T]], on_first: Callable[[], None]
) -> T:
    """Run a service: the first signal sets its stop event, the second cancels it at once."""

    async def main() -> T:
        stop = asyncio.Event()
        task = asyncio.ensure_future(make(stop))

        def on_signal() -> None:
            if stop.is_set():
                task.cancel()
            else:
                on_first()
                stop.set()

        with _handled(_SIGNALS, on_signal):
            return await _outcome(task)

    return asyncio.run(main())


async def _outcome(task: asyncio.Future[T]) -> T:
    try:
        return await task
    except asyncio.CancelledError:
        if asyncio.current_task().cancelling():  # type: ignore[union-attr]
            raise
        raise typer.Exit(TERMINATED) from None


@contextlib.contextmanager
def _handled(signals: Sequence[signal.Signals], handler: Callable[[], object]) -> Iterator[None]:
    loop = asyncio.get_running_loop()
    for number in signals:
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number in signals:
            loop.remove_signal_handler(number)

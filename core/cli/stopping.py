"""How a command is stopped: what each signal asks of it, and the exit code that follows."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import warnings
from collections.abc import Callable, Coroutine, Iterator
from typing import TypeVar

import typer

from core.cli.exits import exit_code_of_signal
from core.cli.output import talk

T = TypeVar("T")
# SIGHUP comes when the terminal is closed: what was started there must not stay behind.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_async(work: Coroutine[object, object, T]) -> T:
    """Run `work`; a signal cancels it, so that what it opened is closed.

    Raises typer.Exit with the signal's code where one came.
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
) -> T:
    """Run a service: the first signal sets its stop event, the second cancels it at once.

    What ends after the first signal has ended well, unless only the `whole` of it is worth
    having. Raises typer.Exit with the signal's code else.
    """
    received: list[int] = []
    with _quiet_at_the_end() as be_quiet:
        outcome = asyncio.run(_serve(make, on_first, be_quiet, received))
    if whole and received:
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
    """Give what the task came to; where a signal cut it off, its errors are no news."""
    try:
        return await task
    except (asyncio.CancelledError, Exception):
        if not cut_off:
            raise
        raise typer.Exit(exit_code_of_signal(cut_off[0])) from None


@contextlib.contextmanager
def _quiet_at_the_end() -> Iterator[Callable[[], None]]:
    """Give a function that ends all logging and warnings until the block is left."""

    def be_quiet() -> None:
        logging.disable(logging.CRITICAL)
        warnings.simplefilter("ignore")  # of coroutines that were cut off before they began

    with warnings.catch_warnings():
        try:
            yield be_quiet
        finally:
            logging.disable(logging.NOTSET)


@contextlib.contextmanager
def _handled(handler: Callable[[int], None]) -> Iterator[None]:
    """Handle the signals, but for those that are ignored (`nohup`); undo it at the end."""
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

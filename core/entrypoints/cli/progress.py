"""Progress bars for long one-shots: on stderr, and only if it is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from core.entrypoints.cli.output import console

_OPEN = ("queued", "processing")


@contextmanager
def byte_bar(title: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function that adds processed bytes to a bar."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import Progress

    with Progress(console=console(sys.stderr), transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda size: progress.advance(task, size)


@contextmanager
def count_bar(title: str) -> Iterator[Callable[[int], None]]:
    """Yield a function that adds processed items to a bar of unknown length."""
    with byte_bar(title, None) as advance:
        yield advance


@contextmanager
def feedback_bar(title: str) -> Iterator[Callable[[Mapping[str, int]], None]]:
    """Yield a function that takes the number of pieces by status, and moves a bar."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.progress import MofNCompleteColumn, Progress

    columns = (*Progress.get_default_columns(), MofNCompleteColumn())
    with Progress(*columns, console=console(sys.stderr), transient=True) as progress:
        task = progress.add_task(title, total=None)
        tracker = Remaining()

        def update(counts: Mapping[str, int]) -> None:
            done, total = tracker.update(counts)
            progress.update(task, completed=done, total=total)

        yield update


class Remaining:
    """Turns counts by status into (done, total); new arrivals raise the total."""

    def __init__(self) -> None:
        self._ended_before: int | None = None

    def update(self, counts: Mapping[str, int]) -> tuple[int, int]:
        """Take the newest counts; return the pieces done since the start, and the total."""
        remaining = sum(counts.get(status, 0) for status in _OPEN)
        ended = sum(counts.values()) - remaining
        if self._ended_before is None:
            self._ended_before = ended
        done = ended - self._ended_before
        return done, done + remaining

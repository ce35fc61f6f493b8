"""Where output goes: data to stdout, messages to stderr, all of it safe for a terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO, TypeVar

from core.domain.text import isolated, one_line, printable, to_json

if TYPE_CHECKING:
    from pydantic import BaseModel, JsonValue
    from rich.console import Console
    from rich.text import Text

    from core.domain.models import Reach

M = TypeVar("M", bound="BaseModel")
# Columns of ids stay whole, so that they can be copied; the others share the rest.
_IDS = frozenset({"ID", "CHANGE"})
_UNCUT = 100_000
_LEAST_WIDTH = 4
_GAP = 2


def console(stream: TextIO, width: int | None = None) -> Console:
    """Return a console on `stream` that prints text verbatim: no markup, no emoji codes."""
    from rich.console import Console

    return Console(
        file=stream,
        markup=False,
        emoji=False,
        highlight=False,
        width=width,
    )


def say(text: str) -> None:
    """Print data."""
    sys.stdout.write(_shown(sys.stdout, printable(text)) + "\n")


def talk(text: str) -> None:
    """Print what is not data: progress, advice, errors; a closed terminal is no reason to fail."""
    with suppress(OSError):
        sys.stderr.write(_shown(sys.stderr, printable(text)) + "\n")
        sys.stderr.flush()


def _shown(stream: TextIO, text: str) -> str:
    """Return a text as it goes to a stream: on a terminal leftward letters are isolated."""
    return isolated(text) if stream.isatty() else text


def print_json(value: JsonValue) -> None:
    """Print one JSON value."""
    sys.stdout.write(to_json(value) + "\n")


def print_model(model: BaseModel, extra: Mapping[str, JsonValue] | None = None) -> None:
    """Print a model as a JSON object, with further fields."""
    print_json({**model.model_dump(mode="json"), **(extra or {})})


def print_page(items: Sequence[BaseModel], next_cursor: str | None = None) -> None:
    """Print one page of a list as JSON."""
    dumped: list[JsonValue] = [item.model_dump(mode="json") for item in items]
    print_json({"items": dumped, "next": next_cursor})


def print_list(
    page: tuple[Sequence[M], str | None],
    columns: Sequence[str],
    row: Callable[[M], Sequence[object]],
    *,
    as_json: bool,
    empty: str,
) -> None:
    """Print one page of a list, as JSON or as a table, and how to get the next one."""
    items, following = page
    if as_json:
        print_page(items, following)
        return
    print_table(columns, [row(item) for item in items], empty=empty)
    if following:
        talk(f"more: --cursor {following}")


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[object]], *, empty: str = ""
) -> None:
    """Print an aligned table; long cells fold, ids do not, and wide characters count as two.

    Without a terminal nothing folds, unless COLUMNS sets the width. If there are no rows, `empty`
    is printed to stderr.
    """
    if not rows and empty:
        talk(empty)
    from rich.table import Table

    cells = [[one_line("" if cell is None else str(cell)) for cell in row] for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in _IDS)
    for row in cells:
        table.add_row(*map(_plain, row))
    out = console(sys.stdout, max(_room(), _least_room(columns, cells)))
    with out.capture() as captured:
        out.print(table)
    lines = (line.rstrip() for line in captured.get().splitlines())
    sys.stdout.writelines(f"{_shown(sys.stdout, line)}\n" for line in lines)


def _plain(text: str) -> Text:
    from rich.text import Text

    return Text(text)


def _room() -> int:
    """Return the width of the terminal, or COLUMNS; without either it is unlimited."""
    return shutil.get_terminal_size((_UNCUT, 0)).columns


def _least_room(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width that ids need to stay whole while no other column vanishes."""
    from rich.cells import cell_len

    widths = [
        max(map(cell_len, (column, *(row[index] for row in rows))))
        if column in _IDS
        else _LEAST_WIDTH
        for index, column in enumerate(columns)
    ]
    return sum(widths) + _GAP * (len(widths) - 1)


def print_fields(fields: Mapping[str, object]) -> None:
    """Print `name: value` lines, except those without a value."""
    width = max(map(len, fields))
    for name, value in fields.items():
        if value not in (None, "", ()):
            say(f"{name + ':':<{width + 1}} {one_line(str(value))}")


def print_block(title: str, text: str) -> None:
    """Print a titled block of text."""
    say(f"\n── {title}")
    say(text.rstrip("\n"))


def reach_in_words(reach: Reach) -> str:
    """Return how long and for whom a memory holds; "" where it says neither."""
    whom = {"agent": "", "tenant": "for all agents", "user": f"for user {reach.user}"}[reach.scope]
    until = reach.valid_until
    return ", ".join(filter(None, (whom, f"until {until:%Y-%m-%d %H:%M:%S %Z}" if until else "")))

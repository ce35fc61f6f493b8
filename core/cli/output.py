"""Where output goes: data on stdout, talk on stderr, all of it safe for a terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from core.safe_text import one_line, printable, to_json

if TYPE_CHECKING:
    from pydantic import BaseModel, JsonValue
    from rich.console import Console

_WIDTH_WITHOUT_TERMINAL = 160


def console(stream: TextIO) -> Console:
    """Give a console on `stream` that takes text as it is: no markup, no emoji codes."""
    from rich.console import Console

    return Console(
        file=stream,
        markup=False,
        emoji=False,
        highlight=False,
        width=None if stream.isatty() else _WIDTH_WITHOUT_TERMINAL,
    )


def say(text: str) -> None:
    """Print data."""
    sys.stdout.write(printable(text) + "\n")


def talk(text: str) -> None:
    """Print what is no data: progress, advice, errors."""
    sys.stderr.write(printable(text) + "\n")


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


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print an aligned table; long cells fold, and wide characters count as two."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line("" if cell is None else str(cell))) for cell in row))
    out = console(sys.stdout)
    with out.capture() as captured:
        out.print(table)
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())


def print_fields(fields: Mapping[str, object]) -> None:
    """Print `name: value` lines, without those that have no value."""
    width = max(map(len, fields))
    for name, value in fields.items():
        if value not in (None, "", ()):
            say(f"{name + ':':<{width + 1}} {one_line(str(value))}")


def print_block(title: str, text: str) -> None:
    """Print a titled block of text."""
    say(f"\n── {title}")
    say(text.rstrip("\n"))

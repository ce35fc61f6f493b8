"""Files that a command is given: `-` is stdin, and what cannot be read is said plainly."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from core.errors import InvalidInput, NotFound


@contextmanager
def open_input(file: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes. Raises NotFound, InvalidInput."""
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    try:
        handle = file.open("rb")
    except FileNotFoundError:
        raise NotFound(f"there is no file {file}", hint="give a path that exists") from None
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}") from None
    with handle:
        yield handle


def read_text(file: Path) -> str:
    """Give a whole file as text, without a byte order mark. Raises NotFound, InvalidInput."""
    with open_input(file) as handle:
        data = handle.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is not UTF-8 text", hint="save it as UTF-8") from None


def size_of(file: Path) -> int | None:
    """Give the size in bytes, or None where it cannot be known."""
    try:
        return file.stat().st_size if file.is_file() else None
    except OSError:
        return None

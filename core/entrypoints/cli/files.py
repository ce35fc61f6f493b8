"""Files given to a command: `-` is stdin, and an unreadable file is reported plainly."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

from core.domain.errors import InvalidInput, NotFound
from core.domain.messages import Message

if TYPE_CHECKING:  # pydantic takes 0.1 s
    from core.domain.input_formats.lines import RawLine


@contextmanager
def open_input(file: Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes. Raises NotFound, InvalidInput."""
    if str(file) == "-":
        yield sys.stdin.buffer
        return
    try:
        handle = file.open("rb")
    except FileNotFoundError:
        raise NotFound(Message("cli.no_file", path=file), hint=Message("cli.hint_path")) from None
    except IsADirectoryError:
        raise InvalidInput(
            Message("cli.is_folder", path=file),
            hint=Message("cli.hint_file"),
        ) from None
    except OSError as error:
        problem = Message("file.unreadable", path=file, why=error)
        raise InvalidInput(problem, hint=Message("cli.hint_readable")) from None
    with handle:
        yield handle


def is_stdout(out: Path | None) -> bool:
    """Whether what is written goes to stdout."""
    return out is None or str(out) == "-"


@contextmanager
def open_output(out: Path | None) -> Iterator[TextIO]:
    """Yield stdout, or a file that appears only once it is complete. Raises InvalidInput."""
    if out is None or is_stdout(out):
        yield sys.stdout
        return
    draft = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with draft.open("w", encoding="utf-8", newline="\n") as stream:
            yield stream
        draft.replace(out)
    except OSError as error:
        raise InvalidInput(Message("file.unwritable", path=out, why=error)) from None
    finally:
        draft.unlink(missing_ok=True)


MAX_DOCUMENT = 64 * 2**20


def read_text(file: Path, *, most: int = -1) -> str:
    """Return a whole file as text, without a byte order mark. Raises NotFound, InvalidInput.

    A file of more than `most` bytes is refused, and not read to its end.
    """
    with open_input(file) as handle:
        data = handle.read(most + 1 if most >= 0 else -1)
    if 0 <= most < len(data):
        raise InvalidInput(Message("cli.file_large", path=file, n=most // 2**20))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput(Message("file.not_utf8", path=file), hint=Message("hint.utf8")) from None


def size_of(file: Path) -> int | None:
    """Return the size in bytes, or None if it cannot be determined."""
    try:
        return file.stat().st_size if file.is_file() else None
    except OSError:
        return None


_CHUNK = 1 << 18


async def read_lines(
    handle: BinaryIO, max_bytes: int, stop: asyncio.Event | None = None
) -> AsyncIterator[RawLine]:
    """Yield lines until the end of `handle`, or until `stop` is set.

    No further block is read from a slow stream before the lines at hand have been processed.
    """
    from core.domain.input_formats.lines import LineSplitter

    stop = stop or asyncio.Event()
    splitter = LineSplitter(max_bytes)
    while await _ready(handle.fileno(), stop):
        chunk = os.read(handle.fileno(), _CHUNK)
        for line in splitter.feed(chunk) if chunk else splitter.end():
            if stop.is_set():
                return
            yield line
        if not chunk:
            return


# A read in a thread could not be cancelled: a signal would wait for the next line of a pipe.
async def _ready(descriptor: int, stop: asyncio.Event) -> bool:
    """Wait until there is something to read; False if `stop` is set first."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    try:
        loop.add_reader(descriptor, readable.set)
    except PermissionError:  # a regular file is always ready, and epoll refuses it
        return not stop.is_set()
    waits = [asyncio.ensure_future(event.wait()) for event in (readable, stop)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(descriptor)
        for wait in waits:
            wait.cancel()
    return not stop.is_set()

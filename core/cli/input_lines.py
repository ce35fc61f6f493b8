"""Lines of a file or of stdin, read so that a signal is heard while nothing comes."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from typing import BinaryIO

from core.intake.lines import LineSplitter, RawLine

_CHUNK = 1 << 18


async def read_lines(
    handle: BinaryIO, max_bytes: int, stop: asyncio.Event | None = None
) -> AsyncIterator[RawLine]:
    """Give lines until the end of `handle`, or until `stop` is set.

    No line is read before the one ahead of it was dealt with, as far as it comes by itself.
    """
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


async def _ready(descriptor: int, stop: asyncio.Event) -> bool:
    """Wait until there is something to read; False where `stop` is set first."""
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    try:
        loop.add_reader(descriptor, readable.set)
    except PermissionError:  # a regular file is always ready, and cannot be waited for
        return not stop.is_set()
    waits = [asyncio.ensure_future(event.wait()) for event in (readable, stop)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(descriptor)
        for wait in waits:
            wait.cancel()
    return not stop.is_set()

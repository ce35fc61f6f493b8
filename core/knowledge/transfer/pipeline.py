"""Import lines concurrently, report them in order, and stop cleanly when cancelled."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable

from core.domain.errors import (
    InvalidInput,
    KeyReused,
    NotFound,
    Refused,
    Stale,
    TargetBusy,
)
from core.domain.input_formats.feedback import Problem
from core.domain.input_formats.knowledge import read_knowledge_line
from core.domain.input_formats.lines import RawLine
from core.knowledge.transfer.importer import Imported, Importer

# As many as the pool has connections; and their share of the file in memory, in bytes.
AT_ONCE = 8
MAX_BYTES_AT_ONCE = 96 * 2**20
# Errors of one line; any other, as a dependency that is down, ends the import.
_OF_THE_LINE = (InvalidInput, Refused, NotFound, Stale, KeyReused, TargetBusy)

Told = Callable[[Imported | Problem | None, int], None]


async def import_lines(
    lines: AsyncIterator[RawLine], importer: Importer, max_chars: int, tell: Told
) -> None:
    """Import lines; `tell` gets the outcome of each (None: blank) and its size, in order.

    When cancelled, or with a dependency down, it first finishes and reports the lines begun.
    """
    begun: deque[tuple[int, asyncio.Task[Imported | Problem | None]]] = deque()

    async def tell_oldest() -> None:
        size, task = begun.popleft()
        tell(await asyncio.shield(task), size)

    try:
        async for raw in lines:
            while begun and (len(begun) >= AT_ONCE or _size(begun) + raw.size > MAX_BYTES_AT_ONCE):
                await tell_oldest()
            begun.append((raw.size, asyncio.ensure_future(_taken(raw, importer, max_chars))))
        while begun:
            await tell_oldest()
    finally:
        await _let_end(begun, tell)


async def _let_end(
    begun: deque[tuple[int, asyncio.Task[Imported | Problem | None]]], tell: Told
) -> None:
    await asyncio.gather(*(task for _, task in begun), return_exceptions=True)
    for size, task in begun:
        if not task.cancelled() and task.exception() is None:
            tell(task.result(), size)


def _size(begun: deque[tuple[int, asyncio.Task[Imported | Problem | None]]]) -> int:
    return sum(size for size, _ in begun)


async def _taken(raw: RawLine, importer: Importer, max_chars: int) -> Imported | Problem | None:
    try:
        line = read_knowledge_line(raw, max_chars)
        return None if line is None else await importer.bring_in(line)
    except _OF_THE_LINE as error:
        return Problem(line=raw.number, reason=error.advice, size=raw.size)

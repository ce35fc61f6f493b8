"""Import lines in sets, report them in order, and stop cleanly when cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from core.domain.errors import SkillWorkerError
from core.domain.input_formats.feedback import Problem
from core.domain.input_formats.knowledge import KnowledgeLine, read_knowledge_line
from core.domain.input_formats.lines import RawLine
from core.domain.models import Kind
from core.knowledge.transfer.importer import OF_THE_LINE, Imported, Importer

# Of a set, whose new memories are written together: lines, those that take longer (tables and
# skills, one after another), and bytes in memory.
SET = 100
SLOW = 8
MAX_BYTES_AT_ONCE = 96 * 2**20

Result = Imported | Problem | None
Told = Callable[[Result, int], None]


@dataclass
class _Set:
    """Lines taken together, what each came to, and how many were reported."""

    importer: Importer
    tell: Told
    raw: list[RawLine] = field(default_factory=list)
    read: dict[int, KnowledgeLine] = field(default_factory=dict)
    results: dict[int, Result] = field(default_factory=dict)
    told: int = 0

    def add(self, raw: RawLine, max_chars: int) -> None:
        """Read a line; a blank or bad one has its result at once."""
        place = len(self.raw)
        self.raw.append(raw)
        try:
            line = read_knowledge_line(raw, max_chars)
        except OF_THE_LINE as error:
            self._put(place, error)
        else:
            if line is None:
                self.results[place] = None
            else:
                self.read[place] = line

    @property
    def is_full(self) -> bool:
        """Whether no further line should be taken in."""
        slow = sum(line.entry.kind is not Kind.MEMORY for line in self.read.values())
        return len(self.raw) >= SET or slow >= SLOW

    @property
    def size(self) -> int:
        """The bytes of the lines."""
        return sum(raw.size for raw in self.raw)

    async def bring_in(self) -> None:
        """Import the lines, memories first, and report all of them in order."""
        places = {id(line): place for place, line in self.read.items()}
        memories = [line for line in self.read.values() if line.entry.kind is Kind.MEMORY]
        async for line, done in self.importer.bring_in_memories(memories):
            self._put(places[id(line)], done)
        for place, line in self.read.items():
            if line.entry.kind is not Kind.MEMORY:
                self._put(place, await self._one(line))

    def _put(self, place: int, result: Imported | SkillWorkerError) -> None:
        raw = self.raw[place]
        if isinstance(result, SkillWorkerError):
            self.results[place] = Problem(line=raw.number, reason=result.advice, size=raw.size)
        else:
            self.results[place] = result
        self.report()

    async def _one(self, line: KnowledgeLine) -> Imported | SkillWorkerError:
        try:
            return await self.importer.bring_in(line)
        except OF_THE_LINE as error:
            return error

    def report(self, *, all_done: bool = False) -> None:
        """Report the results that are there, in order; at the end also those behind a gap."""
        while self.told < len(self.raw) and (all_done or self.told in self.results):
            if self.told in self.results:
                self.tell(self.results[self.told], self.raw[self.told].size)
            self.told += 1


async def import_lines(
    lines: AsyncIterator[RawLine], importer: Importer, max_chars: int, tell: Told
) -> None:
    """Import lines; `tell` gets the outcome of each (None: blank) and its size, in order.

    When cancelled, or with a dependency down, it first finishes and reports the lines begun.
    """
    taken = _Set(importer, tell)
    async for raw in lines:
        if taken.raw and (taken.is_full or taken.size + raw.size > MAX_BYTES_AT_ONCE):
            await _bring_in(taken)
            taken = _Set(importer, tell)
        taken.add(raw, max_chars)
    await _bring_in(taken)


async def _bring_in(taken: _Set) -> None:
    task = asyncio.ensure_future(taken.bring_in())
    try:
        await asyncio.shield(task)
    finally:
        await asyncio.gather(task, return_exceptions=True)
        taken.report(all_done=True)

"""Bytes as numbered lines of bounded length, without a byte order mark (pure)."""

from __future__ import annotations

from collections.abc import Iterator

from core.domain.models.base import Model

_BOM = b"\xef\xbb\xbf"


class RawLine(Model):
    """A line with its number from 1 and its size in bytes; `data` is None where it is too long."""

    number: int
    size: int
    data: bytes | None


class LineSplitter:
    """Splits chunks into lines; of a line over `max_bytes` only the length is remembered."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0
        self._number = 0

    def feed(self, chunk: bytes) -> Iterator[RawLine]:
        """Take the next bytes; yield the lines that end in them."""
        *ended, rest = chunk.split(b"\n")
        for part in ended:
            self._add(part + b"\n")
            yield self._line()
        self._add(rest)

    def end(self) -> Iterator[RawLine]:
        """Yield what follows the last line break, if anything."""
        if self._size:
            yield self._line()

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._max_bytes:
            self._parts = []
        else:
            self._parts.append(part)

    def _line(self) -> RawLine:
        self._number += 1
        size, data = self._size, b"".join(self._parts)
        self._size, self._parts = 0, []
        if self._number == 1:
            data = data.removeprefix(_BOM)
        fits = size <= self._max_bytes
        return RawLine(number=self._number, size=size, data=data if fits else None)

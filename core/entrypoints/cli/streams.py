"""The standard streams, made ready for any text; a failed write to stdout has its own error."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


class OutputLost(OSError):
    """Stdout is closed or full, or has lost its reader."""


def prepare_streams() -> None:
    """Let both streams accept any text, and distinguish failures of stdout from those of files."""
    _occupy_standard_descriptors()
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Nowhere(), encoding="utf-8", write_through=True)
    elif isinstance(sys.stdout, io.TextIOWrapper) and _is_file(sys.stdout):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(_Stdout(sys.stdout.fileno(), "wb", closefd=False)),
            encoding=sys.stdout.encoding,
            line_buffering=sys.stdout.line_buffering or sys.stdout.write_through,
        )
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for good
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _is_file(stream: io.TextIOWrapper) -> bool:
    return isinstance(getattr(stream.buffer, "raw", stream.buffer), io.FileIO)


def give_up_stdout() -> None:
    """Write nothing more to stdout: the interpreter would flush at exit, and complain."""
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _Stdout):
        raw.is_lost = True
    sys.stdout = io.StringIO()


class _Stdout(io.FileIO):
    is_lost = False

    def write(self, data: Buffer) -> int:
        if self.is_lost:
            return memoryview(data).nbytes
        try:
            return super().write(data)
        except OSError as error:
            raise OutputLost(error.errno, error.strerror) from error


class _Nowhere(io.BufferedIOBase):
    """Stands in for a stdout that was closed before the program began."""

    def writable(self) -> bool:
        return True

    def write(self, _data: Buffer, /) -> int:
        raise OutputLost(errno.EBADF, "it is closed")


def _occupy_standard_descriptors() -> None:
    """Leave no standard descriptor free: the next file or socket opened would take its number."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)

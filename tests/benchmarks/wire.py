"""A relay in front of PostgreSQL that counts round trips and what they were for."""

from __future__ import annotations

import asyncio
import re
import struct
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from core.adapters.embedded.postgres import WORKER

PORT = 5432
_CHUNK = 1 << 16
_PLACE = re.compile(r"%\(\w+\)s|%s|\$\d+")
_ENGINE = re.compile(r"procrastinate_(\w+?)_v\d")
_BLOCKS = Path("core/adapters/postgres/sql")


@dataclass
class Trips:
    """Round trips and their seconds, by purpose: `file.block` of our SQL, or whose."""

    number: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, label: str, seconds: float) -> None:
        """Count one trip."""
        self.number[label] += 1
        self.seconds[label] += seconds

    def clear(self) -> None:
        """Reset the counts."""
        self.number.clear()
        self.seconds.clear()


@asynccontextmanager
async def relay(server: Path, home: Path, trips: Trips) -> AsyncIterator[str]:
    """Relay to the server whose socket is `server`; yields the URI to use instead."""
    ends: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        ends.add(task)
        with suppress(asyncio.CancelledError, ConnectionError):
            await _Line(trips).relay(reader, writer, server)

    socket = home / f".s.PGSQL.{PORT}"
    async with await asyncio.start_unix_server(serve, socket):
        yield f"postgresql://{WORKER}@/postgres?host={home}&port={PORT}"
        for end in ends:
            end.cancel()
        await asyncio.gather(*ends, return_exceptions=True)


class _Line:
    """One connection. A trip lasts from the first byte we send to the last one that answers it."""

    def __init__(self, trips: Trips) -> None:
        self._trips = trips
        self._reading = _Statements()
        self._label = ""
        self._sent = self._answered = 0.0

    async def relay(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Path
    ) -> None:
        theirs, ours = await asyncio.open_unix_connection(server)
        await asyncio.gather(
            self._pump(reader, ours, self._on_sent), self._pump(theirs, writer, self._on_answered)
        )

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        on_data: Callable[[bytes], None],
    ) -> None:
        while data := await reader.read(_CHUNK):
            on_data(data)
            writer.write(data)
            await writer.drain()
        writer.close()

    def _on_sent(self, data: bytes) -> None:
        if self._answered:
            self._trips.add(self._label or "other", self._answered - self._sent)
            self._sent = self._answered = 0.0
            self._label = ""
        self._sent = self._sent or time.perf_counter()
        for text in self._reading.feed(data):
            self._label = self._label or label(text)

    def _on_answered(self, _data: bytes) -> None:
        self._answered = time.perf_counter()


class _Statements:
    """Parses the frontend's messages, and returns the text of each executed statement."""

    def __init__(self) -> None:
        self._data = b""
        self._started = False
        self._prepared: dict[bytes, str] = {}

    def feed(self, data: bytes) -> list[str]:
        self._data += data
        found = []
        while (message := self._next()) is not None:
            found += self._text(*message)
        return found

    def _next(self) -> tuple[bytes, bytes] | None:
        head = 1 if self._started else 0  # only the first message has no type
        if len(self._data) < head + 4:
            return None
        (length,) = struct.unpack_from("!i", self._data, head)
        if len(self._data) < head + length:
            return None
        message = self._data[:head], self._data[head + 4 : head + length]
        self._data = self._data[head + length :]
        self._started = True
        return message

    def _text(self, kind: bytes, body: bytes) -> list[str]:
        if kind == b"Q":
            return [body.rstrip(b"\0").decode()]
        if kind == b"P":
            name, text, _ = body.split(b"\0", 2)
            self._prepared[name] = text.decode()
            return [self._prepared[name]]
        if kind == b"B":
            _, name, _ = body.split(b"\0", 2)
            return [self._prepared.get(name, "")]
        return ["connect"] if not kind else []


def label(text: str) -> str:
    """Return the name of what a statement is for."""
    block = _blocks().get(_normal(text))
    if block:
        return block
    if found := _ENGINE.search(text):
        return f"engine.{found[1]}"
    if "procrastinate" in text:
        return "engine.other"
    if "checkpoint" in text:
        return "saver.read" if text.lstrip().lower().startswith("select") else "saver.write"
    word, *_ = text.lower().split() or ["ping"]
    return f"transaction.{word}" if word in {"begin", "commit", "rollback"} else word


def _normal(text: str) -> str:
    return " ".join(_PLACE.sub("?", text).replace("%%", "%").split())


@cache
def _blocks() -> dict[str, str]:
    found = {}
    for path in sorted(_BLOCKS.glob("*.sql")):
        _, *parts = re.split(r"^-- name: (\w+)\s*$", path.read_text("utf-8"), flags=re.MULTILINE)
        for name, body in zip(parts[::2], parts[1::2], strict=True):
            found[_normal(body)] = f"{path.stem}.{name}"
    return found

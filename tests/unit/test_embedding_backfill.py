"""The back-fill embeds every document and tolerates failures of the model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

import pytest
from structlog.testing import capture_logs

from core.adapters.postgres.queries import Pool, connection
from core.adapters.postgres.vectors import EMBEDDED_CHARS, PostgresVectors
from core.domain.errors import ConfigurationError, InvalidInput, ModelDown
from core.domain.models.vectors import Vector, VectorBacklog
from core.knowledge.embedding_backfill import BATCH, BATCH_CHARS, UNRELATED, Backfill
from core.testing.embeddings import HashedEmbeddings
from tests.contracts.suites.search import memory
from tests.contracts.suites.vectors import texts
from tests.support.search_index import PostgresIndex
from tests.support.waiting import SOON


class Clock:
    """The clock of the back-fill; with `pass_by` that of the database seems to go on as well."""

    now = 0.0

    def __init__(self, pool: Pool | None = None) -> None:
        self._pool = pool

    def __call__(self) -> float:
        return self.now

    async def pass_by(self, seconds: float) -> None:
        assert self._pool is not None
        self.now += seconds
        async with connection(self._pool) as conn:
            older = "UPDATE search_models SET due_at = due_at - make_interval(secs => %s)"
            await conn.execute(older, [seconds])


@pytest.fixture
def clock(vector_pool: Pool) -> Clock:
    return Clock(vector_pool)


@pytest.fixture
def vectors(vector_pool: Pool) -> PostgresVectors:
    return PostgresVectors(vector_pool, "openai:m")


@pytest.fixture
def index(vector_pool: Pool) -> PostgresIndex:
    return PostgresIndex(vector_pool)


async def found(vectors: PostgresVectors, model: HashedEmbeddings, text: str) -> list[str]:
    model.failing = None
    near = await vectors.nearest(
        await model.embed_query(text), tenant_id="t", agent_id="a", kind=None, limit=100
    )
    return [known.id for known in near]


async def test_all_that_lacks_a_vector_gets_one(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock
) -> None:
    model = HashedEmbeddings()
    for number in range(150):
        await index.put(memory(f"m{number}", f"item{number}"))
    backfill = Backfill(vectors, model, clock=clock)
    with capture_logs() as logs:
        assert await backfill.work() == 150
    begun, ended = logs
    assert begun["event"] == "embeddings.filling"
    assert (begun["model"], begun["done"], begun["documents"]) == ("openai:m", 0, 150)
    assert ended == {"event": "documents.embedded", "count": 150, "log_level": "info"}
    assert [len(call) for call in model.asked] == [64, len(UNRELATED), 64, 22]
    assert (await found(vectors, model, "item7"))[0] == "m7"
    assert await backfill.work() == 0


async def test_many_documents_are_announced_with_how_far_it_is(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock
) -> None:
    class Slow(HashedEmbeddings):
        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
            clock.now += 6.0
            return await super().embed_documents(texts)

    for number in range(4 * BATCH + 1):
        await index.put(memory(f"m{number}", f"item{number}"))
    with capture_logs() as logs:
        await Backfill(vectors, Slow(), clock=clock).work()
    told = [entry["done"] for entry in logs if entry["event"] == "embeddings.filling"]
    assert told == [0, BATCH, 3 * BATCH]


async def test_a_batch_is_bounded_by_characters(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock
) -> None:
    model = HashedEmbeddings()
    number = 2 * BATCH_CHARS // EMBEDDED_CHARS + 2
    for place in range(number):
        await index.put(memory(f"m{place}", f"{place} " + "가" * EMBEDDED_CHARS))
    assert await Backfill(vectors, model, clock=clock).work() == number
    calls = [call for call in model.asked if call != [*UNRELATED]]
    assert sum(map(len, calls)) == number
    assert [BATCH_CHARS // 2 < sum(map(len, call)) <= BATCH_CHARS for call in calls[:-1]] == [
        True,
        True,
    ]


@pytest.mark.parametrize(
    "failure",
    [ModelDown("gone"), ConfigurationError("401"), InvalidInput("there is no such model")],
)
async def test_a_model_that_fails_is_asked_again_after_growing_pauses(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock, failure: ModelDown
) -> None:
    model = HashedEmbeddings()
    model.failing = failure
    await index.put(memory("m", "환불"))
    backfill = Backfill(vectors, model, clock=clock)
    with capture_logs() as logs:
        for _ in range(100):
            assert await backfill.work() == 0
            await clock.pass_by(0.5)
    failed = [entry for entry in logs if entry["event"] == "embedding.failed"]
    assert [entry["next_in"] for entry in failed] == [1, 2, 4, 8, 16, 32]
    model.failing = None
    await clock.pass_by(300)
    assert await backfill.work() == 1


async def test_a_server_that_says_when_to_come_back_is_heeded(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock
) -> None:
    model = HashedEmbeddings()
    model.failing = ModelDown("429", retry_after=40)
    await index.put(memory("m", "환불"))
    backfill = Backfill(vectors, model, clock=clock)
    await backfill.work()
    asked = len(model.asked)
    await clock.pass_by(39)
    await backfill.work()
    assert len(model.asked) == asked
    await clock.pass_by(2)
    await backfill.work()
    assert len(model.asked) > asked


async def test_a_text_that_is_too_long_is_embedded_by_its_head(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock
) -> None:
    model = HashedEmbeddings(longest=1_000)
    await index.put(memory("long", "환불 규정 " * 500))
    for number in range(5):
        await index.put(memory(f"m{number}", f"short{number}"))
    assert await Backfill(vectors, model, clock=clock).work() == 6
    assert (await found(vectors, model, "환불 규정"))[0] == "long"


async def test_a_text_that_is_refused_keeps_no_other_out(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock
) -> None:
    model = HashedEmbeddings()
    await index.put(memory("mute", "?!…"))
    await index.put(memory("m", "환불"))
    backfill = Backfill(vectors, model, clock=clock)
    with capture_logs() as logs:
        assert await backfill.work() == 2
    assert [entry["event"] for entry in logs] == ["document.unembedded", "documents.embedded"]
    assert await found(vectors, model, "환불") == ["m"]
    assert await backfill.work() == 0


async def test_another_dimension_embeds_all_again(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock
) -> None:
    await index.put(memory("old", "환불"))
    await Backfill(vectors, HashedEmbeddings(dimension=256), clock=clock).work()
    await index.put(memory("new", "환불"))
    wider = HashedEmbeddings(dimension=512)
    await Backfill(vectors, wider, clock=clock).work()
    assert await found(vectors, wider, "환불") == ["old", "new"]


async def test_two_workers_embed_each_document_once(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock
) -> None:
    model = HashedEmbeddings()
    for number in range(100):
        await index.put(memory(f"m{number}", f"item{number}"))
    jobs = [Backfill(vectors, model, clock=clock) for _ in range(2)]
    assert sum(await asyncio.gather(*(job.work() for job in jobs))) == 100
    embedded = [text for call in model.asked for text in call if text not in UNRELATED]
    assert len(embedded) == len(set(embedded)) == 100


async def test_a_worker_that_is_stopped_ends_at_once_and_leaves_its_batch(
    vectors: PostgresVectors, index: PostgresIndex, clock: Clock
) -> None:
    asked = asyncio.Event()

    class Stuck(HashedEmbeddings):
        async def embed_documents(self, texts: Sequence[str]) -> Sequence[Vector]:
            asked.set()
            await asyncio.Event().wait()
            raise AssertionError

    await index.put(memory("m", "환불"))
    task = asyncio.create_task(Backfill(vectors, Stuck(), clock=clock).work())
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, SOON)
    assert texts(await vectors.take(1, 60)) == ["환불"]


async def test_what_was_under_way_when_the_model_came_into_use_is_listed_soon() -> None:
    listed: list[float] = []

    class Noted(PostgresVectors):
        async def enlist(self) -> None:
            listed.append(clock.now)

        async def take(self, limit: int, seconds: float) -> None:
            """Nothing waits."""

        async def backlog(self) -> VectorBacklog:
            return VectorBacklog(documents=0, waiting=0)

    clock = Clock()
    backfill = Backfill(Noted(cast("Pool", None), "m"), HashedEmbeddings(), clock=clock)
    for second in range(2_000):
        clock.now = float(second)
        await backfill.work()
    assert listed[:5] == [0, 1, 3, 7, 15]
    assert listed[-1] - listed[-2] == 600

"""Hybrid search; a failing or slow embedding model never fails a search."""

from __future__ import annotations

import asyncio
import unicodedata
from itertools import count

import pytest
from structlog.testing import capture_logs

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.search import PostgresSearch, SkillFollower
from core.adapters.postgres.vectors import PostgresVectors
from core.domain.errors import ConfigurationError, ModelDown
from core.domain.models import Hit, Kind
from core.domain.models.vectors import Vector
from core.domain.ports import Search
from core.knowledge.embedding_backfill import Backfill
from core.knowledge.search.documents import SearchDocument
from core.knowledge.search.fused import FusedSearch
from core.testing.embeddings import HashedEmbeddings
from tests.contracts.suites.search import PartlyUnreadable, SearchContract, SearchIndex, memory
from tests.support.search_index import PostgresIndex
from tests.support.waiting import NEVER, SOON

SENSES = {"환불": "refund", "돈을 돌려": "refund ", "cash back": "refund"}


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class World:
    """Words and vectors over the same documents."""

    def __init__(self, pool: Pool) -> None:
        self.clock = Clock()
        self.skills = PartlyUnreadable()
        follower = SkillFollower(pool, self.skills, every=0, clock=count(60, 60).__next__)
        self.index = PostgresIndex(pool)
        self.words = PostgresSearch(pool, follower)
        self.vectors = PostgresVectors(pool, "openai:m")
        self.model = HashedEmbeddings(SENSES)
        self.search = FusedSearch(
            self.words, self.vectors, lambda: self.model, timeout=NEVER, clock=self.clock
        )

    async def put(self, document: SearchDocument) -> None:
        await self.index.put(document)

    async def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        await self.index.drop(tenant_id, kind, item_id)

    async def embed(self) -> None:
        await Backfill(self.vectors, self.model, clock=self.clock).work()
        self.model.asked.clear()

    async def hits(self, query: str, limit: int = 5) -> list[Hit]:
        found = await self.search.search(query, tenant_id="t", agent_id="a", kind=None, limit=limit)
        return [*found]


@pytest.fixture
async def world(vector_pool: Pool) -> World:
    made = World(vector_pool)
    await made.put(memory("refund", "돈을 돌려준다"))
    await made.put(memory("stock", "재고를 센다"))
    await made.embed()
    return made


@pytest.mark.nightly  # the same words as in PostgreSQL, which pass it in every run
class TestWithoutVectors(SearchContract):
    """It meets the contract of search before anything is embedded."""

    @pytest.fixture
    def world(self, vector_pool: Pool) -> World:
        return World(vector_pool)

    @pytest.fixture
    def search(self, world: World) -> Search:
        return world.search

    @pytest.fixture
    def index(self, world: World) -> SearchIndex:
        return world

    @pytest.fixture
    def skills(self, world: World) -> PartlyUnreadable:
        return world.skills


async def test_what_shares_no_word_is_found_by_meaning(world: World) -> None:
    (hit,) = await world.hits("cash back")
    assert (hit.id, hit.why, hit.excerpt) == ("refund", "close in meaning", "돈을 돌려준다")
    assert 0 < hit.score <= 1


async def test_near_gives_neighbours_in_meaning_besides(world: World) -> None:
    await world.put(memory("cash", "cash on delivery"))
    near = await world.search.near(
        "cash back", tenant_id="t", agent_id="a", kind=Kind.MEMORY, limit=1
    )
    by_words = await world.words.near(
        "cash back", tenant_id="t", agent_id="a", kind=Kind.MEMORY, limit=1
    )
    assert [item.id for item in near.items] == ["cash", "refund"]
    assert near.items[0] == by_words.items[0]
    assert near.items[1].score == 0
    assert near.seen == by_words.seen


async def test_a_query_is_embedded_once(world: World) -> None:
    for _ in range(3):
        await world.hits("cash back")
    assert world.model.asked == [["cash back"]]


async def test_kept_queries_are_bounded(world: World) -> None:
    for number in range(300):
        await world.hits(f"query {number}")
    world.model.asked.clear()
    await world.hits("query 299")
    assert world.model.asked == []
    await world.hits("query 0")
    assert world.model.asked == [["query 0"]]


@pytest.mark.parametrize("query", ["", " \n", "?!…—", "🙂"])
async def test_a_query_that_says_nothing_asks_no_model(world: World, query: str) -> None:
    assert await world.hits(query) == []
    assert await world.hits("환불", limit=0) == []
    assert world.model.asked == []


async def test_of_a_long_query_the_beginning_is_embedded(world: World) -> None:
    assert (await world.hits("cash back " * 20_000))[0].id == "refund"
    assert len(world.model.asked[0][0]) == 4_000


async def test_decomposed_hangul_means_the_same(world: World) -> None:
    decomposed = unicodedata.normalize("NFD", "재고를 세어 본다")
    assert (await world.hits(decomposed))[0].id == "stock"


@pytest.mark.parametrize(
    "failure", [ModelDown("gone"), ConfigurationError("the model answered 401")]
)
async def test_without_the_model_words_decide_and_it_is_left_alone_for_a_while(
    world: World, failure: ModelDown
) -> None:
    world.model.failing = failure
    with capture_logs() as logs:
        for number in range(20):
            assert (await world.hits(f"재고 {number}"))[0].id == "stock"
    assert [entry["event"] for entry in logs] == ["embeddings.missed"]
    assert len(world.model.asked) == 1


async def test_pauses_grow_to_a_minute_and_end_with_the_first_answer(world: World) -> None:
    world.model.failing = ModelDown("gone")
    with capture_logs() as logs:
        for number in range(9):
            await world.hits(f"재고 {number}")
            world.clock.now += 60
        world.model.failing = None
        assert [hit.id for hit in await world.hits("cash back")] == ["refund"]
    assert [entry.get("next_in") for entry in logs] == [1, 2, 4, 8, 16, 32, 60, 60, 60, None]
    assert logs[-1]["event"] == "embeddings.recovered"


async def test_a_text_the_model_does_not_take_is_searched_by_words(world: World) -> None:
    assert [hit.id for hit in await world.hits("재고")] == ["stock"]
    world.model.failing = None
    world.model._longest = 3
    assert [hit.id for hit in await world.hits("재고를 세는 날")] == ["stock"]
    world.model._longest = 100
    assert [hit.id for hit in await world.hits("cash back")] == ["refund"]


async def test_a_slow_model_is_waited_for_no_longer_than_is_set(world: World) -> None:
    class Slow(HashedEmbeddings):
        async def embed_query(self, text: str) -> Vector:
            await asyncio.Event().wait()
            raise AssertionError

    search = FusedSearch(world.words, world.vectors, Slow, timeout=0.01, clock=world.clock)
    with capture_logs() as logs:
        async with asyncio.timeout(SOON):
            hits = await search.search("재고", tenant_id="t", agent_id="a", kind=None, limit=5)
    assert [hit.id for hit in hits] == ["stock"]
    assert logs[0]["error"] == "no answer within 0.01 s"


async def test_a_model_that_cannot_be_built_is_an_error(world: World) -> None:
    def build() -> HashedEmbeddings:
        raise ConfigurationError("EMBEDDING_MODEL cannot be used")

    search = FusedSearch(world.words, world.vectors, build, timeout=NEVER, clock=world.clock)
    with pytest.raises(ConfigurationError, match="EMBEDDING_MODEL"):
        await search.search("재고", tenant_id="t", agent_id="a", kind=None, limit=5)

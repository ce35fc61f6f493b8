"""The search in memory and in PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from core.models import SKILL_MD, Bundle, Kind, SkillSummary
from core.ports import Search, SkillStore
from core.postgres.queries import Pool, connection, transaction
from core.postgres.search import PostgresSearch, drop_document, index_document
from core.search.documents import SearchDocument
from core.skill_bundle import bundle_hash
from core.testing.contracts.search import KNOWN, SearchContract, SearchIndex, found, memory, skill
from core.testing.search import MemorySearch
from core.testing.skill_store import MemorySkillStore


class MemoryIndex:
    def __init__(self, search: MemorySearch) -> None:
        self._search = search

    async def put(self, document: SearchDocument) -> None:
        self._search.put(document)

    async def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        self._search.drop(tenant_id, kind, item_id)


class PostgresIndex:
    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def put(self, document: SearchDocument) -> None:
        async with transaction(self._pool) as conn:
            await index_document(conn, document)

    async def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        async with connection(self._pool) as conn:
            await drop_document(conn, tenant_id, kind, item_id)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 60
        return self.now


@pytest.fixture
def skills() -> SkillStore:
    return MemorySkillStore()


class TestMemory(SearchContract):
    @pytest.fixture
    def search(self, skills: SkillStore) -> Search:
        return MemorySearch(skills)

    @pytest.fixture
    def index(self, search: MemorySearch) -> SearchIndex:
        return MemoryIndex(search)


class TestPostgres(SearchContract):
    @pytest.fixture
    def search(self, pool: Pool, skills: SkillStore) -> Search:
        return PostgresSearch(pool, skills, refresh_seconds=30, clock=Clock())

    @pytest.fixture
    def index(self, pool: Pool) -> SearchIndex:
        return PostgresIndex(pool)

    @pytest.mark.usefixtures("known")
    @pytest.mark.parametrize("query", ["환불 승인", "manager approvals of KRW 금액"])
    async def test_scores_are_those_of_the_ranking_in_memory(
        self, search: Search, query: str
    ) -> None:
        twin = MemorySearch()
        for item_id, content in KNOWN.items():
            twin.put(memory(item_id, content))
        ours, theirs = await found(search, query), await found(twin, query)
        assert {(hit.id, hit.score) for hit in ours} == {(hit.id, hit.score) for hit in theirs}

    async def test_a_document_is_seen_by_all_at_commit_and_by_none_before(
        self, pool: Pool, search: Search
    ) -> None:
        async with transaction(pool) as conn:
            await index_document(conn, memory("m", "환불 규정"))
            assert await found(search, "환불") == []
        assert [hit.id for hit in await found(search, "환불")] == ["m"]

    async def test_what_is_rolled_back_is_never_found(self, pool: Pool, search: Search) -> None:
        async with transaction(pool) as conn, conn.transaction(force_rollback=True):
            await index_document(conn, memory("m", "환불 규정"))
        assert await found(search, "환불") == []


class CountingStore(MemorySkillStore):
    def __init__(self) -> None:
        super().__init__()
        self.lists = self.reads = 0

    async def list(self, tenant_id: str) -> Sequence[SkillSummary]:
        self.lists += 1
        return await super().list(tenant_id)

    async def read(self, name: str, tenant_id: str) -> Bundle | None:
        self.reads += 1
        return await super().read(name, tenant_id)


def frozen(seconds: list[float]) -> Callable[[], float]:
    return lambda: seconds[0]


async def test_a_tenant_is_looked_through_once_in_a_while_and_unchanged_skills_are_not_read(
    pool: Pool,
) -> None:
    store, now = CountingStore(), [0.0]
    search = PostgresSearch(pool, store, refresh_seconds=30, clock=frozen(now))
    await store.upload(skill("reconcile", "부분 환불"), "t")
    await search.refresh("t")
    await search.refresh("t")
    assert (store.lists, store.reads) == (1, 1)
    now[0] = 30.0
    await search.refresh("t")
    await search.refresh("u")
    assert (store.lists, store.reads) == (3, 1)


async def test_a_skill_indexed_by_its_own_commit_is_not_read_again(pool: Pool) -> None:
    store, now = CountingStore(), [0.0]
    search = PostgresSearch(pool, store, refresh_seconds=0, clock=frozen(now))
    bundle = skill("reconcile", "부분 환불")
    await store.upload(bundle, "t")
    own = memory("reconcile", "부분 환불 절차", agent_id=None)
    await PostgresIndex(pool).put(own.model_copy(update={"kind": Kind.SKILL}))
    await search.refresh("t")
    assert store.reads == 0
    changed = skill("reconcile", "교환").files[SKILL_MD]
    await store.put_file("reconcile", SKILL_MD, changed, "t", base_hash=bundle_hash(bundle))
    await search.refresh("t")
    assert [hit.id for hit in await found(search, "교환")] == ["reconcile"]

"""The search in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.queries import Pool, connection, transaction
from core.adapters.postgres.search import PostgresSearch, SkillFollower, index_document
from core.domain.models import Kind
from core.domain.ports import Search, SkillStore
from core.knowledge.search.documents import SearchDocument
from tests.contracts.suites.search import SearchContract
from tests.contracts.suites.search_items import KNOWN, PartlyUnreadable, SearchIndex, found, memory
from tests.support.memory_search import MemorySearch
from tests.support.search_index import PostgresIndex

# Two ids with the same hashtext in PostgreSQL.
ONE_HASH = ("agent-957", "agent-286655")


class MemoryIndex:
    def __init__(self, search: MemorySearch) -> None:
        self._search = search

    async def put(self, document: SearchDocument) -> None:
        self._search.put(document)

    async def drop(self, tenant_id: str, kind: Kind, item_id: str) -> None:
        self._search.drop(tenant_id, kind, item_id)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 60
        return self.now


@pytest.fixture
def skills() -> SkillStore:
    return PartlyUnreadable()


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
        return PostgresSearch(pool, SkillFollower(pool, skills, every=30, clock=Clock()))

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

    async def test_agents_whose_hashes_are_one_do_not_see_each_other(
        self, pool: Pool, search: Search, index: SearchIndex
    ) -> None:
        async with connection(pool) as conn:
            asked = "SELECT DISTINCT hashtext(a) FROM unnest(%s::text[]) a"
            rows = await conn.execute(asked, ([*ONE_HASH],))
            assert rows.rowcount == 1
        for agent_id in ONE_HASH:
            await index.put(memory(agent_id, "환불 규정", agent_id=agent_id))
        for agent_id in ONE_HASH:
            assert [hit.id for hit in await found(search, "환불", agent_id=agent_id)] == [agent_id]

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

    async def test_the_mean_length_is_that_of_the_tenants_documents_at_once(
        self, pool: Pool, index: SearchIndex
    ) -> None:
        async def sizes() -> tuple[int, int]:
            async with connection(pool) as conn:
                rows = await conn.execute(
                    "SELECT coalesce(sum(documents), 0) AS documents,"
                    " coalesce(sum(length), 0) AS length, count(*) AS rows"
                    " FROM search_sizes WHERE tenant_id = 't'"
                )
                (row,) = await rows.fetchall()
                assert row["rows"] < 130
                return row["documents"], row["length"]

        await index.put(memory("other", "of another tenant", tenant_id="u"))
        assert await sizes() == (0, 0)
        for number in range(150):
            await index.put(memory(f"m{number}", "one two three"))
        await index.put(memory("m0", "one two three four five"))
        assert await sizes() == (150, 452)
        await index.drop("t", Kind.MEMORY, "m0")
        await index.drop("t", Kind.MEMORY, "m0")
        assert await sizes() == (149, 447)

    async def test_a_deleted_or_changed_item_leaves_no_posting(
        self, pool: Pool, index: SearchIndex
    ) -> None:
        await index.put(memory("m", "one two three"))
        await index.put(memory("m", "환불 규정"))
        async with connection(pool) as conn:
            rows = await conn.execute(
                "SELECT count(*) AS postings, (SELECT cardinality(keys) FROM search_documents)"
                " AS keys FROM search_postings"
            )
            (row,) = await rows.fetchall()
            assert row["postings"] == row["keys"] == 5
            await conn.execute("DELETE FROM search_documents")
            left = await (await conn.execute("SELECT FROM search_postings")).fetchall()
        assert left == []

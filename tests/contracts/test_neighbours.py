"""Two concurrent runs that add nearly the same, in memory and in PostgreSQL."""

from __future__ import annotations

import asyncio

import pytest

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.search import PostgresSearch
from core.domain.errors import Stale
from core.domain.ports import ChangeLog, Search
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from tests.contracts.suites.change_log import remembered
from tests.contracts.suites.neighbours import NEAR, TEXT, NeighboursContract
from tests.contracts.suites.rule_neighbours import RuleNeighboursContract
from tests.contracts.suites.skill_neighbours import SkillNeighboursContract
from tests.support.knowledge_search import KnowledgeSearch
from tests.support.postgres_stores import PostgresStores


class InMemory:
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def search(self, change_log: MemoryChangeLog) -> Search:
        return KnowledgeSearch(change_log.knowledge)


class InPostgres(PostgresStores):
    @pytest.fixture
    def search(self, pool: Pool) -> Search:
        return PostgresSearch(pool, None)


class TestNeighboursInMemory(InMemory, NeighboursContract):
    pass


class TestNeighboursInPostgres(InPostgres, NeighboursContract):
    async def test_one_that_is_not_committed_yet_is_waited_for(
        self, change_log: ChangeLog, search: Search
    ) -> None:
        seen = await self._mark(search)
        first, second = remembered("m1", TEXT, seen), remembered("m2", NEAR, seen)
        await change_log.open(first, {})
        async with change_log.unit_of_work(first) as unit:
            await unit.write_item(first)
            waiting = asyncio.create_task(self._write(change_log, second))
            assert await self._mark(search) == seen
            done, _ = await asyncio.wait([waiting], timeout=0.3)
            assert not done
        with pytest.raises(Stale, match="m1"):
            await waiting


class TestRuleNeighboursInMemory(InMemory, RuleNeighboursContract):
    pass


class TestRuleNeighboursInPostgres(InPostgres, RuleNeighboursContract):
    pass


class TestSkillNeighboursInMemory(InMemory, SkillNeighboursContract):
    pass


class TestSkillNeighboursInPostgres(InPostgres, SkillNeighboursContract):
    pass

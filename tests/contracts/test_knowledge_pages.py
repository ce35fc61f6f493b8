"""Knowledge in pages, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.knowledge import PostgresKnowledgePages
from core.adapters.postgres.queries import Pool
from core.domain.ports import KnowledgePages
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.knowledge_pages import KnowledgePagesContract
from core.testing.knowledge import MemoryKnowledge
from core.testing.knowledge_pages import MemoryKnowledgePages
from tests.support.postgres_stores import PostgresStores


class TestPagesInMemory(KnowledgePagesContract):
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def pages(self, change_log: MemoryChangeLog) -> KnowledgePages:
        return MemoryKnowledgePages(change_log.knowledge)


class TestPagesInPostgres(PostgresStores, KnowledgePagesContract):
    @pytest.fixture
    def pages(self, pool: Pool) -> KnowledgePages:
        return PostgresKnowledgePages(pool)

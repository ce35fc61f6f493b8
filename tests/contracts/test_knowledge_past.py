"""Knowledge over time, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.knowledge import PostgresKnowledge, PostgresKnowledgePast
from core.adapters.postgres.queries import Pool
from core.domain.ports import Knowledge, KnowledgePast
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.knowledge_past import KnowledgePastContract
from core.testing.knowledge import MemoryKnowledge
from core.testing.knowledge_past import MemoryKnowledgePast
from core.testing.skill_store import MemorySkillStore
from tests.support.postgres_stores import PostgresStores


class TestPastInMemory(KnowledgePastContract):
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def knowledge(self, change_log: MemoryChangeLog) -> Knowledge:
        return change_log.knowledge

    @pytest.fixture
    def past(self, change_log: MemoryChangeLog) -> KnowledgePast:
        return MemoryKnowledgePast(change_log.knowledge)


class TestPastInPostgres(PostgresStores, KnowledgePastContract):
    @pytest.fixture
    def knowledge(self, pool: Pool) -> Knowledge:
        return PostgresKnowledge(pool, MemorySkillStore())

    @pytest.fixture
    def past(self, pool: Pool) -> KnowledgePast:
        return PostgresKnowledgePast(pool)

"""Knowledge over time in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.knowledge import PostgresKnowledge, PostgresKnowledgePast
from core.adapters.postgres.queries import Pool
from core.domain.ports import Knowledge, KnowledgePast
from core.testing.skill_store import MemorySkillStore
from tests.contracts.suites.knowledge_past import KnowledgePastContract
from tests.support.postgres_stores import PostgresStores


class TestPast(PostgresStores, KnowledgePastContract):
    @pytest.fixture
    def knowledge(self, pool: Pool) -> Knowledge:
        return PostgresKnowledge(pool, MemorySkillStore())

    @pytest.fixture
    def past(self, pool: Pool) -> KnowledgePast:
        return PostgresKnowledgePast(pool)

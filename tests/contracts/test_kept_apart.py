"""Knowledge of tenants, kinds and agents in PostgreSQL, apart from each other."""

from __future__ import annotations

import pytest

from core.adapters.postgres.knowledge import (
    PostgresKnowledge,
    PostgresKnowledgePages,
    PostgresKnowledgePast,
)
from core.adapters.postgres.lineage import PostgresLineage
from core.adapters.postgres.queries import Pool
from core.domain.ports import Knowledge, KnowledgePages, KnowledgePast, Lineage
from core.testing.skill_store import MemorySkillStore
from tests.contracts.suites.kept_apart import KeptApartContract
from tests.support.postgres_stores import PostgresStores


class TestKeptApart(PostgresStores, KeptApartContract):
    @pytest.fixture
    def knowledge(self, pool: Pool) -> Knowledge:
        return PostgresKnowledge(pool, MemorySkillStore())

    @pytest.fixture
    def past(self, pool: Pool) -> KnowledgePast:
        return PostgresKnowledgePast(pool)

    @pytest.fixture
    def pages(self, pool: Pool) -> KnowledgePages:
        return PostgresKnowledgePages(pool)

    @pytest.fixture
    def lineage(self, pool: Pool) -> Lineage:
        return PostgresLineage(pool)

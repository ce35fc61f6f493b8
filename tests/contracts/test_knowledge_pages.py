"""Knowledge in pages in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.knowledge import PostgresKnowledgePages
from core.adapters.postgres.queries import Pool
from core.domain.ports import KnowledgePages
from tests.contracts.suites.knowledge_pages import KnowledgePagesContract
from tests.support.postgres_stores import PostgresStores


class TestPages(PostgresStores, KnowledgePagesContract):
    @pytest.fixture
    def pages(self, pool: Pool) -> KnowledgePages:
        return PostgresKnowledgePages(pool)

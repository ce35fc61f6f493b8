"""The provenance of knowledge, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.lineage import PostgresLineage
from core.adapters.postgres.queries import Pool
from core.domain.ports import Lineage
from core.testing.changes import MemoryChangeLog
from core.testing.contracts.lineage import LineageContract
from core.testing.knowledge import MemoryKnowledge
from core.testing.lineage import MemoryLineage
from tests.support.postgres_stores import PostgresStores


class TestLineageInMemory(LineageContract):
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def lineage(self, change_log: MemoryChangeLog) -> Lineage:
        return MemoryLineage(change_log)


class TestLineageInPostgres(PostgresStores, LineageContract):
    @pytest.fixture
    def lineage(self, pool: Pool) -> Lineage:
        return PostgresLineage(pool)

"""The provenance of knowledge in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.lineage import PostgresLineage
from core.adapters.postgres.queries import Pool
from core.domain.ports import Lineage
from tests.contracts.suites.lineage import LineageContract
from tests.support.postgres_stores import PostgresStores


class TestLineage(PostgresStores, LineageContract):
    @pytest.fixture
    def lineage(self, pool: Pool) -> Lineage:
        return PostgresLineage(pool)

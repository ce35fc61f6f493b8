"""The vectors in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.vectors import PostgresVectors
from core.domain.ports import Vectors
from tests.contracts.suites.search import SearchIndex
from tests.contracts.suites.vectors import VectorsContract
from tests.support.search_index import PostgresIndex


class TestPostgres(VectorsContract):
    @pytest.fixture
    def vectors(self, vector_pool: Pool) -> Vectors:
        return PostgresVectors(vector_pool, "openai:m")

    @pytest.fixture
    def index(self, vector_pool: Pool) -> SearchIndex:
        return PostgresIndex(vector_pool)

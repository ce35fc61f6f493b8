"""Retention in PostgreSQL."""

from __future__ import annotations

import pytest
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from core.adapters.postgres.queries import Pool
from core.adapters.postgres.runs import PostgresRetention
from core.domain.ports import Retention
from tests.contracts.suites.retention import RetentionContract, Saver
from tests.support.postgres_stores import PostgresStores


class TestRetention(PostgresStores, RetentionContract):
    @pytest.fixture
    async def saver(self, pool: Pool) -> Saver:
        return AsyncPostgresSaver(pool)  # the one that stores the writes of every task

    @pytest.fixture
    def retention(self, pool: Pool) -> Retention:
        return PostgresRetention(pool)

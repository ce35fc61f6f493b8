"""Held changes, in memory and in PostgreSQL."""

from __future__ import annotations

import pytest

from core.adapters.postgres.agents import PostgresAgents
from core.adapters.postgres.change_log import PostgresChangeLog
from core.adapters.postgres.queries import Pool
from core.domain.models import Agent
from core.domain.ports import ChangeLog, Reviews
from core.testing.changes import MemoryChangeLog
from core.testing.knowledge import MemoryKnowledge
from core.testing.reviews import MemoryReviews
from tests.contracts.suites.reviews import ReviewsContract
from tests.support.postgres_stores import PostgresStores


class TestReviewsInMemory(ReviewsContract):
    @pytest.fixture
    def change_log(self) -> MemoryChangeLog:
        return MemoryChangeLog(MemoryKnowledge())

    @pytest.fixture
    def reviews(self, change_log: MemoryChangeLog) -> Reviews:
        return MemoryReviews(change_log)


class TestReviewsInPostgres(PostgresStores, ReviewsContract):
    @pytest.fixture
    async def change_log(self, pool: Pool) -> ChangeLog:
        await PostgresAgents(pool).save(Agent(id="a", tenant_id="t", name="A"))
        return PostgresChangeLog(pool)
